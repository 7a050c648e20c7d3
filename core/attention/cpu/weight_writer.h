// Writes weights of finished rows into the requested attention. Writes in steps while the next rows
// are computed, because the processor would stall on a single large write.
#pragma once

#include <array>

#include "core/attention/cpu/prepared.h"

namespace attnscope::cpu {

// Kernel that writes scaled numbers to a result of `size` numbers. For a large result, the kernel
// bypasses the caches; other threads may then read the result only after a fence.
using ScaleTo = void (*)(float* to, const float* x, std::ptrdiff_t n, float factor);
ScaleTo scale_into(const RowKernels& kernels, Index size);

// Weights of rows with one run of keys each, before division by their sums.
struct WeightBlock {
  Index first_row = 0, rows = 0;  // among the B h L_q rows of the attention
  Tensor p;                       // [rows, p_stride]; column 0 belongs to key first_key
  Index p_stride = 0, first_key = 0;
  std::array<std::int32_t, block_rows> first{}, last{};  // keys [first, last) of each row
  std::array<float, block_rows> factor{};                // 1 / sum of each row
};

class WeightWriter {
 public:
  // attention: [B h, L_q, L_k]; undefined if not requested
  WeightWriter(const RowKernels& kernels, Tensor& attention);

  // Writes the rest of the current block, then swaps it with `block`. plan() divides the remaining
  // work into `steps` calls of advance().
  void submit(WeightBlock& block);
  void plan(Index steps);
  void advance();
  // Writes the remaining weights; other threads may read them afterwards.
  void finish();

 private:
  void write(Index numbers);
  void write_piece(Index begin, Index end);

  Tensor& attention_;
  const Index keys_;
  ScaleTo scale_to_;
  WeightBlock block_;
  Index row_ = 0, column_ = 0;  // next weight of block_ to write
  Index numbers_per_step_ = 0;
};

}  // namespace attnscope::cpu
