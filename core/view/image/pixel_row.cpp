#include "core/view/image/pixel_row.h"

#include <cmath>
#include <limits>

#include "core/view/parts/focus.h"
#include "core/view/parts/pattern_cells.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {

PixelRow pixel_row(const Trace& trace, const AttentionTap& tap, Index head, Index query) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  const PixelGrid& grid = *trace.pixels;
  const Shape shape{grid.height, grid.width};
  PixelRow row{query, Tensor::full(shape, kNone), Tensor::full(shape, kNone), {}, 0, 0, 0, -1};
  row.by_rule.resize(std::max<std::size_t>(1, tap.result.pattern->rules().size()), 0);
  const Tensor weights = attention_row(tap, head, query);  // [L_k]
  for (Index key = 0; key < tap.keys(); ++key) {
    const int rule = rule_of_pair(tap, head, query, key);
    if (rule < 0) continue;
    const Index token = key_token(trace, tap, key), pixel = token - grid.key_shift - grid.before;
    if (token < 0 || !grid.contains(pixel)) {
      ++row.others;
      row.others_weight += static_cast<double>(weights[key]);
      continue;
    }
    row.rules[pixel] = static_cast<float>(rule);
    row.weights[pixel] = weights[key];
    ++row.by_rule[static_cast<std::size_t>(rule)];
    ++row.allowed;
    const bool is_largest =
        row.strongest < 0 || std::abs(weights[key]) > std::abs(row.weights[row.strongest]);
    if (is_largest) row.strongest = pixel;
  }
  return row;
}

Index key_of_pixel(const Trace& trace, const AttentionTap& tap, Index pixel) {
  const Index token = pixel + trace.pixels->key_shift + trace.pixels->before;
  // Token columns are consecutive: they begin at the first column, or end at the last one.
  for (const Index key : {token, token + tap.keys() - tap.queries()}) {
    if (key >= 0 && key < tap.keys() && key_token(trace, tap, key) == token) return key;
  }
  return -1;
}

std::string describe_pixel(const PixelGrid& grid, Index pixel) {
  return "row " + std::to_string(pixel / grid.width) + ", column " +
         std::to_string(pixel % grid.width);
}

}  // namespace attnscope
