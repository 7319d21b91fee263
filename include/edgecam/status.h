/* What every call returns, and where its messages go. */
#ifndef EDGECAM_STATUS_H
#define EDGECAM_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) || !defined(EC_SHARED_BUILD)
#define EC_API
#else
#define EC_API __attribute__((visibility("default")))
#endif

/* 0 to 5 are also the exit statuses of the program. */
enum ec_status {
    EC_OK = 0,
    EC_ERROR_FRAMES = 1, /* frames were lost or damaged, or none came */
    EC_ERROR_ARGUMENT = 2, /* a parameter is outside its documented range */
    EC_ERROR_INPUT = 3, /* the input cannot be opened or has no video */
    EC_ERROR_OUTPUT = 4, /* the output cannot be written */
    EC_ERROR_DEVICE = 5, /* the device or display that was asked for is not there, or failed */
    EC_ERROR_MEMORY = 6, /* host memory ran out */
    EC_STOPPED = 7, /* ec_pipeline_stop() ended the run; what was written up to there is complete */
};

/* The status in a few words. Static storage, never NULL. */
EC_API const char *ec_status_text(enum ec_status status);

enum ec_log_level { EC_LOG_ERROR = 0, EC_LOG_WARNING, EC_LOG_NOTICE, EC_LOG_VERBOSE };

/* Takes messages, one sentence each, without a newline. Zero-initialised: messages are dropped.
 * May be called from any thread, also from several at once; the text is valid during the call only. */
struct ec_logger {
    void (*message)(void *opaque, enum ec_log_level level, const char *text);
    void *opaque;
};

#ifdef __cplusplus
}
#endif
#endif
