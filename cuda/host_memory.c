/* Page-locked host memory, and ordinary memory where that runs out. */
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "check.h"
#include "device.h"

#define HOST_ALIGN 4096

/* A block that is not simply what cudaHostAlloc gave: ordinary memory, or a part of a page-locked block that starts `memory -
 * base` bytes in (small blocks come off a larger one, on any boundary). */
struct ec_host_block {
    void *memory, *base;
    bool pinned;
    struct ec_host_block *next;
};

/* False if there is no memory for the entry. */
static bool remember(struct ec_device *device, void *memory, void *base, bool pinned)
{
    struct ec_host_block *block = malloc(sizeof *block);
    if (!block)
        return false;
    pthread_mutex_lock(&device->lock);
    *block = (struct ec_host_block){.memory = memory, .base = base, .pinned = pinned, .next = device->host_blocks};
    device->host_blocks = block;
    pthread_mutex_unlock(&device->lock);
    return true;
}

/* Takes the entry of `memory` off the list; false if there is none. */
static bool forget(struct ec_device *device, void *memory, struct ec_host_block *out)
{
    pthread_mutex_lock(&device->lock);
    struct ec_host_block **link = &device->host_blocks, *block;
    while (*link && (*link)->memory != memory)
        link = &(*link)->next;
    block = *link;
    if (block) {
        *link = block->next;
        *out = *block;
    }
    pthread_mutex_unlock(&device->lock);
    free(block);
    return block != NULL;
}

static void *pinned_alloc(struct ec_device *device, size_t bytes, struct ec_error *error)
{
    void *base = NULL;
    if (!ec_device_enter(device, error) || !EC_CUDA(error, cudaHostAlloc(&base, bytes, cudaHostAllocPortable)))
        return NULL;
    if ((uintptr_t)base % HOST_ALIGN == 0)
        return base;
    (void)EC_CUDA(NULL, cudaFreeHost(base));
    if (!EC_CUDA(error, cudaHostAlloc(&base, bytes + HOST_ALIGN - 1, cudaHostAllocPortable)))
        return NULL;
    void *memory = (char *)base + (HOST_ALIGN - (uintptr_t)base % HOST_ALIGN) % HOST_ALIGN;
    if (memory == base || remember(device, memory, base, true))
        return memory;
    (void)EC_CUDA(NULL, cudaFreeHost(base));
    ec_fail(error, EC_ERROR_MEMORY, "there is no memory to keep count of page-locked memory");
    return NULL;
}

static void *ordinary_alloc(struct ec_device *device, size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, HOST_ALIGN, bytes) != 0)
        return NULL;
    if (remember(device, memory, memory, false))
        return memory;
    free(memory);
    return NULL;
}

void *ec_cuda_host_alloc(struct ec_device *device, size_t bytes)
{
    struct ec_error error = {0};
    if (bytes == 0)
        bytes = 1;
    if (bytes > SIZE_MAX - HOST_ALIGN)
        return NULL;
    void *memory = pinned_alloc(device, bytes, &error);
    if (memory) {
        atomic_fetch_add(&device->pinned_bytes, (long long)bytes);
        return memory;
    }
    if (!atomic_exchange(&device->pinned_noticed, true))
        ec_log(
            &device->logger, EC_LOG_NOTICE,
            "page-locked memory ran out (%zu bytes more were asked for), and frames in ordinary memory take longer to copy: %s",
            bytes, error.text);
    return ordinary_alloc(device, bytes);
}

void ec_cuda_host_free(struct ec_device *device, void *memory, size_t bytes)
{
    struct ec_error error = {0};
    struct ec_host_block block = {.base = memory, .pinned = true};
    if (!memory)
        return;
    forget(device, memory, &block);
    if (!block.pinned) {
        free(block.base);
        return;
    }
    /* Portable memory is freed from anywhere: a device that cannot be entered any more does not keep it. */
    (void)ec_device_enter(device, &error);
    if (EC_CUDA(&error, cudaFreeHost(block.base)))
        atomic_fetch_sub(&device->pinned_bytes, (long long)(bytes ? bytes : 1));
    else
        ec_log(&device->logger, EC_LOG_VERBOSE, "%s", error.text);
}

void ec_cuda_host_release_all(struct ec_device *device)
{
    struct ec_host_block block;
    while (device->host_blocks && forget(device, device->host_blocks->memory, &block)) {
        if (block.pinned)
            (void)EC_CUDA(NULL, cudaFreeHost(block.base));
        else
            free(block.base);
    }
}
