#include "nvdec.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const char group[] = "NVDEC";

/* The question and the answer of cuvidGetDecoderCaps; NVIDIA keeps its layout. */
struct decoder_caps {
    int32_t codec, chroma; /* in, and depth */
    uint32_t depth_minus_8;
    uint32_t reserved_in[3];
    uint8_t supported, units;
    uint16_t output_formats;
    uint32_t max_width_px, max_height_px, max_macroblocks;
    uint16_t min_width_px, min_height_px;
    uint8_t histogram, counter_bits;
    uint16_t histogram_bins;
    uint32_t reserved_out[10];
};
_Static_assert(sizeof(struct decoder_caps) == 88, "the driver's layout");

enum { CODEC_H264 = 4, CODEC_HEVC = 8, CODEC_VP9 = 10, CODEC_AV1 = 11, CHROMA_420 = 1 };

static const struct {
    const char *name;
    int codec, depth_bits;
} kinds[] = {
    {"H.264, 8 bit", CODEC_H264, 8},  {"H.264, 10 bit", CODEC_H264, 10}, {"HEVC, 8 bit", CODEC_HEVC, 8},
    {"HEVC, 10 bit", CODEC_HEVC, 10}, {"VP9, 8 bit", CODEC_VP9, 8},      {"AV1, 8 bit", CODEC_AV1, 8},
    {"AV1, 10 bit", CODEC_AV1, 10},
};

void ec_nvdec_examine(int gpu, const struct ec_examiner *examiner)
{
    int (*get_caps)(struct decoder_caps *) = NULL;
    void *library = dlopen("libnvcuvid.so.1", RTLD_NOW | RTLD_LOCAL);
    void *const address = library ? dlsym(library, "cuvidGetDecoderCaps") : NULL;
    memcpy(&get_caps, &address, sizeof get_caps); /* ISO C has no cast from an object to a function */
    if (!get_caps) {
        ec_finding(examiner, group, EC_VERDICT_NOTE,
                   "libnvcuvid.so.1 is not here, so video is decoded on the CPU: it comes with the driver (in a container: "
                   "NVIDIA_DRIVER_CAPABILITIES=video,compute,utility)");
    }
    for (size_t i = 0; get_caps && i < sizeof kinds / sizeof kinds[0]; i++) {
        struct decoder_caps caps = {
            .codec = kinds[i].codec, .chroma = CHROMA_420, .depth_minus_8 = (uint32_t)kinds[i].depth_bits - 8};
        const int failure = get_caps(&caps);
        if (failure)
            ec_finding(examiner, group, EC_VERDICT_NOTE, "GPU %d, %s: no answer from the driver (error %d)", gpu, kinds[i].name,
                       failure);
        else if (caps.supported)
            ec_finding(examiner, group, EC_VERDICT_OK, "GPU %d, %s 4:2:0: %ux%u to %ux%u, %u unit%s", gpu, kinds[i].name,
                       caps.min_width_px, caps.min_height_px, caps.max_width_px, caps.max_height_px, caps.units,
                       caps.units == 1 ? "" : "s");
        else
            ec_finding(examiner, group, EC_VERDICT_NOTE, "GPU %d, %s 4:2:0: not by this card, the CPU decodes it", gpu,
                       kinds[i].name);
    }
    if (library)
        dlclose(library);
}
