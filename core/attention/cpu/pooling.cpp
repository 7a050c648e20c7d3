#include "core/attention/cpu/pooling.h"

#include <bit>
#include <cmath>

namespace attnscope::cpu {
namespace {

// True if Pooling::Max selects `a` and not `b`.
bool is_stronger(float a, float b) {
  const float size_a = std::abs(a), size_b = std::abs(b);
  return size_a > size_b || (size_a == size_b && a > b);
}

}  // namespace

void CellRow::begin(float* cells, Index rows) {
  cells_ = cells;
  rows_ = rows;
  line_extent_ = {request_.width, 0};
  if (request_.step == 1) {
    line_ = cells;
  } else {
    line_buffer_.resize(static_cast<std::size_t>(request_.width));
    line_ = line_buffer_.data();
  }
  std::fill_n(line_, request_.width, pools_scores() ? -infinity : 0.0F);
}

void CellRow::add(const Tile& tile, Index r, float* scores, float sum) {
  const Extent extent = tile.extent(r);
  const Index count = extent.end - extent.begin;
  if (count <= 0 || (is_softmax_ && std::isinf(sum))) return;
  float* numbers = scores + extent.begin;
  if (is_softmax_ && !pools_scores()) kernels_.exponentials(numbers, count, sum);
  if (is_normalised_ && !is_softmax_) kernels_.scale(numbers, count, sum == 0 ? 0 : 1 / sum);
  const Index first = tile.columns[extent.begin] - request_.column;
  const Index last = tile.columns[extent.end - 1] - request_.column;
  line_extent_ = {std::min(line_extent_.begin, first), std::max(line_extent_.end, last + 1)};
  if (last - first == count - 1) {
    add_line(numbers, first, count, sum);
  } else {
    add_scattered(tile, numbers, extent, sum);
  }
}

void CellRow::add_line(float* numbers, Index first, Index count, float shift) {
  float* line = line_ + first;
  if (pools_scores()) {
    kernels_.update_maximum(line, numbers, count, shift);
  } else if (request_.pooling == Pooling::Mean) {
    kernels_.add_scaled(line, numbers, count, 1);
  } else {
    for (Index x = 0; x < count; ++x)
      line[x] = is_stronger(numbers[x], line[x]) ? numbers[x] : line[x];
  }
}

void CellRow::add_scattered(const Tile& tile, const float* numbers, Extent extent, float shift) {
  for (Index x = extent.begin; x < extent.end; ++x) {
    float& to = line_[tile.columns[x] - request_.column];
    const float number = numbers[x - extent.begin];
    if (pools_scores()) {
      to = std::max(to, number - shift);
    } else if (request_.pooling == Pooling::Mean) {
      to += number;
    } else if (is_stronger(number, to)) {
      to = number;
    }
  }
}

void CellRow::finish() {
  const Index step = request_.step;
  if (line_extent_.begin >= line_extent_.end) {
    std::fill_n(cells_, request_.cell_columns(), 0.0F);
    return;
  }
  const Index first = line_extent_.begin / step, last = (line_extent_.end + step - 1) / step;
  if (step > 1) pool_neighbours();
  std::fill(cells_, cells_ + first, 0.0F);
  std::fill(cells_ + last, cells_ + request_.cell_columns(), 0.0F);
  if (pools_scores()) kernels_.exponentials(cells_ + first, last - first, 0);
  if (request_.pooling == Pooling::Max) return;
  for (Index c = first; c < last; ++c) {
    const Index pairs = rows_ * std::min(step, request_.width - c * step);
    cells_[c] /= static_cast<float>(pairs);
  }
}

// Pools the columns of line_extent_ into cells.
void CellRow::pool_neighbours() {
  const Index step = request_.step;
  Index c = line_extent_.begin / step;
  if (std::has_single_bit(static_cast<std::size_t>(step)) &&
      (pools_scores() || request_.pooling == Pooling::Mean)) {
    // Pools all whole cells by repeated halving. Columns outside line_extent_ are 0 or -infinity.
    const Index cells = std::min((line_extent_.end + step - 1) / step, request_.width / step) - c;
    const auto halve = pools_scores() ? kernels_.max_of_pairs : kernels_.sum_of_pairs;
    const float* from = line_ + c * step;
    for (Index width = step; width > 1 && cells > 0; width /= 2) {
      float* to = width == 2 ? cells_ + c : line_buffer_.data() + c * step;
      halve(to, from, cells * width / 2);
      from = to;
    }
    c += std::max<Index>(cells, 0);
  }
  for (; c * step < line_extent_.end; ++c) {
    const float* const end = line_ + std::min((c + 1) * step, request_.width);
    float cell = pools_scores() ? -infinity : 0;
    for (const float* x = line_ + c * step; x < end; ++x) {
      if (pools_scores()) {
        cell = std::max(cell, *x);
      } else if (request_.pooling == Pooling::Mean) {
        cell += *x;
      } else if (is_stronger(*x, cell)) {
        cell = *x;
      }
    }
    cells_[c] = cell;
  }
}

}  // namespace attnscope::cpu
