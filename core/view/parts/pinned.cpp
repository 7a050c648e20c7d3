#include "core/view/parts/pinned.h"

#include <algorithm>
#include <cmath>

#include "core/view/parts/legend.h"
#include "core/view/parts/weight_text.h"

namespace attnscope {
namespace {

constexpr double kRowHeight = 5.2, kColumnWidth = 6.4;  // em: gap, bars and numbers
constexpr double kPinnedGap = 0.7;                      // em between plot and bars
constexpr double kNameGap = 0.4;  // em, added to kPinnedGap before the key's name
constexpr double kBarSize = 3.0;  // em
constexpr double kPinnedLabelHeight = 1.2, kPinnedLabelWidth = 3.4;  // em: size of a number
constexpr double kMaxBars = 400;                                     // more are drawn as a line

// A bar for a visible cell, or for the largest of the cells within one pixel.
struct Bar {
  double from, to;  // pixels along the plot's edge
  float weight;
};

std::vector<Bar> bars_of(const AxisPlace& place, Index count,
                         const std::function<float(Index)>& weight) {
  const auto first = static_cast<Index>(std::clamp(std::floor(place.first), 0.0, double(count)));
  const auto last =
      static_cast<Index>(std::clamp(std::ceil(place.first + place.extent), 0.0, double(count)));
  const Index step = std::max<Index>(1, static_cast<Index>(std::ceil(1 / place.cell())));
  std::vector<Bar> bars;
  for (Index i = first; i < last; i += step) {
    float largest = 0;
    for (Index j = i; j < std::min(i + step, last); ++j) {
      if (std::abs(weight(j)) > std::abs(largest)) largest = weight(j);
    }
    const auto pixel = [&](Index cell) {
      return std::clamp(place.from + (static_cast<double>(cell) - place.first) * place.cell(),
                        place.from, place.from + place.length);
    };
    bars.push_back({pixel(i), pixel(std::min(i + step, count)), largest});
  }
  return bars;
}

float largest(const std::vector<Bar>& bars) {
  float maximum = 0;
  for (const Bar& bar : bars) maximum = std::max(maximum, std::abs(bar.weight));
  return maximum;
}

// Bars with a number, the largest first. Omits numbers that would overlap, and bars that are
// negligible compared with the largest.
std::vector<Bar> labelled_bars(std::vector<Bar> bars, const AxisPlace& place, double min_distance) {
  constexpr double kMinFraction = 0.05;
  const auto min_weight = static_cast<float>(kMinFraction) * largest(bars);
  // Keeps the first and last number within the plot's edge.
  const auto middle = [&](const Bar& bar) {
    const double first = place.from + min_distance / 2;
    return std::clamp((bar.from + bar.to) / 2, first,
                      std::max(first, place.from + place.length - min_distance / 2));
  };
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) {
    return std::abs(a.weight) > std::abs(b.weight);
  });
  std::vector<Bar> result;
  for (const Bar& bar : bars) {
    constexpr std::size_t kMaxNumbers = 100;
    if (!(std::abs(bar.weight) > min_weight) || result.size() >= kMaxNumbers) break;
    const bool is_free = std::all_of(result.begin(), result.end(), [&](const Bar& other) {
      return std::abs(middle(other) - middle(bar)) >= min_distance;
    });
    if (is_free) result.push_back(bar);
  }
  return result;
}

std::string number(float weight, float max_weight) {
  return weight_text(static_cast<double>(weight), static_cast<double>(max_weight));
}

bool has_signs(const std::vector<Bar>& bars) {
  return std::ranges::any_of(bars, [](const Bar& bar) { return bar.weight < 0; });
}

// Signed length of a bar. If weights have both signs, each sign gets half the space.
double size_of(const Bar& bar, float max_weight, bool has_both_signs, double length) {
  return length * static_cast<double>(bar.weight / max_weight) / (has_both_signs ? 2 : 1);
}

// If `across`, draws the bars of a row, which grow upwards from y = `base`. Otherwise draws the
// bars of a column, which grow to the right from x = `base`.
void draw_bars(Page& page, const std::vector<Bar>& bars, bool across, double base, double length) {
  const float max_weight = largest(bars);
  if (!(max_weight > 0)) return;
  const bool has_negative = has_signs(bars);
  const auto size = [&](const Bar& bar) { return size_of(bar, max_weight, has_negative, length); };
  const Colour above = translucent(page.theme().accent, 0.75);
  const Colour below = translucent(key_colour(page.theme()), 0.9);
  if (static_cast<double>(bars.size()) > kMaxBars) {
    Line line{{}, page.theme().accent, 1};
    for (const Bar& bar : bars) {
      const double middle = (bar.from + bar.to) / 2;
      line.points.push_back(across ? Point{middle, base - size(bar)}
                                   : Point{base + size(bar), middle});
    }
    page.add(std::move(line));
    return;
  }
  for (const Bar& bar : bars) {
    const double inset = std::min(1.0, 0.1 * (bar.to - bar.from)), thick = bar.to - bar.from;
    const double end = size(bar), first = std::min(0.0, end), extent = std::abs(end);
    if (thick <= 0 || extent <= 0) continue;
    const Colour colour = end < 0 ? below : above;
    page.add(
        across ? FilledBox{{bar.from + inset, base - std::max(0.0, end), thick - 2 * inset, extent},
                           colour}
               : FilledBox{{base + first, bar.from + inset, extent, thick - 2 * inset}, colour});
  }
}

