#define ROWS_TABLE ec_rows_avx512vnni
#define ROWS_NAME "avx512vnni"
#include "edge/rows_table.h"
