#include "app/doctor_driver.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char group[] = "NVIDIA driver";

/* Without the space at its end. */
static bool first_line(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "r");
    const bool read = file && fgets(out, (int)size, file);
    if (file)
        fclose(file);
    size_t length = read ? strlen(out) : 0;
    while (length > 0 && isspace((unsigned char)out[length - 1]))
        out[--length] = '\0';
    return read;
}

/* Display controllers on the PCI bus with NVIDIA's vendor number. */
static int count_cards(void)
{
    glob_t found = {0};
    int cards = 0;
    glob("/sys/bus/pci/devices/*", 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char path[300], vendor[32] = "", class[32] = "";
        snprintf(path, sizeof path, "%s/vendor", found.gl_pathv[i]);
        first_line(path, vendor, sizeof vendor);
        snprintf(path, sizeof path, "%s/class", found.gl_pathv[i]);
        first_line(path, class, sizeof class);
        cards += strcmp(vendor, "0x10de") == 0 && strncmp(class, "0x03", 4) == 0;
    }
    globfree(&found);
    return cards;
}

static void report_device_files(const struct ec_examiner *examiner)
{
    static const char *const files[] = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia[0-9]*"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        glob_t found = {0};
        if (glob(files[i], 0, NULL, &found) != 0)
            ec_finding(examiner, group, EC_VERDICT_PROBLEM,
                       "%s is missing: start the container with --gpus all (or this device), or run nvidia-modprobe -u",
                       files[i]);
        for (size_t k = 0; k < found.gl_pathc; k++) {
            if (access(found.gl_pathv[k], R_OK | W_OK) != 0)
                ec_finding(examiner, group, EC_VERDICT_PROBLEM,
                           "%s may not be opened (%s): its group, often video or render, must be yours", found.gl_pathv[k],
                           strerror(errno));
        }
        globfree(&found);
    }
}

/* The library that speaks with the driver; `expected`: there is a card or a kernel module. */
static void report_library(const struct ec_examiner *examiner, bool expected)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    Dl_info where = {0};
    if (!library) {
        ec_finding(examiner, group, expected ? EC_VERDICT_PROBLEM : EC_VERDICT_NOTE, "libcuda.so.1 cannot be loaded (%s)%s",
                   dlerror(),
                   expected ? ": name the folder that holds it in LD_LIBRARY_PATH, or install the driver's libraries (in a "
                              "container: NVIDIA_DRIVER_CAPABILITIES=compute,video,utility)"
                            : "");
        return;
    }
    void *const symbol = dlsym(library, "cuDriverGetVersion");
    if (symbol && dladdr(symbol, &where) && where.dli_fname) {
        const bool stub = strstr(where.dli_fname, "/stubs/") != NULL;
        ec_finding(examiner, group, stub ? EC_VERDICT_PROBLEM : EC_VERDICT_OK, "libcuda.so.1 is %s%s", where.dli_fname,
                   stub ? ", the toolkit's stand-in for linking: take its folder out of LD_LIBRARY_PATH" : "");
    }
    dlclose(library);
}

static void report_environment(const struct ec_examiner *examiner)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *order = getenv("CUDA_DEVICE_ORDER");
    const char *libraries = getenv("LD_LIBRARY_PATH");
    if (visible && (visible[0] == '\0' || visible[0] == '-'))
        ec_finding(examiner, group, EC_VERDICT_PROBLEM, "CUDA_VISIBLE_DEVICES is '%s', which hides every GPU: unset it",
                   visible);
    else if (visible)
        ec_finding(examiner, group, EC_VERDICT_NOTE,
                   "CUDA_VISIBLE_DEVICES is '%s': other GPUs are hidden, and --gpu counts these", visible);
    if (order)
        ec_finding(examiner, group, EC_VERDICT_NOTE, "CUDA_DEVICE_ORDER is '%s': it changes what --gpu counts", order);
    if (libraries && libraries[0])
        ec_finding(examiner, group, EC_VERDICT_NOTE, "LD_LIBRARY_PATH is '%s'", libraries);
}

void doctor_driver(const struct ec_examiner *examiner)
{
    char version[256];
    const int cards = count_cards();
    const bool wsl = access("/dev/dxg", F_OK) == 0;
    const bool module = first_line("/proc/driver/nvidia/version", version, sizeof version);
    const bool container = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
    ec_finding(examiner, group, cards > 0 || wsl ? EC_VERDICT_OK : EC_VERDICT_NOTE, "%d NVIDIA card%s on the PCI bus%s%s",
               cards, cards == 1 ? "" : "s", wsl ? ", GPUs by way of WSL" : "",
               container ? ", seen from within a container" : "");
    if (module)
        ec_finding(examiner, group, EC_VERDICT_OK, "kernel module: %s", version);
    else if (cards > 0 && !wsl)
        ec_finding(
            examiner, group, EC_VERDICT_PROBLEM,
            "no kernel module runs (/proc/driver/nvidia is missing): install the driver, or start it with modprobe nvidia");
    else if (!wsl)
        ec_finding(examiner, group, EC_VERDICT_NOTE, "no kernel module runs");
    if (module)
        report_device_files(examiner);
    report_library(examiner, cards > 0 || module || wsl);
    report_environment(examiner);
}
