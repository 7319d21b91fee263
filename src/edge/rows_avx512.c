#define ROWS_TABLE ec_rows_avx512
#define ROWS_NAME "avx512"
#include "edge/rows_table.h"
