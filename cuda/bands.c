#include "bands.h"

#include "check.h"

/* Rows that the result of one row reaches up or down, -1 without bound. */
static int32_t reach_of(const struct ec_plan *plan)
{
    switch (plan->op) {
    case EC_OPERATOR_SOBEL:
    case EC_OPERATOR_SCHARR:
    case EC_OPERATOR_PREWITT:
    case EC_OPERATOR_ROBERTS:
    case EC_OPERATOR_KIRSCH:
    case EC_OPERATOR_ROBINSON:
    case EC_OPERATOR_LAPLACIAN:
    case EC_OPERATOR_LOG:
    case EC_OPERATOR_DOG:
    case EC_OPERATOR_CONVOLUTION:
        return plan->window_size + plan->blur.size / 2 + plan->blur_wide.size / 2;
    default:
        return -1;
    }
}

void ec_band_plan_make(struct ec_band_plan *b, const struct ec_plan *plan, int32_t height_px, int64_t out_pitch_bytes)
{
    const int32_t reach = reach_of(plan);
    int32_t count = EC_BANDS_MAX;
    while (count > 1 && (reach < 0 || height_px / count < 8 * reach || height_px / count < 64))
        count--;
    *b = (struct ec_band_plan){.count = count};
    for (int32_t i = 0; i < count; i++) {
        struct ec_band *band = &b->bands[i];
        const int32_t halo = count > 1 ? reach : 0;
        band->first = (int32_t)((int64_t)height_px * i / count);
        const int32_t end = (int32_t)((int64_t)height_px * (i + 1) / count);
        band->rows = end - band->first;
        band->top = band->first > halo ? band->first - halo : 0;
        const int32_t bottom = end < height_px - halo ? end + halo : height_px;
        band->height = bottom - band->top;
        band->out_offset = (int64_t)b->out_bytes;
        b->out_bytes += (size_t)(out_pitch_bytes * band->height);
    }
}

bool ec_band_marks_open(struct ec_band_marks *marks, int32_t count, struct ec_error *error)
{
    for (int32_t i = 0; i < count; i++)
        if (!EC_CUDA(error, cudaEventCreateWithFlags(&marks->uploaded[i], cudaEventDisableTiming)) ||
            !EC_CUDA(error, cudaEventCreateWithFlags(&marks->computed[i], cudaEventDisableTiming)) ||
            !EC_CUDA(error, cudaEventCreateWithFlags(&marks->started[i], cudaEventDefault)) ||
            !EC_CUDA(error, cudaEventCreateWithFlags(&marks->ended[i], cudaEventDefault)))
            return false;
    return true;
}

void ec_band_marks_close(struct ec_band_marks *marks)
{
    for (int i = 0; i < EC_BANDS_MAX; i++) {
        const cudaEvent_t events[] = {marks->uploaded[i], marks->computed[i], marks->started[i], marks->ended[i]};
        for (int k = 0; k < 4; k++)
            if (events[k])
                (void)EC_CUDA(NULL, cudaEventDestroy(events[k]));
    }
    *marks = (struct ec_band_marks){0};
}
