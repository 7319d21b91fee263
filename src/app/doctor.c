#include "app/doctor.h"

#include <SDL.h>
#include <errno.h>
#include <libavutil/log.h>
#include <stdio.h>
#include <string.h>

#include "app/doctor_display.h"
#include "app/doctor_driver.h"
#include "app/doctor_media.h"
#include "app/doctor_memory.h"
#include "edge/backend.h"

struct page {
    char group[32]; /* the one that is being printed */
    int problems;
    int cause; /* errno of the first line that standard output did not take */
};

static void print_finding(void *opaque, const char *group, enum ec_verdict verdict, const char *text)
{
    static const char *const words[] = {[EC_VERDICT_OK] = "ok", [EC_VERDICT_NOTE] = "note", [EC_VERDICT_PROBLEM] = "problem"};
    struct page *page = opaque;
    if (strcmp(page->group, group) != 0) {
        printf("%s%s\n", page->group[0] ? "\n" : "", group);
        snprintf(page->group, sizeof page->group, "%s", group);
    }
    printf("  %-8s %s\n", words[verdict], text);
    page->problems += verdict == EC_VERDICT_PROBLEM;
    if (fflush(stdout) != 0 && !page->cause) /* at once: what comes next may take a while */
        page->cause = errno;
}

static void examine_build(const struct ec_examiner *examiner)
{
    SDL_version linked, compiled;
    SDL_VERSION(&compiled);
    SDL_GetVersion(&linked);
    ec_finding(examiner, "Build", EC_VERDICT_OK, "edgecam %s, compiled by %s%s", EDGECAM_VERSION,
#ifdef __clang__
               "",
#else
               "gcc ",
#endif
               __VERSION__);
    ec_finding(examiner, "Build", EC_VERDICT_OK, "CUDA backend: %s", EDGECAM_HAVE_CUDA ? "built in" : "left out");
    ec_finding(examiner, "Build", EC_VERDICT_OK, "SDL %d.%d.%d (compiled with %d.%d.%d)", linked.major, linked.minor,
               linked.patch, compiled.major, compiled.minor, compiled.patch);
}

/* What a run with these options would get. */
static enum ec_status conclude(struct page *page, const struct ec_examiner *examiner, const struct ec_device_params *params)
{
    const struct ec_logger silent = {0};
    const struct ec_backend *backend = NULL;
    struct ec_device *device = NULL;
    struct ec_device_info info = {0};
    struct ec_error error = {0};
    const enum ec_status status = ec_backend_open(&backend, &device, params, &silent, &error);
    if (status != EC_OK) {
        ec_finding(examiner, "Result", EC_VERDICT_PROBLEM, "edgecam cannot run as asked: %s", error.text);
        return EC_ERROR_DEVICE;
    }
    backend->describe(device, &info);
    ec_finding(examiner, "Result", EC_VERDICT_OK, "edgecam runs here, with the %s backend on %s", backend->name, info.name);
    if (page->problems > 0)
        ec_finding(examiner, "Result", EC_VERDICT_NOTE, "%d problem%s above", page->problems, page->problems == 1 ? "" : "s");
    backend->close(&device);
    return EC_OK;
}

enum ec_status app_doctor(const struct app_options *options)
{
    const struct ec_device_params *params = &options->pipeline.device;
    struct page page = {0};
    const struct ec_examiner examiner = {print_finding, &page};
    av_log_set_level(AV_LOG_QUIET);
    examine_build(&examiner);
    doctor_display(&examiner); /* forks, so it comes before drivers start threads */
    doctor_cameras(&examiner);
    doctor_media(&examiner);
    doctor_memory(&examiner);
    ec_backend_cpu.examine(params, &examiner);
    if (params->backend != EC_BACKEND_CPU) {
        doctor_driver(&examiner);
        ec_backend_cuda.examine(params, &examiner);
        doctor_nvenc(&examiner);
    }
    const enum ec_status status = conclude(&page, &examiner, params);
    if (!page.cause)
        return status;
    fprintf(stderr, "edgecam: standard output: %s\n", strerror(page.cause));
    return EC_ERROR_OUTPUT;
}
