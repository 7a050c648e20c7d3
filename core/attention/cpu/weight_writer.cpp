#include "core/attention/cpu/weight_writer.h"

#include <algorithm>
#include <atomic>

namespace attnscope::cpu {
namespace {

constexpr Index max_in_cache = Index{1} << 20;  // maximum size of a result that uses the caches
// Floats per cache line. Pieces of rows end at cache lines.
constexpr Index cache_line = 16;

}  // namespace

ScaleTo scale_into(const RowKernels& kernels, Index size) {
  return size > max_in_cache ? kernels.scale_to_memory : kernels.scale_to;
}

WeightWriter::WeightWriter(const RowKernels& kernels, Tensor& attention)
    : attention_(attention),
      keys_(attention.defined() ? attention.dim(2) : 0),
      scale_to_(scale_into(kernels, attention.size())) {}

void WeightWriter::submit(WeightBlock& block) {
  write(block_.rows * keys_);
  std::swap(block_, block);
  row_ = column_ = 0;
}

void WeightWriter::plan(Index steps) {
  const Index remaining = (block_.rows - row_) * keys_ - column_;
  const Index numbers = steps > 0 ? (remaining + steps - 1) / steps : remaining;
  numbers_per_step_ = (numbers + cache_line - 1) / cache_line * cache_line;
}

void WeightWriter::advance() {
  write(numbers_per_step_);
}

void WeightWriter::finish() {
  write(block_.rows * keys_);
  // Non-temporal stores are unordered until a fence.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void WeightWriter::write(Index numbers) {
  while (numbers > 0 && row_ < block_.rows) {
    const Index count = std::min(numbers, keys_ - column_);
    write_piece(column_, column_ + count);
    numbers -= count;
    column_ += count;
    if (column_ == keys_) {
      column_ = 0;
      ++row_;
    }
  }
}

// Writes weights of row row_ for keys [begin, end), zeros for keys that the row does not see.
void WeightWriter::write_piece(Index begin, Index end) {
  const auto n = static_cast<std::size_t>(row_);
  const Index first = std::clamp<Index>(block_.first[n], begin, end);
  const Index last = std::clamp<Index>(block_.last[n], first, end);
  float* to = attention_.data() + (block_.first_row + row_) * keys_;
  std::fill(to + begin, to + first, 0.0F);
  if (first < last) {
    scale_to_(to + first, block_.p.data() + row_ * block_.p_stride + (first - block_.first_key),
              last - first, block_.factor[n]);
    // The weight of a single key is 1; x * (1 / x) may differ by rounding.
    if (block_.last[n] - block_.first[n] == 1) to[first] = 1;
  }
  std::fill(to + last, to + end, 0.0F);
}

}  // namespace attnscope::cpu