std::string name_of(const TokenAxis& axis, Index index) {
  return std::to_string(index) + " " + axis.labels[static_cast<std::size_t>(index)];
}

double draw_row(Page& page, const MatrixPlot& m, const Tensor& values, double below) {
  const double em = page.em(), top = below + kPinnedGap * em;
  const AxisPlace place{m.column, m.width, m.plot.x, m.plot.width};
  const std::vector<Bar> bars =
      bars_of(place, m.columns.count(), [&](Index j) { return values(m.pinned_row, j); });
  const bool has_negative = has_signs(bars);
  const double base = top + (kPinnedLabelHeight + (has_negative ? kBarSize / 2 : kBarSize)) * em;
  draw_bars(page, bars, true, base, kBarSize * em);
  page.add(Line{{{m.plot.x, base}, {m.plot.right(), base}}, page.theme().line, 1});
  const float max_weight = largest(bars);
  for (const Bar& bar : labelled_bars(bars, place, kPinnedLabelWidth * em)) {
    const std::string text = number(bar.weight, max_weight);
    const double half = page.width_of(text, page.small()) / 2;
    const double x = std::clamp((bar.from + bar.to) / 2, m.plot.x + half,
                                std::max(m.plot.x + half, m.plot.right() - half));
    const double height = std::max(0.0, size_of(bar, max_weight, has_negative, kBarSize * em));
    page.text({x, base - height - kPinnedLabelHeight * em / 2}, text, page.small(), Align::Middle);
  }
  const double room = m.left - 0.5 * em;
  page.faint_text({m.plot.x - 0.5 * em, base - 1.9 * em},
                  page.fitting({"pinned query", "query"}, page.small(), room), page.small(),
                  Align::End);
  page.text({m.plot.x - 0.5 * em, base - 0.6 * em},
            page.ellipsised(name_of(m.rows, m.pinned_row), em, room), em, Align::End);
  return top + kRowHeight * em - kPinnedGap * em;
}

void draw_column(Page& page, const MatrixPlot& m, const Tensor& values) {
  const double em = page.em(), max_length = kBarSize * em;
  const AxisPlace place{m.row, m.height, m.plot.y, m.plot.height};
  const std::vector<Bar> bars =
      bars_of(place, m.rows.count(), [&](Index i) { return values(i, m.pinned_column); });
  const bool has_negative = has_signs(bars);
  const double base = m.plot.right() + kPinnedGap * em + (has_negative ? max_length / 2 : 0);
  draw_bars(page, bars, false, base, max_length);
  page.add(Line{{{base, m.plot.y}, {base, m.plot.bottom()}}, page.theme().line, 1});
  const float max_weight = largest(bars);
  for (const Bar& bar : labelled_bars(bars, place, kPinnedLabelHeight * em)) {
    const double length = std::max(0.0, size_of(bar, max_weight, has_negative, max_length));
    const double half = kPinnedLabelHeight * em / 2;
    const double y = std::clamp((bar.from + bar.to) / 2, m.plot.y + half,
                                std::max(m.plot.y + half, m.plot.bottom() - half));
    page.text({base + length + 0.3 * em, y}, number(bar.weight, max_weight), page.small());
  }
  // Avoids the last column's label, which may reach a little beyond the plot.
  const double room = (kColumnWidth - kPinnedGap - kNameGap) * em,
               x = m.plot.right() + (kPinnedGap + kNameGap) * em;
  page.text({x, m.plot.y - 0.8 * em},
            page.ellipsised(name_of(m.columns, m.pinned_column), em, room), em);
  page.faint_text({x, m.plot.y - 2.1 * em}, page.fitting({"pinned key", "key"}, page.small(), room),
                  page.small());
}

}  // namespace

double pinned_row_height(const Page& page, Index pinned_row) {
  return pinned_row < 0 ? 0 : kRowHeight * page.em();
}

double pinned_column_width(const Page& page, Index pinned_column) {
  return pinned_column < 0 ? 0 : kColumnWidth * page.em();
}

double draw_pinned(Page& page, const MatrixPlot& m, const Tensor& values, double below) {
  if (m.pinned_column >= 0) draw_column(page, m, values);
  return m.pinned_row >= 0 ? draw_row(page, m, values, below) : below;
}

}  // namespace attnscope
