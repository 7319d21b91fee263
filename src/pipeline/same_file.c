#include "pipeline/same_file.h"

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
