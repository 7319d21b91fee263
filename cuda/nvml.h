/* What NVIDIA's management library says about one GPU. The library is looked for at run time; where it, the GPU or a reading is
 * missing, every value is "not known". Works in builds without CUDA too. */
#ifndef EC_CUDA_NVML_H
#define EC_CUDA_NVML_H

#include <stddef.h>
#include <stdint.h>

struct ec_nvml;

struct ec_nvml_sample {
    double utilization_percent; /* share of the last sample period with a kernel running; NaN: not known */
    double decode_percent, encode_percent; /* the same of NVDEC and NVENC */
    double power_w; /* NaN: not known */
    int64_t memory_used_bytes; /* of the whole card; -1: not known */
    int pcie_generation, pcie_width; /* of the link now; -1: not known */
    int pcie_max_generation, pcie_max_width; /* that card and slot can do; -1: not known */
};

/* bus_id: a PCI address as CUDA spells it ("0000:3b:00.0"). NULL when there is nothing to ask. */
struct ec_nvml *ec_nvml_open(const char *bus_id);
/* NULL and pointers to NULL are fine. */
void ec_nvml_close(struct ec_nvml **nvml);

/* One caller at a time for one `nvml`. NULL: all not known. */
void ec_nvml_sample(struct ec_nvml *nvml, struct ec_nvml_sample *out);

/* The driver's version ("580.65.06"), empty when not known. */
void ec_nvml_driver(struct ec_nvml *nvml, char *out, size_t size);

#endif
