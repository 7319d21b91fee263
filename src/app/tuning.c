#include "app/tuning.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/stats_json.h"

static const char schema[] = "edgecam.tuning/1";
static const char *const norms[] = {"l2", "l1"};
_Static_assert(EC_NORM_L2 == 0 && EC_NORM_L1 == 1, "the order of norms[]");

static char *join(const char *a, const char *b, const char *c)
{
    const size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

char *app_tuning_folder(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        return join(cache, "/edgecam", "");
    return home && home[0] == '/' ? join(home, "/.cache/edgecam", "") : NULL;
}

char *app_tuning_path(const char *folder, const struct ec_device_info *device)
{
    char name[sizeof device->name + sizeof device->driver + sizeof EDGECAM_VERSION + 2];
    snprintf(name, sizeof name, "%s-%s-%s", device->name, device->driver, EDGECAM_VERSION);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '.')
            *c = '-';
    char *stem = join(folder, "/tuning-", name);
    char *path = stem ? join(stem, ".json", "") : NULL;
    free(stem);
    return path;
}

static bool is_text(const json_t *object, const char *key, const char *wanted)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text && strcmp(text, wanted) == 0;
}

/* 0 for everything that is no number of this range: the file may hold anything. */
static int read_integer(const json_t *object, const char *key, int most)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 && value <= most ? (int)value : 0;
}

static void read_operators(struct app_tuning *tuning, const json_t *operators)
{
    for (int op = 0; op < EC_OPERATOR_COUNT; op++)
        for (int n = 0; n < 2; n++) {
            const json_t *found = json_object_get(json_object_get(operators, ec_operator_name((enum ec_operator)op)), norms[n]);
            tuning->operators[op][n] = (struct ec_tuning){
                .block_threads = read_integer(found, "block_threads", 1024),
                .rows_per_thread = read_integer(found, "rows_per_thread", 64),
            };
        }
}

bool app_tuning_load(struct app_tuning *tuning, const char *path, const struct ec_device_info *device)
{
    json_t *root = json_load_file(path, 0, NULL);
    *tuning = (struct app_tuning){0};
    const bool fits = is_text(root, "schema", schema) && is_text(root, "device", device->name) &&
                      is_text(root, "driver", device->driver) && is_text(root, "version", EDGECAM_VERSION);
    if (fits) {
        tuning->lanes = read_integer(root, "lanes", EC_LANES_MAX);
        read_operators(tuning, json_object_get(root, "operators"));
    }
    json_decref(root);
    return fits;
}

static json_t *operators_json(const struct app_tuning *tuning)
{
    json_t *operators = json_object();
    for (int op = 0; op < EC_OPERATOR_COUNT; op++) {
        json_t *both = json_object();
        for (int n = 0; n < 2; n++) {
            const struct ec_tuning *t = &tuning->operators[op][n];
            if (t->block_threads || t->rows_per_thread)
                json_object_set_new(
                    both, norms[n],
                    json_pack("{s:i,s:i}", "block_threads", t->block_threads, "rows_per_thread", t->rows_per_thread));
        }
        if (json_object_size(both) > 0)
            json_object_set_new(operators, ec_operator_name((enum ec_operator)op), both);
        else
            json_decref(both);
    }
    return operators;
}

/* The folder and the one it stands in, which may be missing on a new account. */
static bool make_folder(const char *folder)
{
    char *parent = join(folder, "", "");
    char *slash = parent ? strrchr(parent, '/') : NULL;
    if (slash && slash != parent) {
        *slash = '\0';
        (void)mkdir(parent, 0777);
    }
    free(parent);
    return mkdir(folder, 0777) == 0 || errno == EEXIST;
}

enum ec_status app_tuning_save(const struct app_tuning *tuning, const char *folder, const char *path,
                               const struct ec_device_info *device, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    char *temporary = join(path, ".XXXXXX", "");
    json_t *root = json_object();
    int fd = -1;
    app_json_set_text(root, "schema", schema);
    app_json_set_text(root, "device", device->name);
    app_json_set_text(root, "driver", device->driver);
    app_json_set_text(root, "version", EDGECAM_VERSION);
    app_json_set_integer(root, "lanes", tuning->lanes);
    json_object_set_new(root, "operators", operators_json(tuning));
    if (!temporary || !root) {
        status = ec_fail(error, EC_ERROR_MEMORY, "out of memory for %s", path);
    } else if (!make_folder(folder) || (fd = mkstemp(temporary)) < 0) {
        status = ec_fail(error, EC_ERROR_OUTPUT, "%s cannot be written: %s", path, strerror(errno));
    } else if (json_dumpfd(root, fd, JSON_INDENT(2)) != 0 || write(fd, "\n", 1) != 1 || rename(temporary, path) != 0) {
        status = ec_fail(error, EC_ERROR_OUTPUT, "%s cannot be written: %s", path, strerror(errno));
        (void)unlink(temporary);
    }
    if (fd >= 0)
        close(fd);
    free(temporary);
    json_decref(root);
    return status;
}

static bool load_for(struct app_tuning *tuning, const char *folder, const struct ec_device_params *params)
{
    struct ec_device *device = NULL;
    struct ec_device_info info;
    struct ec_device_params one = *params;
    one.gpu = params->gpu == EC_GPU_ALL ? 0 : params->gpu;
    if (ec_backend_cuda.open(&device, &one, NULL, NULL))
        return false;
    ec_backend_cuda.describe(device, &info);
    ec_backend_cuda.close(&device);
    char *path = app_tuning_path(folder, &info);
    const bool loaded = path && app_tuning_load(tuning, path, &info);
    free(path);
    return loaded;
}

void app_tuning_apply(struct ec_pipeline_params *params)
{
    struct app_tuning tuning;
    char *folder = params->device.backend == EC_BACKEND_CPU ? NULL : app_tuning_folder();
    if (folder && access(folder, X_OK) == 0 && load_for(&tuning, folder, &params->device)) {
        params->device.tuning = tuning.operators[params->edge.op][params->edge.norm];
        if (params->lanes == 0 && !params->device.low_latency)
            params->lanes = tuning.lanes;
    }
    free(folder);
}
