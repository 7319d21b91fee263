/* 2x2 and 3x3 operators in plain integers: a thread owns 8 columns and slides down ROWS rows with the last three in registers.
 */
#include "launch.cuh"
#include "pixel.cuh"

namespace
{

using namespace ec;

constexpr int COLUMNS = 8, ROWS = 8, BLOCK_X = 32, BLOCK_Y = 4;

enum class Operator { GRADIENT_L1, GRADIENT_L2, ROBERTS_L1, ROBERTS_L2, KIRSCH, ROBINSON, LAPLACIAN };

/* Columns x - 1 to x + COLUMNS of one row. */
struct Row {
    int32_t v[COLUMNS + 2];
};

EC_DEVICE void load_vector(const uint8_t *p, int32_t *v)
{
    const uint2 q = *(const uint2 *)p;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        v[i] = q.x >> (8 * i) & 255;
        v[4 + i] = q.y >> (8 * i) & 255;
    }
}

EC_DEVICE void load_vector(const uint16_t *p, int32_t *v)
{
    const uint4 q = *(const uint4 *)p;
    const uint32_t word[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        v[2 * i] = word[i] & 65535;
        v[2 * i + 1] = word[i] >> 16;
    }
}

template <class Pixel>
EC_DEVICE void load_row(Row *row, const ec_gpu_source &in, int32_t x, int32_t y)
{
    const int32_t source_y = ec_border_index(y, in.height_px, in.border);
    if (source_y >= 0 && in.vector && x > 0 && x + COLUMNS < in.width_px) {
        const Pixel *p = source_row<Pixel>(in, source_y) + x;
        row->v[0] = p[-1];
        load_vector(p, row->v + 1);
        row->v[COLUMNS + 1] = p[COLUMNS];
    } else {
#pragma unroll
        for (int i = 0; i < COLUMNS + 2; i++)
            row->v[i] = x + i - 1 <= in.width_px ? stored_value<Pixel>(in, x + i - 1, y) : 0;
    }
    if (in.expand || in.max != (Pixel)~0)
#pragma unroll
        for (int i = 0; i < COLUMNS + 2; i++)
            row->v[i] = map_value(in, row->v[i]);
}

template <Operator OP>
EC_DEVICE int32_t magnitude(int32_t gx, int32_t gy, int32_t saturation)
{
    if (OP == Operator::GRADIENT_L1 || OP == Operator::ROBERTS_L1)
        return ec_abs_i32(gx) + ec_abs_i32(gy);
    return magnitude_l2(gx, gy, saturation);
}

/* The response at column i of three neighbouring rows. `outer` and `inner` are the gradient's smoothing taps (a, b, a). */
template <Operator OP>
EC_DEVICE int32_t respond(const Row &up, const Row &centre, const Row &down, int i, int32_t outer, int32_t inner,
                          int32_t saturation)
{
    const int32_t *u = up.v + i, *c = centre.v + i, *d = down.v + i;
    if (OP == Operator::GRADIENT_L1 || OP == Operator::GRADIENT_L2) {
        const int32_t gx = outer * (u[2] - u[0] + d[2] - d[0]) + inner * (c[2] - c[0]);
        const int32_t gy = outer * (d[0] + d[2] - u[0] - u[2]) + inner * (d[1] - u[1]);
        return magnitude<OP>(gx, gy, saturation);
    }
    if (OP == Operator::ROBERTS_L1 || OP == Operator::ROBERTS_L2) {
        int32_t gx, gy;
        ec_roberts(c[1], c[2], d[1], d[2], &gx, &gy);
        return magnitude<OP>(gx, gy, saturation);
    }
    if (OP == Operator::LAPLACIAN)
        return ec_laplacian(u[1], c[0], c[1], c[2], d[1]);
    const int32_t ring[8] = {u[0], u[1], u[2], c[2], d[2], d[1], d[0], c[0]};
    return OP == Operator::KIRSCH ? ec_kirsch(ring) : ec_robinson(ring);
}

template <class Pixel, Operator OP>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    neighbours_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out, int32_t outer,
                      int32_t inner)
{
    const int32_t x = (blockIdx.x * BLOCK_X + threadIdx.x) * COLUMNS, y = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    if (x >= in.width_px || y >= in.height_px)
        return;
    Row rows[3];
    load_row<Pixel>(&rows[0], in, x, y - 1);
    load_row<Pixel>(&rows[1], in, x, y);
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        if (y + j >= in.height_px)
            return;
        load_row<Pixel>(&rows[(j + 2) % 3], in, x, y + j + 1);
        uint32_t v[COLUMNS];
#pragma unroll
        for (int i = 0; i < COLUMNS; i++)
            v[i] = ec_finish(respond<OP>(rows[j % 3], rows[(j + 1) % 3], rows[(j + 2) % 3], i, outer, inner, out.saturation),
                             &out.finish);
        store_values<COLUMNS>(out, in.width_px, x, y + j, v);
    }
}

template <class Pixel>
auto choose(const ec_plan *plan) -> void (*)(ec_gpu_source, ec_gpu_target, int32_t, int32_t)
{
    const bool l1 = plan->norm == EC_NORM_L1;
    switch (plan->op) {
    case EC_OPERATOR_ROBERTS:
        return l1 ? neighbours_kernel<Pixel, Operator::ROBERTS_L1> : neighbours_kernel<Pixel, Operator::ROBERTS_L2>;
    case EC_OPERATOR_KIRSCH:
        return neighbours_kernel<Pixel, Operator::KIRSCH>;
    case EC_OPERATOR_ROBINSON:
        return neighbours_kernel<Pixel, Operator::ROBINSON>;
    case EC_OPERATOR_LAPLACIAN:
    case EC_OPERATOR_LOG:
        return neighbours_kernel<Pixel, Operator::LAPLACIAN>;
    default:
        return l1 ? neighbours_kernel<Pixel, Operator::GRADIENT_L1> : neighbours_kernel<Pixel, Operator::GRADIENT_L2>;
    }
}

} // namespace

enum ec_status ec_neighbours(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    const ec_plan *plan = queue->plan;
    const dim3 grid(ceil_div(in->width_px, BLOCK_X * COLUMNS), ceil_div(in->height_px, BLOCK_Y * ROWS));
    return launch(queue, "neighbours_kernel", plan->depth_bits == 8 ? choose<uint8_t>(plan) : choose<uint16_t>(plan), grid,
                  dim3(BLOCK_X, BLOCK_Y), *in, *out, plan->gradient.smooth[0], plan->gradient.smooth[1]);
}
