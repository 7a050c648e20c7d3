#include "core/attention/cpu/plain_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope::cpu {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double log2_e = 1.4426950408889634;
constexpr double ln_2 = 0.6931471805599453;
// 2^-62 times 2^-62 is the smallest that comes up, and still a normal number.
constexpr float largest_shift = 62;
// Keys at a time: panels of keys and their values stay in the nearest cache for all rows.
constexpr Index keys_together = 2 * panel_width;
// Rectangles with fewer pairs than this share are for the general pass.
constexpr double least_fill = 0.3;
// Larger results (in numbers) do not stay in a cache until somebody reads them.
constexpr Index most_in_cache = Index{1} << 20;

}  // namespace

PlainRows::PlainRows(const Prepared& prepared, const Wanted& wanted, PartResult& result)
    : prepared_(prepared),
      wanted_(wanted),
      result_(result),
      applies_(prepared.plain() && !wanted.scores && prepared.part.v.defined()) {
  if (!applies_) return;
  scaled_q_ = Tensor({block_rows, prepared.key_size});
  sums_ = Tensor({block_rows, sum_lanes});
  if (!wanted.attention) p_ = Tensor({group_rows, keys_together});
}

bool PlainRows::run(Index pair, Index row, Index end, const Stop& stop) {
  if (!applies_ || prepared_.careful) return false;
  pair_ = pair;
  row_ = row;
  rows_ = end - row;
  if (!find_keys() || !scale_queries()) return false;
  Index begin = prepared_.keys, last = 0;
  for (Index r = 0; r < rows_; r += group_rows) {
    const Group& group = group_of(r);
    if (group.begin == group.end) continue;
    begin = std::min(begin, group.begin);
    last = std::max(last, group.end);
  }
  first_panel_ = begin / panel_width;
  p_row_ = keys_together;
  if (wanted_.attention) {
    const Index width = std::max<Index>(last - first_panel_ * panel_width, 0);
    p_row_ = (width + panel_width - 1) / panel_width * panel_width + panel_width / 2;
    if (!p_.defined() || p_.size() < block_rows * p_row_) p_ = Tensor({block_rows, p_row_});
  }
  std::fill(sums_.begin(), sums_.end(), 0.0F);
  if (wanted_.output) {
    float* output = result_.output.data() + (pair * prepared_.queries + row) * prepared_.value_size;
    std::fill_n(output, rows_ * prepared_.value_size, 0.0F);
  }
  for (Index key = first_panel_ * panel_width; key < last; key += keys_together) {
    if (stop.requested()) return true;
    add_keys(key, key + keys_together);
  }
  report();
  return true;
}

// The keys of each row and group; false when they are not worth rectangles.
bool PlainRows::find_keys() {
  const Pattern& pattern = *prepared_.part.pattern;
  Index pairs = 0, cells = 0;
  for (Index r = 0; r < rows_; r += group_rows) {
    Group& group = group_of(r);
    group = {prepared_.keys, 0};
    const Index end = std::min(r + group_rows, rows_);
    for (Index n = r; n < end; ++n) {
      const Pattern::Row runs = pattern.row(pair_ % prepared_.heads, row_ + n);
      const auto at = static_cast<std::size_t>(n);
      first_[at] = last_[at] = 0;
      if (runs.empty()) continue;
      first_[at] = runs.first->begin;
      for (const Run& run : runs) {  // rules may divide one run of keys
        if (run.step != 1 || (last_[at] != 0 && run.begin != last_[at])) return false;
        last_[at] = run.end;
      }
      group.begin = std::min<Index>(group.begin, first_[at]);
      group.end = std::max<Index>(group.end, last_[at]);
      pairs += last_[at] - first_[at];
    }
    if (group.begin >= group.end) {
      group = {};
    } else {
      cells += (end - r) * (group.end - group.begin);
    }
  }
  return static_cast<double>(pairs) >= least_fill * static_cast<double>(cells);
}

