#include "core/view/parts/pattern_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/analysis/cost.h"
#include "core/base/parallel.h"

namespace attnscope {
namespace {

constexpr Index kMaxCells = 2048;  // cells along one axis
constexpr float kNotAllowed = std::numeric_limits<float>::quiet_NaN();

// Patterns shared by all heads have one head.
Index pattern_head(const Pattern& pattern, Index head) {
  return pattern.heads() > 1 ? head : 0;
}

void raise(float& cell, int rule) {
  const auto value = static_cast<float>(rule);
  if (!(cell >= value)) cell = value;  // replaces NaN, too
}

void draw_run(const Run& run, const PatternWindow& w, float* cells) {
  const Index begin = std::max<Index>(run.begin, w.column);
  const Index end = std::min<Index>(run.end, w.column + w.width);
  if (begin >= end) return;
  if (run.step == 1) {  // contiguous keys: visits each block once
    const Index last = (end - 1 - w.column) / w.column_step;
    for (Index b = (begin - w.column) / w.column_step; b <= last; ++b) raise(cells[b], run.rule);
    return;
  }
  const Index skipped = (begin - run.begin + run.step - 1) / run.step;
  for (Index c = run.begin + skipped * run.step; c < end; c += run.step) {
    raise(cells[(c - w.column) / w.column_step], run.rule);
  }
}

Index block_count(Index count, Index step) {
  return (count + step - 1) / step;
}

}  // namespace

PatternWindow pattern_window(Index queries, Index keys, double row, double column, double height,
                             double width) {
  PatternWindow window{0, 0, queries, keys, 1, 1};
  if (queries <= kMaxCells && keys <= kMaxCells) return window;
  const auto cut = [](double first, double extent, Index count, Index& from, Index& size,
                      Index& step) {
    const auto clamped = [count](double v) {
      return static_cast<Index>(std::clamp(v, 0.0, static_cast<double>(count)));
    };
    from = clamped(std::floor(first));
    size = clamped(std::ceil(first + extent)) - from;
    step = std::max<Index>(1, block_count(size, kMaxCells));
  };
  cut(row, height, queries, window.row, window.height, window.row_step);
  cut(column, width, keys, window.column, window.width, window.column_step);
  return window;
}

Tensor pattern_rules(const Pattern& pattern, Index head, const PatternWindow& w) {
  const Index columns = block_count(w.width, w.column_step);
  Tensor cells = Tensor::full({block_count(w.height, w.row_step), columns}, kNotAllowed);
  head = pattern_head(pattern, head);
  parallel_for(cells.dim(0), 64, [&](Index begin, Index end) {
    for (Index block = begin; block < end; ++block) {
      const Index first = w.row + block * w.row_step;
      const Index last = std::min(first + w.row_step, w.row + w.height);
      for (Index i = first; i < last; ++i) {
        for (const Run& run : pattern.row(head, i)) {
          draw_run(run, w, cells.data() + block * columns);
        }
      }
    }
  });
  return cells;
}

Tensor masked_rules(const Pattern& pattern, const ByteTensor& mask, Index head) {
  const Index queries = mask.dim(-2), keys = mask.dim(-1);
  Tensor cells = pattern_rules(
      pattern, head,
      pattern_window(queries, keys, 0, 0, static_cast<double>(queries), static_cast<double>(keys)));
  if (cells.size() != queries * keys) {  // cells are blocks: computes each pair
    cells = pattern_rules(pattern, head, {0, 0, queries, keys, 1, 1});
  }
  const std::uint8_t* allowed = mask.data() + head * queries * keys;
  for (Index i = 0; i < cells.size(); ++i) {
    if (allowed[i] == 0) {
      cells[i] = kNotAllowed;
    } else if (std::isnan(cells[i])) {
      cells[i] = 0;
    }
  }
  return cells;
}

int rule_of_pair(const AttentionTap& tap, Index head, Index query, Index key) {
  const Pattern& pattern = *tap.result.pattern;
  const int rule = pattern.rule(pattern_head(pattern, head), query, key);
  const ByteTensor& mask = tap.result.mask;
  if (!mask.defined()) return rule;
  const bool allowed = mask[(head * tap.queries() + query) * tap.keys() + key] != 0;
  return allowed ? std::max(rule, 0) : -1;
}

PatternCounts pattern_counts(const AttentionTap& tap, Index head) {
  const Pattern& pattern = *tap.result.pattern;
  const Index queries = pattern.queries(), keys = pattern.keys();
  PatternCounts counts;
  counts.by_rule.resize(std::max<std::size_t>(1, pattern.rules().size()), 0);
  counts.all = queries * keys;
  if (tap.result.mask.defined()) {
    const Tensor rules = masked_rules(pattern, tap.result.mask, head);
    for (const float rule : rules) {
      if (!std::isnan(rule)) ++counts.by_rule[static_cast<std::size_t>(rule)];
    }
  } else {
    for (Index i = 0; i < queries; ++i) {
      for (const Run& run : pattern.row(pattern_head(pattern, head), i)) {
        counts.by_rule[static_cast<std::size_t>(run.rule)] += run.count();
      }
    }
  }
  for (const Index n : counts.by_rule) counts.allowed += n;
  const HeadCost cost = head_cost(tap, head);
  counts.cost = cost.products;
  counts.full = cost.full;
  counts.causal = cost.causal;
  return counts;
}

}  // namespace attnscope
