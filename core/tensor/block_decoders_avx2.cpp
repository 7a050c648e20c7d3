#define ATTNSCOPE_WIDTH 8
#define ATTNSCOPE_FORMATS block_formats_avx2
#include "core/tensor/block_decoders.inc"
