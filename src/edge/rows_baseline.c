#define ROWS_TABLE ec_rows_baseline
#define ROWS_NAME "baseline"
#include "edge/rows_table.h"
