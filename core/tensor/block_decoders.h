// Decoders of the block-quantised number formats of GGML (https://github.com/ggml-org/ggml,
// ggml-common.h), compiled once per instruction set and selected at run time.
//
// A decoder converts `blocks` consecutive blocks to floats. Results equal those of the Python
// package gguf bit for bit on every instruction set: products and sums are rounded separately.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnscope::cpu {

using BlockDecoder = void (*)(const std::uint8_t* from, std::ptrdiff_t blocks, float* to);

struct BlockDecoders {
  BlockDecoder q4_0, q4_1, q5_0, q5_1, q8_0;                // blocks of 32 numbers
  BlockDecoder q2_k, q3_k, q4_k, q5_k, q6_k, q8_k, iq4_xs;  // blocks of 256 numbers
  BlockDecoder iq4_nl, mxfp4;                               // blocks of 32 numbers
};

// Decoders for the widest instruction set of this processor.
const BlockDecoders& block_decoders();

}  // namespace attnscope::cpu
