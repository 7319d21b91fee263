#define ROWS_TABLE ec_rows_avx2
#define ROWS_NAME "avx2"
#include "edge/rows_table.h"
