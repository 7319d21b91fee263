#include <string.h>
#include <unistd.h>

#include "source/source.h"

static bool is_generated(const char *input, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(input, name, n) == 0 && (input[n] == ':' || !input[n]) && access(input, F_OK) != 0;
}

const struct ec_source_ops *ec_source_find(const char *input)
{
    const struct ec_source_ops *const generated[] = {&ec_source_demo, &ec_source_cycle};
    for (size_t i = 0; i < sizeof generated / sizeof *generated; i++)
        if (is_generated(input, generated[i]->name))
            return generated[i];
    return &ec_source_libav;
}