// False when a score might be too large.
bool PlainRows::scale_queries() {
  const Index size = prepared_.key_size;
  const float* q = prepared_.q(pair_, row_);
  const auto factor = static_cast<float>(log2_e * prepared_.part.scale);
  prepared_.kernels.scale_to(scaled_q_.data(), q, rows_ * size, factor);
  const float key_norm = prepared_.key_norms[static_cast<std::size_t>(prepared_.key_head(pair_))];
  for (Index r = 0; r < rows_; ++r) {
    const float* row = scaled_q_.data() + r * size;
    const float bound = std::sqrt(prepared_.kernels.dot(row, row, size)) * key_norm;
    const float shift = std::ceil(bound * 1.001F) + 1;  // above what rounding may add
    if (!(shift <= largest_shift)) return false;
    shift_[static_cast<std::size_t>(r)] = shift;
  }
  return true;
}

// Keys [begin, end), where begin is the first of a panel.
void PlainRows::add_keys(Index begin, Index end) {
  const Index size = prepared_.key_size, value_size = prepared_.value_size;
  float* output = wanted_.output ? result_.output.data() : nullptr;
  for (Index r = 0; r < rows_; r += group_rows) {
    const Group& group = group_of(r);
    const Index key = std::max(begin, group.begin / panel_width * panel_width);
    const Index key_end = std::min(end, group.end);
    if (key >= key_end) continue;
    const Index rows = std::min(group_rows, rows_ - r);
    std::array<std::int32_t, group_rows> first{}, last{};  // counted from `key`
    for (Index n = 0; n < rows; ++n) {
      const auto at = static_cast<std::size_t>(n), of = static_cast<std::size_t>(r + n);
      first[at] = first_[of] - static_cast<std::int32_t>(key);
      last[at] = last_[of] - static_cast<std::int32_t>(key);
    }
    float* p = p_.data();  // nobody needs those of other groups, unless they are asked for
    if (wanted_.attention) p += r * p_row_ + (key - first_panel_ * panel_width);
    prepared_.kernels.powers(
        rows, (key_end - key + panel_width - 1) / panel_width, size, scaled_q_.data() + r * size,
        size, prepared_.packed_k.panel(prepared_.key_head(pair_), key / panel_width),
        shift_.data() + r, first.data(), last.data(), p, p_row_, sums_.data() + r * sum_lanes);
    if (output == nullptr || value_size == 0) continue;
    const Index used = std::max(key, group.begin);
    prepared_.kernels.multiply(rows, value_size, key_end - used, p + (used - key), p_row_, 1,
                               prepared_.v(pair_) + used * value_size, value_size,
                               output + (pair_ * prepared_.queries + row_ + r) * value_size,
                               value_size, true);
  }
}

void PlainRows::report() {
  const Index value_size = prepared_.value_size, keys = prepared_.keys;
  const Index at = pair_ * prepared_.queries + row_;
  for (Index r = 0; r < rows_; ++r) {
    const auto n = static_cast<std::size_t>(r);
    const float sum = prepared_.kernels.sum(sums_.data() + r * sum_lanes, sum_lanes);
    const float factor = sum == 0 ? 0 : 1 / sum;
    if (wanted_.output) {
      prepared_.kernels.scale(result_.output.data() + (at + r) * value_size, value_size, factor);
    }
    if (result_.log_sum_exp.defined()) {
      result_.log_sum_exp[at + r] =
          sum == 0 ? -infinity : static_cast<float>(ln_2 * shift_[n] + std::log(sum));
    }
    if (wanted_.attention) {
      float* to = result_.attention.data() + (at + r) * keys;
      const float* p = p_.data() + r * p_row_ + (first_[n] - first_panel_ * panel_width);
      std::fill(to, to + first_[n], 0.0F);
      const auto scale_to = result_.attention.size() > most_in_cache
                                ? prepared_.kernels.scale_to_memory
                                : prepared_.kernels.scale_to;
      scale_to(to + first_[n], p, last_[n] - first_[n], factor);
      if (last_[n] - first_[n] == 1) to[first_[n]] = 1;  // x * (1 / x) may miss it by a bit
      std::fill(to + last_[n], to + keys, 0.0F);
    }
  }
}

}  // namespace attnscope::cpu
