#define ATTNSCOPE_WIDTH 16
#define ATTNSCOPE_FORMATS block_formats_avx512
#include "core/tensor/block_decoders.inc"
