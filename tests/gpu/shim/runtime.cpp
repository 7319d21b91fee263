/* The stand-in's implementation: each CUDA thread of a block is a fiber; barriers and shuffles switch between them. */
#include <ucontext.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda_runtime.h"

dim3 threadIdx, blockIdx, blockDim, gridDim;
struct shim_machine shim_machine = {13000, 13000, 1, SIZE_MAX, SIZE_MAX, false, -1};

namespace
{

constexpr size_t STACK_BYTES = 256 << 10;

/* A barrier that is used again: the last to arrive opens it for all. */
struct Barrier {
    unsigned members = 0, arrived = 0, opened = 0;
};

struct Warp {
    Barrier barrier;
    uint32_t values[32] = {}, many[32][8] = {};
};

struct Fiber {
    ucontext_t context;
    dim3 thread;
    unsigned index = 0;
    bool done = false;
};

std::vector<std::unique_ptr<char[]>> stacks;
std::vector<Fiber> fibers;
std::vector<Warp> warps;
Barrier block_barrier;
ucontext_t scheduler;
Fiber *running;
const std::function<void()> *body;

void fiber_main()
{
    (*body)();
    running->done = true;
    swapcontext(&running->context, &scheduler);
}

void yield_fiber()
{
    Fiber *self = running;
    swapcontext(&self->context, &scheduler);
    running = self;
    threadIdx = self->thread;
}

void wait_at(Barrier *barrier)
{
    const unsigned turn = barrier->opened;
    if (++barrier->arrived == barrier->members) {
        barrier->arrived = 0;
        barrier->opened++;
        return;
    }
    while (barrier->opened == turn)
        yield_fiber();
}

void run_block(dim3 block)
{
    const unsigned count = block.x * block.y * block.z;
    while (stacks.size() < count)
        stacks.emplace_back(new char[STACK_BYTES]);
    fibers.assign(count, Fiber());
    warps.assign((count + 31) / 32, Warp());
    block_barrier = Barrier();
    block_barrier.members = count;
    for (unsigned i = 0; i < count; i++) {
        Fiber &f = fibers[i];
        f.index = i;
        f.thread = dim3(i % block.x, i / block.x % block.y, i / (block.x * block.y));
        warps[i / 32].barrier.members++;
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = stacks[i].get();
        f.context.uc_stack.ss_size = STACK_BYTES;
        f.context.uc_link = &scheduler;
        makecontext(&f.context, fiber_main, 0);
    }
    for (unsigned left = count, rounds = 0; left > 0; rounds++) {
        if (rounds > 1000000) {
            fprintf(stderr, "a kernel is stuck: some threads left before a barrier that others wait at\n");
            abort();
        }
        for (Fiber &f : fibers) {
            if (f.done)
                continue;
            running = &f;
            threadIdx = f.thread;
            swapcontext(&scheduler, &f.context);
            left -= f.done;
        }
    }
}

std::map<void *, size_t> device_blocks, pinned_blocks;
size_t device_used, pinned_used;
thread_local cudaError_t last_error;
thread_local int current_device;
std::recursive_mutex machine_lock; /* host memory comes and goes on any thread */
std::atomic<long> calls, fail_at{-1};
std::atomic<bool> stays_lost;

cudaError_t fail(cudaError_t error)
{
    last_error = error;
    return error;
}

/* Whether this call is the one that was to fail, or comes after it on a device that is lost. */
bool is_failing()
{
    const long call = calls++, at = fail_at;
    return at >= 0 && (call == at || (stays_lost && call > at));
}

/* Every call that can fail begins with this. */
#define SHIM_CALL()                                                                                                            \
    const std::lock_guard<std::recursive_mutex> guard(machine_lock);                                                           \
    if (is_failing())                                                                                                          \
    return fail(cudaErrorLaunchFailure)

/* Those that give something back do so even when they report a failure, as the runtime's do. */
#define SHIM_RELEASE()                                                                                                         \
    const std::lock_guard<std::recursive_mutex> guard(machine_lock);                                                           \
    const bool failing = is_failing()

cudaError_t allocate(void **memory, size_t bytes, size_t limit, size_t *used, std::map<void *, size_t> *blocks)
{
    *memory = nullptr;
    if (bytes > limit - *used)
        return fail(cudaErrorMemoryAllocation);
    if (posix_memalign(memory, 4096, bytes ? bytes : 1) != 0)
        return fail(cudaErrorMemoryAllocation);
    memset(*memory, 0xa5, bytes);
    *used += bytes;
    (*blocks)[*memory] = bytes;
    return cudaSuccess;
}

cudaError_t release(void *memory, size_t *used, std::map<void *, size_t> *blocks)
{
    const auto block = blocks->find(memory);
    if (block == blocks->end())
        return memory ? fail(cudaErrorInvalidValue) : cudaSuccess;
    *used -= block->second;
    blocks->erase(block);
    free(memory);
    return cudaSuccess;
}

} // namespace

