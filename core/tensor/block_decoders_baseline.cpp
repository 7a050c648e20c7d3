#define ATTNSCOPE_DECODERS block_decoders_baseline
#include "core/tensor/block_decoders.inc"
