/* streams [FRAMES [BYTES [TRACE]]]: upload, kernel and download of many frames, one after the other and overlapped. Without
 * arguments: 60 frames of 3840 x 2160 bytes. TRACE gets every interval as JSON for ui.perfetto.dev.
 *
 * A GPU has an engine for copies in each direction and one for kernels; they run at the same time only if nothing orders their
 * work. The kernel is made to take about as long as an upload, so three frames in flight could be three times as fast, if PCIe
 * carried both directions at full speed; the roof is what it does carry, measured with both at once.
 *
 *   pageable        the driver copies to a pinned buffer of its own first, and an "asynchronous" copy waits for that
 *   pinned          the engine reads host memory itself, and the call returns at once
 *   1 .. 4 streams  frame i goes through stream i % n; within a stream everything is in order, across streams nothing is
 *   double buffer   a stream for each engine and two buffers; events say "uploaded", "computed", "downloaded"
 *   default stream  the trap: work in the legacy default stream waits for all (blocking) streams, and they for it
 *   graph           the 3 streams captured once, launched with one call
 *
 * edgecam (cuda/engine.c, cuda/lane.c) decodes into pinned memory, keeps several frames in flight and uses non-blocking
 * streams.
 *
 * Checked: the bytes of every buffer against the CPU. The note is the share of busy time in which two or more engines run. */
#include "streams_job.cuh"

enum { ROUNDS_PROBE = 64 };

/* One frame after the other, the host waiting for each step. */
template <bool PINNED>
static void run_in_turn(struct job *j)
{
    for (int i = 0; i < j->frames; i++) {
        upload(j, i, 0, PINNED, 0);
        CUDA(cudaStreamSynchronize(0));
        compute(j, i, 0, 0);
        CUDA(cudaStreamSynchronize(0));
        download(j, i, 0, PINNED, 0);
        CUDA(cudaStreamSynchronize(0));
    }
}

template <int LANES, bool PINNED, bool DEFAULT_STREAM>
static void run_streams(struct job *j)
{
    for (int i = 0; i < j->frames; i++) {
        const cudaStream_t stream = j->streams[i % LANES];
        upload(j, i, i % LANES, PINNED, stream);
        compute(j, i, i % LANES, DEFAULT_STREAM ? 0 : stream);
        download(j, i, i % LANES, PINNED, stream);
    }
}

/* A buffer may be filled again when the kernel that reads it is done, written again when its download is. */
static void run_double_buffer(struct job *j)
{
    cudaStream_t up = j->streams[UPLOAD], kernels = j->streams[KERNEL], down = j->streams[DOWNLOAD];
    for (int i = 0; i < j->frames; i++) {
        const int b = i % 2;
        if (i >= 2)
            CUDA(cudaStreamWaitEvent(up, j->done[KERNEL][b], 0));
        upload(j, i, b, true, up);
        CUDA(cudaEventRecord(j->done[UPLOAD][b], up));
        CUDA(cudaStreamWaitEvent(kernels, j->done[UPLOAD][b], 0));
        if (i >= 2)
            CUDA(cudaStreamWaitEvent(kernels, j->done[DOWNLOAD][b], 0));
        compute(j, i, b, kernels);
        CUDA(cudaEventRecord(j->done[KERNEL][b], kernels));
        CUDA(cudaStreamWaitEvent(down, j->done[KERNEL][b], 0));
        download(j, i, b, true, down);
        CUDA(cudaEventRecord(j->done[DOWNLOAD][b], down));
    }
}

