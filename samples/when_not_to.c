/* when_not_to [WIDTH]: from which size of frame on the GPU finds edges sooner than the CPU, on this machine.
 *
 * One Sobel frame from ordinary memory to ordinary memory. To the GPU it has to travel, and back, and ordinary memory is copied
 * once more into memory that the bus can reach; a launch costs microseconds however small the frame is. The CPU begins at once,
 * with the frame perhaps in its cache. So small jobs belong to the CPU, and where the GPU begins to pay depends on the machine:
 * its bus, and how many cores are free. (A video is another matter: with several frames in flight the travelling overlaps with
 * the work, decoded frames lie in pinned memory already, and a decoder on the same GPU saves the upload altogether.)
 *
 * On the library's public interface, through ec_edge_run. All bytes are compared with a few lines of C here. The roof is memcpy
 * of as many bytes on one core; WIDTH (8192) bounds the frames tried, at 16:9. */
#include <edgecam/edgecam.h>
#include <math.h>

#include "sample.h"

enum { TIMES = 15, GPU = 2, BACKENDS };

static const char *const names[BACKENDS] = {"one CPU core", "the whole CPU", "the GPU"};

struct machine {
    struct ec_edge *edges[BACKENDS]; /* as in `names`; NULL: there is none */
    unsigned char *in, *out, *want;
    struct sample_table table;
};

static int clamp_index(int i, int n) /* reflect-101 for a distance of one */
{
    return n == 1 ? 0 : i < 0 ? 1 : i < n ? i : n - 2;
}

static void reference(const struct machine *m, int width, int height)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int gx = 0, gy = 0;
            for (int d = -1; d <= 1; d++) {
                const unsigned char *row = m->in + (size_t)clamp_index(y + d, height) * width;
                const int left = row[clamp_index(x - 1, width)], right = row[clamp_index(x + 1, width)];
                gx += (d ? 1 : 2) * (right - left);
                gy += d * (left + 2 * row[x] + right);
            }
            const double length = rint(sqrt((double)(gx * gx + gy * gy)));
            m->want[(size_t)y * width + x] = (unsigned char)(length > 255 ? 255 : length);
        }
}

/* Median seconds of one frame on a backend. */
static double frame_s(struct machine *m, int backend, int width, int height)
{
    struct ec_image in = {.data = m->in, .width_px = width, .height_px = height, .pitch_bytes = width, .depth_bits = 8};
    struct ec_image out = in;
    double s[TIMES];
    out.data = m->out;
    for (int i = -3; i < TIMES; i++) {
        const double start = sample_now_s();
        if (ec_edge_run(m->edges[backend], &in, &out) != EC_OK) {
            fprintf(stderr, "when_not_to: a frame of %d x %d failed\n", width, height);
            exit(EXIT_FAILURE);
        }
        if (i >= 0)
            s[i] = sample_now_s() - start;
    }
    qsort(s, TIMES, sizeof s[0], sample_compare_doubles);
    return s[TIMES / 2];
}

static double memcpy_s(struct machine *m, size_t bytes)
{
    double s[TIMES];
    for (int i = 0; i < TIMES; i++) {
        const double start = sample_now_s();
        for (int k = 0; k < 8; k++) {
            m->in[0] = (unsigned char)k;
            memcpy(m->out, m->in, bytes);
        }
        s[i] = (sample_now_s() - start) / 8;
    }
    qsort(s, TIMES, sizeof s[0], sample_compare_doubles);
    return s[TIMES / 2] > 0 ? s[TIMES / 2] : 1e-9;
}

/* Rows of one size, each relative to the first. */
static void measure(struct machine *m, int width, double *s)
{
    const int height = width * 9 / 16;
    const size_t bytes = (size_t)width * (size_t)height;
    m->table.roof = 2.0 * (double)bytes / memcpy_s(m, bytes) * 1e-9;
    m->table.first_s = 0;
    reference(m, width, height);
    for (int b = 0; b < BACKENDS; b++) {
        char name[48];
        if (!m->edges[b])
            continue;
        memset(m->out, 0x55, bytes);
        s[b] = frame_s(m, b, width, height);
        snprintf(name, sizeof name, "%d x %d, %s", width, height, names[b]);
        sample_row(&m->table, name, s[b], 2.0 * (double)bytes, memcmp(m->out, m->want, bytes) == 0, "%.1f GB/s", m->table.roof);
    }
}

/* Halves the gap between a width where a CPU backend wins and one where the GPU does. */
static int break_even(struct machine *m, int cpu, int below, int above)
{
    while (above - below > 32 && above - below > below / 16) {
        const int middle = (below + above) / 2;
        if (frame_s(m, GPU, middle, middle * 9 / 16) < frame_s(m, cpu, middle, middle * 9 / 16))
            above = middle;
        else
            below = middle;
    }
    return above;
}

/* `below`: the last width of the table where the CPU won, `above`: the first after it where the GPU did; 0: none. */
static void answer(struct machine *m, int cpu, int below, int above, int widest)
{
    if (!m->edges[GPU])
        printf("No GPU can be used here: %s, at any size.\n", names[cpu]);
    else if (!above)
        printf("On this machine %s is faster than the GPU up to %d x %d, the largest tried.\n", names[cpu], widest,
               widest * 9 / 16);
    else {
        if (below)
            above = break_even(m, cpu, below, above);
        printf("On this machine the GPU is faster than %s from %s%d x %d on.\n", names[cpu], below ? "about " : "", above,
               above * 9 / 16);
    }
}

int main(int argc, char **argv)
{
    static const struct ec_edge_params sobel = {0};
    static const struct ec_device_params devices[BACKENDS] = {{.backend = EC_BACKEND_CPU, .threads = 1},
                                                              {.backend = EC_BACKEND_CPU},
                                                              {.backend = EC_BACKEND_CUDA, .low_latency = true}};
    struct machine m = {0};
    const int widest = (int)sample_number(argc, argv, 1, 8192, 64, 16384);
    const size_t bytes = (size_t)widest * (size_t)(widest * 9 / 16);
    int below[BACKENDS] = {0}, above[BACKENDS] = {0}, largest = 0;
    uint32_t state = 1;
    for (int b = 0; b < BACKENDS; b++)
        if (ec_edge_open(&m.edges[b], &sobel, &devices[b]) != EC_OK && b != GPU) {
            fprintf(stderr, "when_not_to: %s cannot be used\n", names[b]);
            return EXIT_FAILURE;
        }
    m.in = sample_allocate(bytes);
    m.out = sample_allocate(bytes);
    m.want = sample_allocate(bytes);
    for (size_t i = 0; i < bytes; i++)
        m.in[i] = (unsigned char)(sample_random(&state) >> 16);
    sample_begin(&m.table, "One Sobel frame, transfers included", "GB/s", "", 0, "memcpy, the roof");
    for (int width = 64; width <= widest; width *= 2) {
        double s[BACKENDS] = {0};
        measure(&m, width, s);
        largest = width;
        for (int cpu = 0; m.edges[GPU] && cpu < GPU; cpu++) {
            if (s[GPU] >= s[cpu]) {
                below[cpu] = width;
                above[cpu] = 0;
            } else if (!above[cpu]) {
                above[cpu] = width;
            }
        }
    }
    printf("\n");
    for (int cpu = 0; cpu < GPU; cpu++)
        answer(&m, cpu, below[cpu], above[cpu], largest);
    for (int b = 0; b < BACKENDS; b++)
        ec_edge_close(&m.edges[b]);
    free(m.in);
    free(m.out);
    free(m.want);
    return sample_end(&m.table);
}
