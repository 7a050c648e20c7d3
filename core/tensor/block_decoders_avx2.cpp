#define ATTNSCOPE_DECODERS block_decoders_avx2
#include "core/tensor/block_decoders.inc"
