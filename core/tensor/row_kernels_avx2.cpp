#define ATTNSCOPE_WIDTH 8
#define ATTNSCOPE_ROWS 6
#define ATTNSCOPE_KERNELS row_kernels_avx2
#define ATTNSCOPE_NAME "AVX2"
#include "core/tensor/row_kernels.inc"
