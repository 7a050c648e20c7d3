// Decoders of the block-quantised number formats of GGML (https://github.com/ggml-org/ggml,
// ggml-common.h), compiled once per instruction set and selected at run time.
//
// A decoder converts `blocks` consecutive blocks to floats. Results equal those of the Python
// package gguf bit for bit on every instruction set. four_dots() stores s[r], the product of row r
// with x, without storing the floats; results equal those of RowKernels::four_dots bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnscope::cpu {

struct BlockFormat {
  void (*decode)(const std::uint8_t* from, std::ptrdiff_t blocks, float* to);
  void (*four_dots)(const std::uint8_t* const* rows, std::ptrdiff_t blocks, const float* x,
                    float* s);
};

struct BlockFormats {
  BlockFormat q4_0, q4_1, q5_0, q5_1, q8_0;                // blocks of 32 numbers
  BlockFormat q2_k, q3_k, q4_k, q5_k, q6_k, q8_k, iq4_xs;  // blocks of 256 numbers
  BlockFormat iq4_nl, mxfp4;                               // blocks of 32 numbers
};

struct RowKernels;  // core/tensor/row_kernels.h

// Formats for the instruction set of these row kernels.
const BlockFormats& block_formats(const RowKernels& kernels);

}  // namespace attnscope::cpu
