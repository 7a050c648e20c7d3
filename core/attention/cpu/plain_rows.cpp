#include "core/attention/cpu/plain_rows.h"

#include <algorithm>
#include <cmath>

#include "core/base/stop.h"

namespace attnscope::cpu {
namespace {

constexpr double log2_e = 1.4426950408889634;
constexpr double ln_2 = 0.6931471805599453;
// The smallest exponential, 2^(-2 max_shift), is still a normal number.
constexpr float max_shift = 62;
// Keys per step: their panels and values stay in the L2 cache for all rows. With fewer keys, the
// outputs of the rows would be read and written more often.
constexpr Index min_keys = 2 * panel_width, max_keys = 8 * panel_width;
constexpr Index key_numbers_per_step = Index{1} << 15;
// Rectangles with a smaller fraction of allowed pairs use the general pass.
constexpr double min_plain_fill = 0.3;
// Number of weights of a step. These fit the L2 cache, together with the weights being written.
constexpr Index weights_per_step = Index{1} << 16;

Index choose_keys_per_step(Index row_size) {
  const Index fitting_keys = key_numbers_per_step / std::max<Index>(row_size, 1);
  return std::clamp(fitting_keys / panel_width * panel_width, min_keys, max_keys);
}

// Prefetches rows [r, r + count) into the L2 cache, unless `rows` is null. L1 would accept too few
// requests at once. The function is inlined because GCC drops calls of functions whose only effect
// is a prefetch.
[[gnu::always_inline]] inline void prefetch_rows(const float* rows, Index r, Index count,
                                                 Index size) {
  constexpr Index cache_line = 16;  // in floats
  if (rows == nullptr) return;
  rows += r * size;
  for (Index n = 0; n < count * size; n += cache_line) __builtin_prefetch(rows + n, 0, 2);
}

}  // namespace

PlainRows::PlainRows(const Prepared& prepared, const ResultRequest& wanted, PartResult& result)
    : prepared_(prepared),
      wanted_(wanted),
      result_(result),
      is_supported_(prepared.is_plain_softmax() && !wanted.scores && prepared.part.v.defined()),
      keys_per_step_(choose_keys_per_step(prepared.key_size + prepared.value_size)),
      writer_(prepared.kernels, result.attention),
      panels_(prepared) {
  if (!is_supported_) return;
  scaled_q_ = Tensor({block_rows, prepared.key_size});
  output_ = Tensor({block_rows, prepared.value_size});
  sums_ = Tensor({block_rows, sum_lanes});
  block_.p_stride = keys_per_step_;
  if (wanted.attention) {
    const Index fitting_rows = weights_per_step / std::max<Index>(prepared.keys, 1);
    rows_per_step_ = std::clamp(fitting_rows / group_rows * group_rows, 2 * group_rows, block_rows);
  } else {
    block_.p = Tensor({max_step_rows, keys_per_step_});
  }
}

Index PlainRows::run(Index pair, Index row, Index end) {
  if (!is_supported_ || prepared_.clamps_overflow) return row;
  pair_ = pair;
  while (row < end && !is_stopping()) {
    const Index next = std::min(row + rows_per_step_, end);
    if (!run_rows(row, next)) break;
    row = next;
  }
  return row;
}

bool PlainRows::run_rows(Index row, Index end) {
  row_ = row;
  rows_ = end - row;
  if (!find_keys()) return false;
  const Group keys = all_keys();
  const Index first_panel = keys.begin / panel_width;
  const Index end_panel = (keys.end + panel_width - 1) / panel_width;
  if (!panels_.load(prepared_.key_head(pair_), first_panel, end_panel)) return false;
  if (!scale_queries()) return false;
  block_.first_key = first_panel * panel_width;
  find_next_rows();
  if (wanted_.attention) {
    block_.first_row = pair_ * prepared_.queries + row;
    block_.rows = rows_;
    block_.p_stride = (end_panel - first_panel) * panel_width + panel_width / 2;
    const Index size = rows_per_step_ * block_.p_stride;
    if (!block_.p.defined() || block_.p.size() < size) block_.p = Tensor({size});
  }
  std::fill(sums_.begin(), sums_.end(), 0.0F);
  writer_.plan((keys.end - block_.first_key + keys_per_step_ - 1) / keys_per_step_);
  for (Index key = block_.first_key; key < keys.end; key += keys_per_step_) {
    if (is_stopping()) return true;
    add_keys(key, key + keys_per_step_);
    writer_.advance();
  }
  report();
  return true;
}

// Finds the keys of rows and row groups. Returns false if a row has gaps or too few allowed pairs.
bool PlainRows::find_keys() {
  const Pattern& pattern = *prepared_.part.pattern;
  Index pairs = 0, cells = 0;
  for (Index r = 0; r < rows_; r += group_rows) {
    Group& group = group_of(r);
    group = {prepared_.keys, 0};
    const Index end = std::min(r + group_rows, rows_);
    for (Index n = r; n < end; ++n) {
      const Pattern::Row runs = pattern.row(pair_ % prepared_.heads, row_ + n);
      const auto i = static_cast<std::size_t>(n);
      block_.first[i] = block_.last[i] = 0;
      if (runs.empty()) continue;
      block_.first[i] = runs.first->begin;
      for (const Run& run : runs) {  // adjacent runs may belong to different rules
        if (run.step != 1 || (block_.last[i] != 0 && run.begin != block_.last[i])) return false;
        block_.last[i] = run.end;
      }
      group.begin = std::min<Index>(group.begin, block_.first[i]);
      group.end = std::max<Index>(group.end, block_.last[i]);
      pairs += block_.last[i] - block_.first[i];
    }
    if (group.begin >= group.end) {
      group = {};
    } else {
      cells += (end - r) * (group.end - group.begin);
    }
  }
  return static_cast<double>(pairs) >= min_plain_fill * static_cast<double>(cells);
}

// Smallest range that contains the keys of all groups; [0, 0) if there are none.
PlainRows::Group PlainRows::all_keys() {
  Group keys{prepared_.keys, 0};
  for (Index r = 0; r < rows_; r += group_rows) {
    const Group& group = group_of(r);
    if (group.begin == group.end) continue;
    keys.begin = std::min(keys.begin, group.begin);
    keys.end = std::max(keys.end, group.end);
  }
  return keys.end == 0 ? Group{} : keys;
}

// Scales the queries and bounds their scores. Returns false if a bound is too large.
bool PlainRows::scale_queries() {
  const Index size = prepared_.key_size;
  const float* q = prepared_.q(pair_, row_);
  const auto factor = static_cast<float>(log2_e * prepared_.part.scale);
  prepared_.kernels.scale_to(scaled_q_.data(), q, rows_ * size, factor);
  for (Index r = 0; r < rows_; ++r) {
    const float* row = scaled_q_.data() + r * size;
    const float bound = std::sqrt(prepared_.kernels.dot(row, row, size)) * panels_.max_norm();
    const float shift = std::ceil(bound * 1.001F) + 1;  // an upper bound despite rounding
    if (!(shift <= max_shift)) return false;
    shift_[static_cast<std::size_t>(r)] = shift;
  }
  return true;
}

// Adds keys [begin, end); `begin` is the first key of a panel.
void PlainRows::add_keys(Index begin, Index end) {
  const auto range = [&](Index r) {
    const Group& group = group_of(r);
    const Index key = std::max(begin, group.begin / panel_width * panel_width);
    return KeyRange{key, std::max(key, group.begin), std::min(end, group.end)};
  };
  for (Index r = 0; r < rows_;) {
    const KeyRange keys = range(r);
    const bool is_first = keys.first == group_of(r).begin;
    Index next = r + group_rows;  // kernels compute tall blocks faster
    while (next < std::min(rows_, r + max_step_rows) && range(next) == keys &&
           is_first == (keys.first == group_of(next).begin)) {
      next += group_rows;
    }
    const Index rows = std::min(next, rows_) - r;
    if (keys.panel < keys.end) add_rectangle(r, rows, keys, is_first);
    r = next;
  }
}

// Adds the keys to the sums of rows [r, r + rows); `is_first`: these are the rows' first keys.
void PlainRows::add_rectangle(Index r, Index rows, const KeyRange& keys, bool is_first) {
  const Index size = prepared_.key_size, value_size = prepared_.value_size, key = keys.panel;
  std::array<std::int32_t, max_step_rows> first{}, last{};  // keys [first, last), relative to `key`
  for (Index n = 0; n < rows; ++n) {
    const auto i = static_cast<std::size_t>(n), row = static_cast<std::size_t>(r + n);
    first[i] = block_.first[row] - static_cast<std::int32_t>(key);
    last[i] = block_.last[row] - static_cast<std::int32_t>(key);
  }
  float* p = block_.p.data();  // all rectangles reuse this memory unless weights are requested
  if (wanted_.attention) p += r * block_.p_stride + (key - block_.first_key);
  if (is_first) {
    prefetch_rows(next_q_, r, rows, size);
    prefetch_rows(next_k_, r, rows, size);
  }
  prepared_.kernels.powers(rows, (keys.first - key) / sum_lanes * sum_lanes,
                           (keys.end - key + sum_lanes - 1) / sum_lanes * sum_lanes, size,
                           scaled_q_.data() + r * size, size, panels_.panel(key / panel_width),
                           shift_.data() + r, first.data(), last.data(), p, block_.p_stride,
                           sums_.data() + r * sum_lanes);
  if (!wanted_.output || value_size == 0) return;
  if (is_first) prefetch_rows(next_v_, r, rows, value_size);
  prepared_.kernels.multiply(rows, value_size, keys.end - keys.first, p + (keys.first - key),
                             block_.p_stride, 1, prepared_.v(pair_) + keys.first * value_size,
                             value_size, output_.data() + r * value_size, value_size, !is_first);
}

// Finds the rows to prefetch for the next block; forward.cpp visits blocks in descending order.
// Sets null pointers unless each block needs few keys: memory reads dominate only then.
void PlainRows::find_next_rows() {
  next_q_ = next_k_ = next_v_ = nullptr;
  const Index key = block_.first_key - block_rows;
  if (prepared_.packed_k.defined() || row_ < block_rows || key < 0) return;
  next_q_ = prepared_.q(pair_, row_ - block_rows);
  next_k_ = prepared_.k(pair_) + key * prepared_.key_size;
  next_v_ = prepared_.v(pair_) + key * prepared_.value_size;
}

void PlainRows::report() {
  const Index value_size = prepared_.value_size;
  const Index first_row = pair_ * prepared_.queries + row_;
  const ScaleTo scale_to = scale_into(prepared_.kernels, result_.output.size());
  for (Index r = 0; r < rows_; ++r) {
    const auto n = static_cast<std::size_t>(r);
    const float sum = prepared_.kernels.sum(sums_.data() + r * sum_lanes, sum_lanes);
    block_.factor[n] = sum == 0 ? 0 : 1 / sum;
    if (wanted_.output) {
      if (sum == 0) std::fill_n(output_.data() + r * value_size, value_size, 0.0F);
      scale_to(result_.output.data() + (first_row + r) * value_size,
               output_.data() + r * value_size, value_size, block_.factor[n]);
    }
    if (result_.log_sum_exp.defined()) {
      result_.log_sum_exp[first_row + r] =
          sum == 0 ? -infinity : static_cast<float>(ln_2 * shift_[n] + std::log(sum));
    }
  }
  if (wanted_.attention) writer_.submit(block_);
}

}  // namespace attnscope::cpu
