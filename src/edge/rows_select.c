#include <string.h>

#include "edge/rows.h"

extern const struct ec_rows ec_rows_baseline;
#ifdef __x86_64__
extern const struct ec_rows ec_rows_avx2, ec_rows_avx512, ec_rows_avx512vnni;
#endif

static bool runs_anywhere(void)
{
    return true;
}

#ifdef __x86_64__
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool has_avx512vnni(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

static const struct {
    const struct ec_rows *rows;
    bool (*runs)(void);
} tables[] = {
#ifdef __x86_64__
    {&ec_rows_avx512vnni, has_avx512vnni},
    {&ec_rows_avx512, has_avx512},
    {&ec_rows_avx2, has_avx2},
#endif
    {&ec_rows_baseline, runs_anywhere},
};

enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

const struct ec_rows *ec_rows_select(const char *name)
{
    for (int i = 0; i < TABLE_COUNT; i++)
        if ((!name || !strcmp(tables[i].rows->name, name)) && tables[i].runs())
            return tables[i].rows;
    return NULL;
}

const char *ec_rows_name(int index)
{
    return index >= 0 && index < TABLE_COUNT ? tables[index].rows->name : NULL;
}
