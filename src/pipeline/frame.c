#include "pipeline/frame.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <libavcodec/avcodec.h>

#include "edge/backend.h"
#include "edge/buffer_size.h"

struct ec_pool {
    const struct ec_backend *backend;
    struct ec_device *device;
    pthread_mutex_t lock;
    /* guarded by lock */
    AVBufferPool *blocks;
    size_t block_bytes;
};

/* What it takes to free one block: blocks may outlive their pool. */
struct block {
    const struct ec_backend *backend;
    struct ec_device *device;
    size_t bytes;
};

void ec_item_release(struct ec_item *item)
{
    av_buffer_unref(&item->frame.owner);
    av_frame_free(&item->frame.picture);
    av_frame_free(&item->frame.surface);
    av_packet_free(&item->packet);
    *item = (struct ec_item){0};
}

static void block_free(void *opaque, uint8_t *data)
{
    struct block *block = opaque;
    block->backend->host_free(block->device, data, block->bytes);
    free(block);
}

static AVBufferRef *block_alloc(void *opaque, ec_buffer_size bytes)
{
    const struct ec_pool *pool = opaque;
    struct block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    *block = (struct block){pool->backend, pool->device, (size_t)bytes};
    uint8_t *data = pool->backend->host_alloc(pool->device, block->bytes);
    AVBufferRef *ref = data ? av_buffer_create(data, bytes, block_free, block, 0) : NULL;
    if (ref)
        return ref;
    if (data)
        pool->backend->host_free(pool->device, data, block->bytes);
    free(block);
    return NULL;
}

struct ec_pool *ec_pool_open(const struct ec_backend *backend, struct ec_device *device)
{
    struct ec_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->backend = backend;
    pool->device = device;
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

AVBufferRef *ec_pool_get(struct ec_pool *pool, size_t bytes)
{
    AVBufferRef *ref = NULL;
    pthread_mutex_lock(&pool->lock);
    if (bytes > 0 && bytes <= (size_t)INT32_MAX) {
        if (pool->block_bytes != bytes) {
            av_buffer_pool_uninit(&pool->blocks);
            pool->block_bytes = bytes;
        }
        if (!pool->blocks)
            pool->blocks = av_buffer_pool_init2((ec_buffer_size)bytes, pool, block_alloc, NULL);
        /* block_alloc reads the pool, so it runs under the lock; returned blocks are taken without it. */
        if (pool->blocks)
            ref = av_buffer_pool_get(pool->blocks);
    }
    pthread_mutex_unlock(&pool->lock);
    return ref;
}

void ec_pool_close(struct ec_pool **pool)
{
    if (!*pool)
        return;
    av_buffer_pool_uninit(&(*pool)->blocks);
    pthread_mutex_destroy(&(*pool)->lock);
    free(*pool);
    *pool = NULL;
}

int64_t ec_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
