#define ATTNSCOPE_WIDTH 4
#define ATTNSCOPE_ROWS 4
#define ATTNSCOPE_KERNELS row_kernels_baseline
#define ATTNSCOPE_NAME "128-bit"
#include "core/tensor/row_kernels.inc"
