#include "canny.h"

#include "edge/stable_arith.h"

namespace
{

int32_t words_of(int32_t width_px)
{
    return (width_px + 63) / 64;
}

int64_t bitmap_bytes(int32_t width_px, int32_t height_px)
{
    return ec_gpu_pitch_bytes((int64_t)words_of(width_px) * height_px * (int64_t)sizeof(uint64_t));
}

int64_t choosing_bytes(const ec_plan *plan)
{
    return plan->automatic.kind == EC_AUTO_OFF ? 0 : ec_gpu_pitch_bytes(sizeof(ec_canny_choosing));
}

/* The state: that of automatic thresholds, kept edges, cells. */
int64_t auto_state_bytes(const ec_plan *plan)
{
    return plan->automatic.kind == EC_AUTO_OFF ? 0 : ec_gpu_pitch_bytes(sizeof(ec_auto_state));
}

} // namespace

size_t ec_canny_scratch_bytes(const ec_plan *plan, int32_t width_px, int32_t height_px)
{
    const size_t labels = (size_t)words_of(width_px) * (size_t)height_px * 32 + 1;
    return (size_t)(choosing_bytes(plan) + 2 * bitmap_bytes(width_px, height_px)) + labels * sizeof(uint32_t);
}

size_t ec_canny_state_bytes(const ec_plan *plan, int32_t width_px, int32_t height_px)
{
    const size_t sums = (size_t)((width_px + EC_STABLE_BLOCK - 1) / EC_STABLE_BLOCK) * EC_STABLE_RUNS;
    const size_t rows = (size_t)(height_px + EC_STABLE_ROW_STEP - 1) / EC_STABLE_ROW_STEP;
    const size_t chosen = (size_t)auto_state_bytes(plan);
    if (plan->stable_boost == 0)
        return chosen;
    return chosen + (size_t)bitmap_bytes(width_px, height_px) + sums * rows * sizeof(uint16_t);
}

enum ec_status ec_canny(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out, void *d_scratch)
{
    const int64_t bytes = bitmap_bytes(in->width_px, in->height_px);
    ec_canny_choosing *choosing = queue->plan->automatic.kind == EC_AUTO_OFF ? NULL : (ec_canny_choosing *)d_scratch;
    ec_canny_bits bits = {};
    bits.candidates = (uint64_t *)((char *)d_scratch + choosing_bytes(queue->plan));
    bits.edges = (uint64_t *)((char *)bits.candidates + bytes);
    bits.labels = (uint32_t *)((char *)bits.edges + bytes);
    bits.width_px = in->width_px;
    bits.height_px = in->height_px;
    bits.words = words_of(in->width_px);
    if (queue->plan->stable_boost) {
        bits.kept = (uint64_t *)((char *)queue->d_state + auto_state_bytes(queue->plan));
        bits.cells = (uint16_t *)((char *)bits.kept + bytes);
    }
    enum ec_status status = bits.kept ? ec_canny_still(queue, &bits) : EC_OK;
    if (status == EC_OK && choosing)
        status = ec_canny_choose(queue, in, choosing);
    if (status == EC_OK)
        status = ec_canny_maxima(queue, in, choosing ? &choosing->choice.thresholds : NULL, &bits);
    return status == EC_OK ? ec_canny_edges(queue, &bits, out) : status;
}
