#include "core/view/parts/not_allowed.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/view/parts/cached_numbers.h"
#include "core/view/parts/pattern_cells.h"

namespace attnscope {
namespace {

Index pattern_head(const AttentionTap& tap, Index head) {
  return tap.result.pattern->heads() > 1 ? head : 0;
}

// Draws the NaN cells of `rules`, which are the excluded pairs, over the weights.
void draw_excluded(Page& page, HeatMap rules) {
  rules.hollow = true;
  rules.missing = excluded_colour(page.theme());
  page.add(std::move(rules));
}

HeatMap rules_map(const HeatMap& cells) {
  HeatMap rules;
  rules.box = cells.box;
  rules.row = cells.row;
  rules.column = cells.column;
  rules.height = cells.height;
  rules.width = cells.width;
  return rules;
}

bool have_equal_regions(const HeatMap& a, const HeatMap& b) {
  return a.row == b.row && a.column == b.column && a.height == b.height && a.width == b.width;
}

// True if the rules of all pairs are equal.
bool have_equal_rules(const AttentionTap& a, Index a_head, const AttentionTap& b, Index b_head) {
  const Pattern &p = *a.result.pattern, &q = *b.result.pattern;
  if (a.result.mask.defined() || b.result.mask.defined()) return false;
  if (p.queries() != q.queries() || p.keys() != q.keys()) return false;
  for (Index i = 0; i < p.queries(); ++i) {
    const Pattern::Row x = p.row(pattern_head(a, a_head), i), y = q.row(pattern_head(b, b_head), i);
    const auto equal = [](const Run& r, const Run& s) {
      return std::tie(r.begin, r.end, r.step, r.rule) == std::tie(s.begin, s.end, s.step, s.rule);
    };
    if (!std::equal(x.begin(), x.end(), y.begin(), y.end(), equal)) return false;
  }
  return true;
}

}  // namespace

Colour excluded_colour(const Theme& theme) {
  return blend(theme.background, theme.line, 0.3);
}

bool has_excluded_pairs(const AttentionTap& tap, Index head) {
  const Pattern& pattern = *tap.result.pattern;
  if (tap.result.mask.defined()) return true;
  for (Index i = 0; i < pattern.queries(); ++i) {
    if (pattern.row_size(pattern_head(tap, head), i) < pattern.keys()) return true;
  }
  return false;
}

void set_rules(HeatMap& cells, const ViewInput& input, const AttentionTap& tap, Index head) {
  const std::shared_ptr<const Pattern>& pattern = tap.result.pattern;
  if (tap.result.mask.defined()) {
    cells.values = masked_rules(*pattern, tap.result.mask, head);
    return;
  }
  const PatternWindow w =
      pattern_window(tap.queries(), tap.keys(), cells.row, cells.column, cells.height, cells.width);
  const CacheKey key("rules", tap.address.layer, pattern_head(tap, head), w.row, w.column, w.height,
                     w.width);
  cells.values = cached_matrix(
      input, key, [&] { return pattern_rules(*pattern, head, w); }, pattern);
  const auto in_blocks = [](double& origin, Index first, Index step) {
    origin = (origin - static_cast<double>(first)) / static_cast<double>(step);
  };
  in_blocks(cells.row, w.row, w.row_step);
  in_blocks(cells.column, w.column, w.column_step);
  cells.height /= static_cast<double>(w.row_step);
  cells.width /= static_cast<double>(w.column_step);
}

bool cover_excluded(Page& page, const HeatMap& cells, const AttentionTap& tap, Index head) {
  if (!has_excluded_pairs(tap, head)) return false;
  HeatMap rules = rules_map(cells);
  set_rules(rules, page.input(), tap, head);
  draw_excluded(page, std::move(rules));
  return true;
}

bool cover_excluded(Page& page, const HeatMap& cells, const AttentionTap& tap, Index head,
                    const Tensor& weights) {
  if (!has_excluded_pairs(tap, head)) return false;
  HeatMap rules = rules_map(cells);
  set_rules(rules, page.input(), tap, head);
  if (rules.values.shape() != weights.shape()) return false;  // `rules` merges pairs
  rules.values = rules.values.copy();
  for (Index i = 0; i < weights.size(); ++i) {
    if (weights[i] != 0 && std::isnan(rules.values[i])) rules.values[i] = 0;
  }
  draw_excluded(page, std::move(rules));
  return true;
}

bool ExcludedPairs::cover(Page& page, const HeatMap& cells, const AttentionTap& tap, Index head) {
  if (!has_excluded_pairs(tap, head)) return false;
  auto known = std::ranges::find_if(covered_, [&](const Covered& c) {
    return have_equal_regions(c.cells, cells) && have_equal_rules(*c.tap, c.head, tap, head);
  });
  if (known == covered_.end()) {
    HeatMap rules = rules_map(cells);
    set_rules(rules, page.input(), tap, head);
    known = covered_.insert(covered_.end(), {&tap, head, cells, std::move(rules)});
    known->cells.values = {};  // only the region is compared
  }
  HeatMap rules = known->rules;
  rules.box = cells.box;
  draw_excluded(page, std::move(rules));
  return true;
}

void draw_excluded_legend(Page& page, double bar_x, double y) {
  const double em = page.em(), swatch = 0.8 * em, gap = 0.4 * em;
  const std::string text = "not allowed";
  const double x = bar_x + swatch + gap;
  if (x + page.width_of(text, page.small()) > page.input().canvas.width) return;
  const Box box{bar_x, y - swatch / 2, swatch, swatch};
  page.add(FilledBox{box, excluded_colour(page.theme())});
  page.add(OutlinedBox{box, page.theme().line, 1});
  page.faint_text({x, y}, text, page.small());
}

}  // namespace attnscope