struct shim_stream {
    int device;
};

static int device_of(cudaStream_t stream)
{
    return stream ? stream->device : current_device;
}

void __syncthreads()
{
    wait_at(&block_barrier);
}

unsigned shim_lane()
{
    return running->index % 32;
}

uint32_t shim_exchange(uint32_t value, unsigned from_lane)
{
    Warp *warp = &warps[running->index / 32];
    warp->values[shim_lane()] = value;
    wait_at(&warp->barrier);
    const uint32_t result = warp->values[from_lane];
    wait_at(&warp->barrier);
    return result;
}

void shim_gather(const uint32_t *values, unsigned count, uint32_t *all)
{
    Warp *warp = &warps[running->index / 32];
    memcpy(warp->many[shim_lane()], values, count * sizeof *values);
    wait_at(&warp->barrier);
    for (unsigned lane = 0; lane < 32; lane++)
        memcpy(all + lane * count, warp->many[lane], count * sizeof *values);
    wait_at(&warp->barrier);
}

cudaError_t shim_launch(dim3 grid, dim3 block, cudaStream_t stream, const std::function<void()> &kernel)
{
    SHIM_CALL();
    if (device_of(stream) != current_device)
        return fail(cudaErrorInvalidValue);
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535 ||
        block.x * block.y * block.z > 1024 || block.x * block.y * block.z == 0)
        return fail(cudaErrorInvalidValue);
    if (shim_machine.launches_until_failure == 0)
        return fail(cudaErrorLaunchFailure);
    if (shim_machine.launches_until_failure > 0)
        shim_machine.launches_until_failure--;
    body = &kernel;
    gridDim = grid;
    blockDim = block;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = dim3(x, y, z);
                run_block(block);
            }
    return cudaSuccess;
}

void shim_fail_at(long call, bool for_good)
{
    calls = 0;
    stays_lost = for_good;
    fail_at = call;
}

long shim_calls(void)
{
    return calls;
}

cudaError_t shim_probe()
{
    SHIM_CALL();
    return shim_machine.no_kernel_image ? fail(cudaErrorNoKernelImageForDevice) : cudaSuccess;
}

size_t shim_device_bytes_used(void)
{
    return device_used;
}

struct shim_graph {
};
struct shim_event {
    double ms;
    bool recorded, timed;
    int device;
};

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t)
{
    return "words of the stand-in";
}
const char *cudaGetErrorName(cudaError_t)
{
    return "cudaErrorShim";
}

cudaError_t cudaDriverGetVersion(int *version)
{
    SHIM_CALL();
    *version = shim_machine.driver_version;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    SHIM_CALL();
    *version = shim_machine.runtime_version;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    SHIM_CALL();
    *count = shim_machine.device_count;
    if (shim_machine.driver_version < shim_machine.runtime_version)
        return fail(cudaErrorInsufficientDriver);
    return *count == 0 ? fail(cudaErrorNoDevice) : cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    SHIM_CALL();
    if (device < 0 || device >= shim_machine.device_count)
        return fail(cudaErrorInvalidValue);
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    SHIM_CALL();
    *device = current_device;
    return cudaSuccess;
}