/* Streams join a capture by waiting for an event of it, and must be waited for at its end. */
static void capture_graph(struct job *j)
{
    cudaGraph_t graph;
    if (j->graph)
        CUDA(cudaGraphExecDestroy(j->graph));
    j->capturing = true;
    CUDA(cudaStreamBeginCapture(j->streams[0], cudaStreamCaptureModeThreadLocal));
    CUDA(cudaEventRecord(j->fork, j->streams[0]));
    for (int s = 1; s < 3; s++)
        CUDA(cudaStreamWaitEvent(j->streams[s], j->fork, 0));
    run_streams<3, true, false>(j);
    for (int s = 1; s < 3; s++) {
        CUDA(cudaEventRecord(j->done[0][s], j->streams[s]));
        CUDA(cudaStreamWaitEvent(j->streams[0], j->done[0][s], 0));
    }
    CUDA(cudaStreamEndCapture(j->streams[0], &graph));
    CUDA(cudaGraphInstantiateWithFlags(&j->graph, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    j->capturing = false;
}

static void run_graph(struct job *j)
{
    CUDA(cudaGraphLaunch(j->graph, j->streams[0]));
}

static double time_run(struct job *j, void (*run)(struct job *j))
{
    double s[5];
    for (double &one : s) {
        CUDA(cudaDeviceSynchronize());
        const double start = sample_now_s();
        run(j);
        CUDA(cudaDeviceSynchronize());
        one = sample_now_s() - start;
    }
    qsort(s, 5, sizeof s[0], sample_compare_doubles);
    return s[2];
}

static void row(struct job *j, struct sample_table *t, const char *name, bool pinned, void (*run)(struct job *j))
{
    const int used = j->frames < SLOTS ? j->frames : SLOTS;
    const size_t words = used * j->bytes / 4;
    const unsigned *in = (const unsigned *)j->h_in[pinned], *out = (const unsigned *)j->h_out[pinned];
    unsigned factor = 1, add = 0; /* all rounds at once: v * factor + add */
    bool passed = true;
    for (int k = 0; k < j->rounds; k++) {
        factor *= 1664525u;
        add = add * 1664525u + 1013904223u;
    }
    memset(j->h_out[pinned], 255, used * j->bytes);
    if (run == run_graph)
        capture_graph(j);
    const double s = time_run(j, run);
    for (size_t i = 0; i < words; i++)
        passed = passed && out[i] == in[i] * factor + add;
    j->marking = true;
    if (run == run_graph)
        capture_graph(j);
    CUDA(cudaEventRecord(j->base, 0));
    run(j);
    CUDA(cudaDeviceSynchronize());
    j->marking = false;
    sample_row(t, name, s / j->frames, 2.0 * j->bytes, passed, "%.0f %%", overlap(j, name));
}

/* As many rounds as make a kernel as long as an upload. */
static void choose_rounds(struct job *j)
{
    const double up = sample_time([=] { upload(j, 0, 0, true, 0); });
    j->rounds = ROUNDS_PROBE;
    const double once = sample_time([=] { compute(j, 0, 0, 0); });
    j->rounds *= 9;
    const double per_round = (sample_time([=] { compute(j, 0, 0, 0); }) - once) / (ROUNDS_PROBE * 8);
    const double rounds = per_round > 0 ? ROUNDS_PROBE + (up - once) / per_round : 1;
    j->rounds = rounds < 1 ? 1 : rounds > 100000 ? 100000 : (int)rounds;
    printf("upload %.0f us, kernel of %d rounds %.0f us\n", up * 1e6, j->rounds,
           1e6 * sample_time([=] { compute(j, 0, 0, 0); }));
}

static void run_copies(struct job *j)
{
    for (int i = 0; i < j->frames; i++) {
        upload(j, i, 0, true, j->streams[0]);
        download(j, i, 1, true, j->streams[1]);
    }
}

int main(int argc, char **argv)
{
    struct job j = {};
    struct sample_table t = {};
    j.frames = (int)sample_number(argc, argv, 1, 60, 1, 100000);
    j.bytes = (size_t)sample_number(argc, argv, 2, 3840 * 2160, 4, 256 << 20) / 4 * 4;
    sample_open_gpu("streams");
    open_job(&j);
    if (argc > 3 && !(j.trace = fopen(argv[3], "w"))) {
        fprintf(stderr, "streams: '%s' cannot be written\n", argv[3]);
        return EXIT_FAILURE;
    }
    if (j.trace)
        timeline_open(j.trace);
    choose_rounds(&j);
    const double roof = 2.0 * j.bytes * j.frames / time_run(&j, run_copies) * 1e-9;
    sample_begin(&t, "A frame up, a kernel, a frame down; time a frame", "GB/s", "PCIe both ways at once", roof, "overlap");
    row(&j, &t, "synchronous, pageable", false, run_in_turn<false>);
    row(&j, &t, "synchronous, pinned", true, run_in_turn<true>);
    row(&j, &t, "3 streams, pageable", false, run_streams<3, false, false>);
    row(&j, &t, "1 stream", true, run_streams<1, true, false>);
    row(&j, &t, "2 streams", true, run_streams<2, true, false>);
    row(&j, &t, "3 streams", true, run_streams<3, true, false>);
    row(&j, &t, "4 streams", true, run_streams<4, true, false>);
    row(&j, &t, "double buffer with events", true, run_double_buffer);
    row(&j, &t, "3 streams, kernels in the default stream", true, run_streams<3, true, true>);
    row(&j, &t, "3 streams as a graph", true, run_graph);
    if (j.trace) {
        timeline_close(j.trace);
        if (ferror(j.trace) | fclose(j.trace)) {
            fprintf(stderr, "streams: '%s' could not be written to its end\n", argv[3]);
            return EXIT_FAILURE;
        }
    }
    close_job(&j);
    return sample_end(&t);
}
