#include "pipeline/same_file.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool ec_is_input_file(const char *input, const struct stat *target)
{
    struct stat info;
    if (!input)
        return false;
    if (strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &info) : stat(input, &info)) {
        if (strncmp(input, "file:", 5) != 0 || stat(input + 5, &info))
            return false;
    }
    return S_ISREG(info.st_mode) && info.st_dev == target->st_dev && info.st_ino == target->st_ino;
}

#define PLAYLIST_MAX_BYTES (1 << 20)

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The numbers of a picture pattern ("%03d") become '*', what fnmatch would read as its own signs '?'. Caller frees; NULL: no
 * memory. */
static char *glob_of(const char *pattern)
{
    char *glob = malloc(strlen(pattern) + 1), *to = glob;
    for (const char *p = pattern; glob && *p; p++) {
        const char *end = p + 1;
        while (*p == '%' && isdigit((unsigned char)*end))
            end++;
        if (*p == '%' && *end == 'd') {
            *to++ = '*';
            p = end;
        } else {
            *to++ = strchr("*?[\\", *p) ? '?' : *p;
        }
    }
    if (glob)
        *to = '\0';
    return glob;
}

static bool patterns_meet(const char *a, const char *b)
{
    char *glob_a = glob_of(a), *glob_b = glob_of(b);
    const bool meet = !glob_a || !glob_b || fnmatch(glob_a, glob_b, 0) == 0 || fnmatch(glob_b, glob_a, 0) == 0;
    free(glob_a);
    free(glob_b);
    return meet;
}

static bool playlist_names(const char *input, const char *name)
{
    FILE *file = fopen(input, "re");
    char *text = file ? malloc(PLAYLIST_MAX_BYTES + 1) : NULL;
    const size_t bytes = text ? fread(text, 1, PLAYLIST_MAX_BYTES + 1, file) : 0;
    bool found = false;
    if (bytes > 0 && bytes <= PLAYLIST_MAX_BYTES && !memchr(text, '\0', bytes)) {
        text[bytes] = '\0';
        found = strstr(text, name) != NULL;
    }
    free(text);
    if (file)
        fclose(file);
    return found;
}

bool ec_input_mentions(const char *input, const char *path)
{
    struct stat info;
    if (!input || strcmp(input, "-") == 0)
        return false;
    const char *name = base_of(path);
    if (stat(input, &info) == 0)
        return S_ISREG(info.st_mode) && info.st_size <= PLAYLIST_MAX_BYTES && playlist_names(input, name);
    return strstr(input, name) != NULL || (strchr(input, '%') && patterns_meet(base_of(input), name));
}
