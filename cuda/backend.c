#include "device.h"
#include "examine.h"
#include "throughput.h"
#include "tuning.h"

const struct ec_backend ec_backend_cuda = {
    .name = "cuda",
    .examine = ec_cuda_examine,
    .open = ec_cuda_open,
    .close = ec_cuda_close,
    .describe = ec_cuda_describe,
    .host_alloc = ec_cuda_host_alloc,
    .host_free = ec_cuda_host_free,
    .engine_open = ec_cuda_engine_open,
    .engine_close = ec_cuda_engine_close,
    .submit = ec_cuda_submit,
    .collect = ec_cuda_collect,
    .decode_device = ec_cuda_decode_device,
    .encode_surfaces = ec_cuda_encode_surfaces,
    .measure = ec_cuda_measure,
    .tunings = ec_cuda_tunings,
    .throughput = ec_cuda_throughput,
};