/* Three processors, which hold 256 threads each; textures as the stand-in driver has them. */
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    SHIM_CALL();
    if (attribute != cudaDevAttrMultiProcessorCount && attribute != cudaDevAttrTextureAlignment)
        return fail(cudaErrorInvalidValue);
    *value = attribute == cudaDevAttrTextureAlignment ? 256 : 3;
    return cudaSuccess;
}

cudaError_t shim_occupancy(int *blocks, int block_threads)
{
    SHIM_CALL();
    *blocks = 256 / block_threads;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
    SHIM_CALL();
    *properties = {};
    snprintf(properties->name, sizeof properties->name, "stand-in");
    properties->major = 9;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *bus_id, int size, int)
{
    SHIM_CALL();
    snprintf(bus_id, (size_t)size, "0000:00:00.0");
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    SHIM_CALL();
    *free_bytes = shim_machine.device_bytes - device_used;
    *total_bytes = shim_machine.device_bytes;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    SHIM_CALL();
    return allocate(memory, bytes, shim_machine.device_bytes, &device_used, &device_blocks);
}

cudaError_t cudaFree(void *memory)
{
    SHIM_RELEASE();
    const cudaError_t result = release(memory, &device_used, &device_blocks);
    return failing ? fail(cudaErrorLaunchFailure) : result;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned)
{
    SHIM_CALL();
    return allocate(memory, bytes, shim_machine.pinned_bytes, &pinned_used, &pinned_blocks);
}

cudaError_t cudaFreeHost(void *memory)
{
    SHIM_RELEASE();
    const cudaError_t result = release(memory, &pinned_used, &pinned_blocks);
    return failing ? fail(cudaErrorLaunchFailure) : result;
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    SHIM_CALL();
    memset(memory, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t)
{
    return cudaMemset(memory, value, bytes);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    SHIM_CALL();
    memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t)
{
    SHIM_CALL();
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t row_bytes, size_t rows,
                              cudaMemcpyKind, cudaStream_t)
{
    SHIM_CALL();
    if (row_bytes > to_pitch || row_bytes > from_pitch)
        return fail(cudaErrorInvalidValue);
    for (size_t y = 0; y < rows; y++)
        memcpy((char *)to + y * to_pitch, (const char *)from + y * from_pitch, row_bytes);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    SHIM_CALL();
    *stream = new shim_stream{current_device};
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    SHIM_RELEASE();
    delete stream;
    return failing ? fail(cudaErrorLaunchFailure) : cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    SHIM_CALL();
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
    SHIM_CALL();
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    SHIM_CALL();
    *event = new shim_event{0, false, (flags & cudaEventDisableTiming) == 0, current_device};
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    SHIM_RELEASE();
    delete event;
    return failing ? fail(cudaErrorLaunchFailure) : cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    SHIM_CALL();
    if (event->device != device_of(stream))
        return fail(cudaErrorInvalidValue);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    event->ms = std::chrono::duration<double, std::milli>(now).count();
    event->recorded = true;
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t)
{
    SHIM_CALL();
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    SHIM_CALL();
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    SHIM_CALL();
    if (!start->recorded || !end->recorded || !start->timed || !end->timed || start->device != end->device)
        return fail(cudaErrorInvalidValue);
    *ms = (float)(end->ms - start->ms);
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, int)
{
    SHIM_CALL();
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
    SHIM_CALL();
    *graph = new shim_graph();
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *program, cudaGraph_t, unsigned long long)
{
    SHIM_CALL();
    *program = new shim_graph();
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t)
{
    SHIM_CALL();
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    SHIM_RELEASE();
    delete graph;
    return failing ? fail(cudaErrorLaunchFailure) : cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t program)
{
    SHIM_RELEASE();
    delete program;
    return failing ? fail(cudaErrorLaunchFailure) : cudaSuccess;
}
