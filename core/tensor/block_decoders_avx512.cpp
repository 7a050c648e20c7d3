#define ATTNSCOPE_DECODERS block_decoders_avx512
#include "core/tensor/block_decoders.inc"
