#include "pipeline/surfaces.h"

#include "pipeline/style.h"
#include "sink/codec.h"

/* The null sink, if there is one, looks at nothing. */
static bool are_only_encoded(const struct ec_pipeline_params *run)
{
    return run->output && !run->display && !run->hash && !ec_style_is_coloured(run->style.style) &&
           ec_codec_name_takes_surfaces(run->codec);
}

AVBufferRef *ec_surfaces_open(const struct ec_surfaces_params *p)
{
    const struct ec_stream_info *info = p->info;
    if (!p->backend->encode_surfaces || p->gpus > 1 || !are_only_encoded(p->run) || p->depth_bits != 8 ||
        info->width_px % 2 != 0 || info->height_px % 2 != 0)
        return NULL;
    struct ec_error why = {0};
    AVBufferRef *surfaces = p->backend->encode_surfaces(p->device, info->width_px, info->height_px, p->count, &why);
    if (!surfaces)
        ec_log(&p->run->logger, EC_LOG_VERBOSE, "%s: the results leave the GPU before they are encoded: %s", p->run->input,
               why.text);
    return surfaces;
}
