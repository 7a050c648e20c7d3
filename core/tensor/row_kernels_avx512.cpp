#define ATTNSCOPE_WIDTH 16
#define ATTNSCOPE_ROWS 8
#define ATTNSCOPE_KERNELS row_kernels_avx512
#define ATTNSCOPE_NAME "AVX-512"
#include "core/tensor/row_kernels.inc"
