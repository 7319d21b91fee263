/* A stand-in for libnvidia-encode.so.1, as far as FFmpeg's H.264 encoder uses it: device memory is host memory, and the stream
 * is that of pcm_stream.h. Its pictures are read as late as may be, when their stream is fetched: a frame that was given up or
 * written too early shows. Every second picture asks for another one first.
 *
 * In the environment: SHIM_NVENC_FAIL, a kind of call (session, init, register, map, encode, lock) and a number: that call of
 * its kind fails, from 0 (-1: each), and SHIM_NVENC_LOG, a file that gets a line for each encoder that began: width, height,
 * pictures from device memory, pictures from its own buffers, things that were not given back. */
#include <ffnvcodec/nvEncodeAPI.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pcm_stream.h"

/* A picture's memory: a frame of the device that was registered, or a buffer of the encoder's own. */
struct input {
    uint8_t *memory;
    unsigned pitch, height;
    NV_ENC_BUFFER_FORMAT format;
    bool own, usable; /* usable: mapped, or its own and not locked */
};

struct output {
    const struct input *picture;
    uint64_t time;
    bool ready;
    uint8_t *bytes; /* while it is locked */
};

struct encoder {
    struct pcm_stream stream;
    bool began, repeats_header;
    long given; /* things that have to be given back */
    unsigned pictures, from_device, from_own, waiting;
    struct output *queue[2]; /* `waiting` of them */
};

static bool leaks;

static void __attribute__((destructor)) check_leaks(void)
{
    if (!leaks)
        return;
    fprintf(stderr, "the stand-in encoder did not get everything back\n");
    _exit(99);
}

/* Whether this call of a kind is one that was to fail; `calls` counts them. */
static bool fails(const char *kind, int *calls)
{
    char name[16] = "";
    int at = -1;
    const char *setting = getenv("SHIM_NVENC_FAIL");
    if (setting && sscanf(setting, "%15s %d", name, &at) == 2 && strcmp(name, kind) == 0)
        return at < 0 || (*calls)++ == at;
    return false;
}

static NVENCSTATUS open_session(NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS *params, void **encoder)
{
    static int calls;
    if (params->version != NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS_VER || params->deviceType != NV_ENC_DEVICE_TYPE_CUDA ||
        !params->device)
        return NV_ENC_ERR_INVALID_PARAM;
    if (fails("session", &calls))
        return NV_ENC_ERR_OUT_OF_MEMORY;
    *encoder = calloc(1, sizeof(struct encoder));
    return *encoder ? NV_ENC_SUCCESS : NV_ENC_ERR_OUT_OF_MEMORY;
}

