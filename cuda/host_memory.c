/* Page-locked host memory, and ordinary memory where that runs out. */
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "check.h"
#include "device.h"

struct ec_ordinary_block {
    void *memory;
    struct ec_ordinary_block *next;
};

static void *ordinary_alloc(struct ec_device *device, size_t bytes, bool *first)
{
    struct ec_ordinary_block *block = malloc(sizeof *block);
    void *memory = NULL;
    if (!block || posix_memalign(&memory, 4096, bytes) != 0) {
        free(block);
        return NULL;
    }
    pthread_mutex_lock(&device->lock);
    *first = !device->ordinary_noticed;
    device->ordinary_noticed = true;
    *block = (struct ec_ordinary_block){.memory = memory, .next = device->ordinary};
    device->ordinary = block;
    pthread_mutex_unlock(&device->lock);
    return memory;
}

static bool ordinary_free(struct ec_device *device, void *memory)
{
    pthread_mutex_lock(&device->lock);
    struct ec_ordinary_block **link = &device->ordinary, *block;
    while (*link && (*link)->memory != memory)
        link = &(*link)->next;
    block = *link;
    if (block)
        *link = block->next;
    pthread_mutex_unlock(&device->lock);
    if (block)
        free(block->memory);
    free(block);
    return block != NULL;
}

void *ec_cuda_host_alloc(struct ec_device *device, size_t bytes)
{
    struct ec_error error = {0};
    void *memory = NULL;
    bool first = false;
    if (bytes == 0)
        bytes = 1;
    if (ec_device_enter(device, &error) && EC_CUDA(&error, cudaHostAlloc(&memory, bytes, cudaHostAllocPortable))) {
        if ((uintptr_t)memory % 4096 == 0) {
            atomic_fetch_add(&device->pinned_bytes, (long long)bytes);
            return memory;
        }
        ec_fail(&error, EC_ERROR_DEVICE, "cudaHostAlloc gave memory that is not aligned to 4096 bytes");
        (void)EC_CUDA(&error, cudaFreeHost(memory));
    }
    memory = ordinary_alloc(device, bytes, &first);
    if (first)
        ec_log(
            &device->logger, EC_LOG_NOTICE,
            "page-locked memory ran out (%zu bytes more were asked for), and frames in ordinary memory take longer to copy: %s",
            bytes, error.text);
    return memory;
}

void ec_cuda_host_free(struct ec_device *device, void *memory, size_t bytes)
{
    struct ec_error error = {0};
    if (!memory || ordinary_free(device, memory))
        return;
    if (bytes == 0)
        bytes = 1;
    if (ec_device_enter(device, &error) && EC_CUDA(&error, cudaFreeHost(memory)))
        atomic_fetch_sub(&device->pinned_bytes, (long long)bytes);
    else
        ec_log(&device->logger, EC_LOG_VERBOSE, "%s", error.text);
}

void ec_cuda_host_release_all(struct ec_device *device)
{
    while (device->ordinary)
        ordinary_free(device, device->ordinary->memory);
}
