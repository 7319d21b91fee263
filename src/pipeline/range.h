/* Named stretches of a thread's time for NVIDIA's Nsight tools. They nest; begin and end come in pairs on one thread. Without a
 * profiler each is a call through a null pointer that is tested first; in a build without CUDA there is nothing. */
#ifndef EC_PIPELINE_RANGE_H
#define EC_PIPELINE_RANGE_H

#ifdef EDGECAM_NVTX
#include <nvtx3/nvToolsExt.h>

static inline void ec_range_begin(const char *name)
{
    nvtxRangePushA(name);
}

static inline void ec_range_end(void)
{
    nvtxRangePop();
}
#else
static inline void ec_range_begin(const char *name)
{
    (void)name;
}

static inline void ec_range_end(void) {}
#endif

#endif