static NVENCSTATUS destroy_encoder(void *encoder)
{
    struct encoder *e = encoder;
    const char *log = getenv("SHIM_NVENC_LOG");
    FILE *file = log && e->began ? fopen(log, "a") : NULL;
    if (file) {
        fprintf(file, "%u %u %u %u %ld\n", e->stream.width, e->stream.height, e->from_device, e->from_own, e->given);
        fclose(file);
    }
    leaks |= e->given != 0;
    free(e);
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS count_codecs(void *encoder, uint32_t *count)
{
    (void)encoder;
    *count = 1;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS list_codecs(void *encoder, GUID *list, uint32_t size, uint32_t *count)
{
    (void)encoder, (void)size;
    list[0] = NV_ENC_CODEC_H264_GUID;
    *count = 1;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS tell_capability(void *encoder, GUID codec, NV_ENC_CAPS_PARAM *question, int *value)
{
    (void)encoder, (void)codec;
    const bool size = question->capsToQuery == NV_ENC_CAPS_WIDTH_MAX || question->capsToQuery == NV_ENC_CAPS_HEIGHT_MAX;
    *value = size ? 4096 : 1;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS tell_preset(void *encoder, GUID codec, GUID preset, NV_ENC_TUNING_INFO tuning, NV_ENC_PRESET_CONFIG *config)
{
    (void)encoder, (void)codec, (void)preset, (void)tuning;
    config->presetCfg.gopLength = 1;
    config->presetCfg.frameIntervalP = 1;
    config->presetCfg.rcParams.version = NV_ENC_RC_PARAMS_VER;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS initialize(void *encoder, NV_ENC_INITIALIZE_PARAMS *params)
{
    static int calls;
    struct encoder *e = encoder;
    const NV_ENC_CONFIG_H264 *h264 = &params->encodeConfig->encodeCodecConfig.h264Config;
    const NV_ENC_CONFIG_H264_VUI_PARAMETERS *colours = &h264->h264VUIParameters;
    if (params->encodeWidth % 2 || params->encodeHeight % 2 || fails("init", &calls))
        return NV_ENC_ERR_INVALID_PARAM;
    e->stream = (struct pcm_stream){params->encodeWidth,
                                    params->encodeHeight,
                                    colours->videoFullRangeFlag,
                                    colours->colourPrimaries,
                                    colours->transferCharacteristics,
                                    colours->colourMatrix};
    e->repeats_header = h264->repeatSPSPPS;
    e->began = true;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS set_streams(void *encoder, NV_ENC_CUSTREAM_PTR in, NV_ENC_CUSTREAM_PTR out)
{
    (void)encoder;
    return in && out ? NV_ENC_SUCCESS : NV_ENC_ERR_INVALID_PTR;
}

static NVENCSTATUS write_parameters(void *encoder, NV_ENC_SEQUENCE_PARAM_PAYLOAD *payload)
{
    const struct encoder *e = encoder;
    if (payload->inBufferSize < PCM_HEADER_BYTES)
        return NV_ENC_ERR_NOT_ENOUGH_BUFFER;
    *payload->outSPSPPSPayloadSize = (uint32_t)pcm_write_header(&e->stream, payload->spsppsBuffer);
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS register_frame(void *encoder, NV_ENC_REGISTER_RESOURCE *frame)
{
    static int calls;
    struct encoder *e = encoder;
    if (frame->resourceType != NV_ENC_INPUT_RESOURCE_TYPE_CUDADEVICEPTR || frame->bufferFormat != NV_ENC_BUFFER_FORMAT_NV12 ||
        frame->width != e->stream.width || frame->height != e->stream.height || frame->pitch < frame->width ||
        frame->pitch % 4 || fails("register", &calls))
        return NV_ENC_ERR_RESOURCE_REGISTER_FAILED;
    struct input *input = calloc(1, sizeof *input);
    if (!input)
        return NV_ENC_ERR_OUT_OF_MEMORY;
    *input = (struct input){frame->resourceToRegister, frame->pitch, frame->height, frame->bufferFormat, false, false};
    frame->registeredResource = input;
    e->given++;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS unregister_frame(void *encoder, NV_ENC_REGISTERED_PTR registered)
{
    const struct input *input = registered;
    if (input->usable)
        return NV_ENC_ERR_INVALID_CALL;
    free(registered);
    ((struct encoder *)encoder)->given--;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS map_frame(void *encoder, NV_ENC_MAP_INPUT_RESOURCE *map)
{
    static int calls;
    struct input *input = map->registeredResource;
    if (input->usable || fails("map", &calls))
        return NV_ENC_ERR_MAP_FAILED;
    input->usable = true;
    map->mappedResource = input;
    map->mappedBufferFmt = input->format;
    ((struct encoder *)encoder)->given++;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS unmap_frame(void *encoder, NV_ENC_INPUT_PTR mapped)
{
    struct input *input = mapped;
    if (!input->usable)
        return NV_ENC_ERR_RESOURCE_NOT_MAPPED;
    input->usable = false;
    ((struct encoder *)encoder)->given--;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS create_input(void *encoder, NV_ENC_CREATE_INPUT_BUFFER *buffer)
{
    if (buffer->bufferFmt != NV_ENC_BUFFER_FORMAT_NV12 && buffer->bufferFmt != NV_ENC_BUFFER_FORMAT_YV12)
        return NV_ENC_ERR_INVALID_PARAM;
    struct input *input = calloc(1, sizeof *input);
    const unsigned pitch = (buffer->width + 63) / 64 * 64;
    uint8_t *memory = input ? malloc((size_t)pitch * buffer->height * 3 / 2) : NULL;
    if (!memory) {
        free(input);
        return NV_ENC_ERR_OUT_OF_MEMORY;
    }
    *input = (struct input){memory, pitch, buffer->height, buffer->bufferFmt, true, true};
    buffer->inputBuffer = input;
    ((struct encoder *)encoder)->given++;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS destroy_input(void *encoder, NV_ENC_INPUT_PTR buffer)
{
    struct input *input = buffer;
    free(input->memory);
    free(input);
    ((struct encoder *)encoder)->given--;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS lock_input(void *encoder, NV_ENC_LOCK_INPUT_BUFFER *lock)
{
    struct input *input = lock->inputBuffer;
    (void)encoder;
    input->usable = false;
    lock->bufferDataPtr = input->memory;
    lock->pitch = input->pitch;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS unlock_input(void *encoder, NV_ENC_INPUT_PTR buffer)
{
    (void)encoder;
    ((struct input *)buffer)->usable = true;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS create_output(void *encoder, NV_ENC_CREATE_BITSTREAM_BUFFER *buffer)
{
    buffer->bitstreamBuffer = calloc(1, sizeof(struct output));
    ((struct encoder *)encoder)->given += buffer->bitstreamBuffer != NULL;
    return buffer->bitstreamBuffer ? NV_ENC_SUCCESS : NV_ENC_ERR_OUT_OF_MEMORY;
}

static NVENCSTATUS destroy_output(void *encoder, NV_ENC_OUTPUT_PTR buffer)
{
    free(buffer);
    ((struct encoder *)encoder)->given--;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS release_waiting(struct encoder *e)
{
    while (e->waiting > 0)
        e->queue[--e->waiting]->ready = true;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS encode_picture(void *encoder, NV_ENC_PIC_PARAMS *params)
{
    static int calls;
    struct encoder *e = encoder;
    if (params->encodePicFlags & NV_ENC_PIC_FLAG_EOS)
        return release_waiting(e);
    const struct input *input = params->inputBuffer;
    struct output *output = params->outputBitstream;
    if (!input->usable || fails("encode", &calls))
        return NV_ENC_ERR_GENERIC;
    *output = (struct output){.picture = input, .time = params->inputTimeStamp};
    e->queue[e->waiting++] = output;
    *(input->own ? &e->from_own : &e->from_device) += 1;
    return e->waiting == 2 ? release_waiting(e) : NV_ENC_ERR_NEED_MORE_INPUT;
}

static NVENCSTATUS write_stream(struct encoder *e, const struct input *input, uint8_t **out, size_t *bytes)
{
    const bool planar = input->format == NV_ENC_BUFFER_FORMAT_YV12;
    const uint8_t *chroma = input->memory + (size_t)input->pitch * input->height;
    const struct pcm_picture picture = {
        .luma = input->memory,
        .u = planar ? chroma + (size_t)input->pitch / 2 * (input->height / 2) : chroma,
        .v = planar ? chroma : chroma + 1,
        .pitch = input->pitch,
        .chroma_pitch = planar ? input->pitch / 2 : input->pitch,
        .chroma_step = planar ? 1 : 2,
    };
    uint8_t header[PCM_HEADER_BYTES];
    const size_t header_bytes = e->repeats_header ? pcm_write_header(&e->stream, header) : 0;
    uint8_t *body = pcm_write_picture(&e->stream, &picture, e->pictures++, bytes);
    *out = body ? malloc(header_bytes + *bytes) : NULL;
    if (*out) {
        memcpy(*out, header, header_bytes);
        memcpy(*out + header_bytes, body, *bytes);
        *bytes += header_bytes;
    }
    free(body);
    return *out ? NV_ENC_SUCCESS : NV_ENC_ERR_OUT_OF_MEMORY;
}

static NVENCSTATUS lock_output(void *encoder, NV_ENC_LOCK_BITSTREAM *lock)
{
    static int calls;
    struct output *output = lock->outputBitstream;
    size_t bytes = 0;
    if (!output->ready || !output->picture->usable || fails("lock", &calls))
        return NV_ENC_ERR_GENERIC;
    const NVENCSTATUS status = write_stream(encoder, output->picture, &output->bytes, &bytes);
    lock->bitstreamBufferPtr = output->bytes;
    lock->bitstreamSizeInBytes = (uint32_t)bytes;
    lock->outputTimeStamp = output->time;
    lock->pictureType = NV_ENC_PIC_TYPE_IDR;
    lock->frameAvgQP = 1;
    return status;
}

static NVENCSTATUS unlock_output(void *encoder, NV_ENC_OUTPUT_PTR buffer)
{
    struct output *output = buffer;
    (void)encoder;
    free(output->bytes);
    *output = (struct output){0};
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS reconfigure(void *encoder, NV_ENC_RECONFIGURE_PARAMS *params)
{
    (void)encoder, (void)params;
    return NV_ENC_ERR_UNIMPLEMENTED;
}

static const char *last_error(void *encoder)
{
    (void)encoder;
    return "words of the stand-in";
}

NVENCSTATUS NvEncodeAPIGetMaxSupportedVersion(uint32_t *version)
{
    *version = NVENCAPI_MAJOR_VERSION << 4 | NVENCAPI_MINOR_VERSION;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS NvEncodeAPICreateInstance(NV_ENCODE_API_FUNCTION_LIST *list)
{
    if (list->version != NV_ENCODE_API_FUNCTION_LIST_VER)
        return NV_ENC_ERR_INVALID_VERSION;
    list->nvEncOpenEncodeSessionEx = open_session;
    list->nvEncDestroyEncoder = destroy_encoder;
    list->nvEncGetEncodeGUIDCount = count_codecs;
    list->nvEncGetEncodeGUIDs = list_codecs;
    list->nvEncGetEncodeCaps = tell_capability;
    list->nvEncGetEncodePresetConfigEx = tell_preset;
    list->nvEncInitializeEncoder = initialize;
    list->nvEncSetIOCudaStreams = set_streams;
    list->nvEncGetSequenceParams = write_parameters;
    list->nvEncRegisterResource = register_frame;
    list->nvEncUnregisterResource = unregister_frame;
    list->nvEncMapInputResource = map_frame;
    list->nvEncUnmapInputResource = unmap_frame;
    list->nvEncCreateInputBuffer = create_input;
    list->nvEncDestroyInputBuffer = destroy_input;
    list->nvEncLockInputBuffer = lock_input;
    list->nvEncUnlockInputBuffer = unlock_input;
    list->nvEncCreateBitstreamBuffer = create_output;
    list->nvEncDestroyBitstreamBuffer = destroy_output;
    list->nvEncEncodePicture = encode_picture;
    list->nvEncLockBitstream = lock_output;
    list->nvEncUnlockBitstream = unlock_output;
    list->nvEncReconfigureEncoder = reconfigure;
    list->nvEncGetLastErrorString = last_error;
    return NV_ENC_SUCCESS;
}
