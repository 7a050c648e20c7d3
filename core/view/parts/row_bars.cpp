#include "core/view/parts/row_bars.h"

#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

std::string number(double value) {
  if (std::isnan(value)) return "–";
  return std::isinf(value) ? "∞" : brief(value, 2);
}

// NaN sorts first.
bool less(double a, double b) {
  return std::isnan(a) ? !std::isnan(b) : a < b;
}

// Text below the bars: the largest value.
std::string range_label(double longest, bool has_infinite) {
  if (!(longest > 0)) return has_infinite ? "∞" : "";
  return "to " + number(longest) + (has_infinite ? " or ∞" : "");
}

}  // namespace

void draw_row_bars(Page& page, const Box& box, const MatrixPlot& m, const RowBars& bars) {
  const double em = page.em(), size = page.small();
  const auto count = static_cast<Index>(bars.values.size());
  const Index first = std::clamp<Index>(static_cast<Index>(std::floor(m.row)), 0, count);
  const Index last = std::clamp<Index>(static_cast<Index>(std::ceil(m.row + m.height)), 0, count);
  double longest = 0;
  bool has_infinite = false;
  for (Index i = first; i < last; ++i) {
    const double value = bars.values[static_cast<std::size_t>(i)];
    if (std::isfinite(value)) longest = std::max(longest, value);
    has_infinite |= std::isinf(value);
  }
  // If all bars are infinite, they need no scale.
  if (longest > 0 || !has_infinite) longest = std::max(longest, bars.min_range);
  const double row_height = box.height / m.height;
  double widest = 0;
  for (const std::string& text : bars.numbers) widest = std::max(widest, page.width_of(text, size));
  const bool has_numbers =
      !bars.numbers.empty() && row_height >= 1.05 * size && box.width > widest + 2 * em;
  const double max_length = has_numbers ? box.width - widest - 0.8 * em : box.width;
  const auto step = static_cast<Index>(std::max(1.0, std::ceil(1 / (row_height * m.scale))));
  // Separates rows that are high enough.
  constexpr double kMinRow = 3;  // pixels
  const double gap = row_height * m.scale < kMinRow ? 0 : std::min(0.12 * row_height, 2.0);
  page.add(Line{{{box.x, box.y}, {box.x, box.bottom()}}, page.theme().line, 1});
  page.add(Clip{box});
  for (Index i = first; i < last; i += step) {
    const Index end = std::min(i + step, last);
    const double value =
        *std::max_element(bars.values.begin() + i, bars.values.begin() + end, less);
    if (std::isnan(value) || value == 0) continue;
    const double length = std::isinf(value) ? max_length : value / longest * max_length;
    const double top = box.y + (static_cast<double>(i) - m.row) * row_height;
    const bool is_hovered = m.hovered_row >= i && m.hovered_row < end;
    const Colour colour = std::isinf(value) || is_hovered
                              ? page.theme().accent
                              : blend(page.theme().background, page.theme().text, 0.55);
    const double height = row_height * static_cast<double>(end - i) - 2 * gap;
    page.add(FilledBox{{box.x, top + gap, length, height}, colour, 0});
    if (has_numbers) {
      page.text({box.x + length + 0.4 * em, top + row_height / 2},
                bars.numbers[static_cast<std::size_t>(i)], size);
    }
    if (std::isinf(value) && row_height > 1.1 * em) {
      page.add(Text{{box.x + 0.4 * em, top + row_height / 2}, "∞", ink_on(colour), em});
    }
  }
  page.add(Clip{});
  page.faint_text({box.x, box.y - 0.8 * em}, page.fitting(bars.titles, size, box.width), size);
  if (has_numbers) return;
  const bool hovers = m.hovered_row >= 0 && m.hovered_row < count;
  const std::string label = hovers ? number(bars.values[static_cast<std::size_t>(m.hovered_row)])
                                   : range_label(longest, has_infinite);
  const double y = box.bottom() + 0.9 * em;
  const bool has_unit = !bars.unit.empty() && !has_infinite && !label.empty();
  const std::string text = page.fitting(
      {has_unit ? label + " " + bars.unit : label, label, has_infinite && !hovers ? "to ∞" : label},
      size, box.width);
  if (hovers) {
    page.add(Text{{box.x, y}, text, page.theme().accent, size});
  } else {
    page.faint_text({box.x, y}, text, size);
  }
}

}  // namespace attnscope
