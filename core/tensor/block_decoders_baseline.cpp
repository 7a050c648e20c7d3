#define ATTNSCOPE_WIDTH 4
#define ATTNSCOPE_FORMATS block_formats_baseline
#include "core/tensor/block_decoders.inc"
