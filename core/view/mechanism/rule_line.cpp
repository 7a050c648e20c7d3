#include "core/view/mechanism/rule_line.h"

#include <algorithm>
#include <limits>

#include "core/figure/colour_map.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/pattern/rule_cells.h"

namespace attnscope {
namespace {

constexpr double kLane = 1.3;        // em
constexpr double kTooth = 0.4;       // em: height of a bracket
constexpr double kBracketGap = 0.5;  // em between bracket and name
constexpr double kMinDivided = 0.5;  // em: narrower cells have no separators
constexpr double kMaxColumn = 6;     // em

// Adjacent tokens admitted by one rule, [first, last).
struct Stretch {
  Index first, last;
};
std::vector<Stretch> stretches_of(const std::vector<int>& rules, int rule) {
  std::vector<Stretch> stretches;
  for (Index n = 0; n < static_cast<Index>(rules.size()); ++n) {
    if (rules[static_cast<std::size_t>(n)] != rule) continue;
    if (!stretches.empty() && stretches.back().last == n) {
      ++stretches.back().last;
    } else {
      stretches.push_back({n, n + 1});
    }
  }
  return stretches;
}

}  // namespace

Index TokenColumns::at(double x) const {
  if (x < left || x >= left + width) return -1;
  return std::min(tokens.count() - 1, static_cast<Index>((x - left) / cell()));
}

TokenColumns place_columns(const Page& page, const Box& box, TokenAxis tokens, double max_depth) {
  TokenColumns columns;
  columns.tokens = measured(page, std::move(tokens));
  columns.left = box.x;
  columns.top = box.y;
  columns.width =
      std::min(box.width, static_cast<double>(columns.tokens.count()) * kMaxColumn * page.em());
  columns.depth = axis_depth_top(page, columns.tokens, columns.width, max_depth);
  return columns;
}

void draw_columns(Page& page, const TokenColumns& columns, Index marked) {
  draw_axis_top(page, columns.tokens,
                {0, static_cast<double>(columns.tokens.count()), columns.left, columns.width},
                columns.bottom(), columns.depth, marked);
}

TokenAxis with_index_labels(TokenAxis axis) {
  for (std::size_t n = 0; n < axis.labels.size(); ++n) axis.labels[n] = std::to_string(n);
  axis.widest.reset();
  return axis;
}

Box cells_at(const TokenColumns& columns, double y, double height) {
  return {columns.left, y, columns.width, height};
}

void draw_rule_cells(Page& page, const Box& cells, const std::vector<int>& rules) {
  constexpr double kLastCategory = 255;  // rule n gets colour n, see ColourMap::Kind
  const auto count = static_cast<Index>(rules.size());
  HeatMap map;
  map.box = cells;
  map.values = Tensor({1, count});
  for (Index n = 0; n < count; ++n) {
    const int rule = rules[static_cast<std::size_t>(n)];
    map.values[n] = rule < 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(rule);
  }
  map.height = 1;
  map.width = static_cast<double>(count);
  map.colour_map = kCategories;
  map.most = kLastCategory;
  map.missing = excluded_colour(page.theme());
  page.add(std::move(map));
  const double cell = cells.width / static_cast<double>(count);
  for (Index n = 1; n < count && cell >= kMinDivided * page.em(); ++n) {
    const double x = cells.x + static_cast<double>(n) * cell;
    page.add(Line{{{x, cells.y}, {x, cells.bottom()}}, page.theme().background, 1});
  }
}

void outline_cell(Page& page, const TokenColumns& columns, const Box& cells, Index token,
                  Colour colour) {
  const double width = std::max(columns.cell(), 3.0);
  page.add(OutlinedBox{
      {columns.centre(token) - width / 2, cells.y - 1, width, cells.height + 2}, colour, 2.5});
}

double lane_height(const Page& page) {
  return kLane * page.em();
}

namespace {

// Draws the name next to the bracket if there is space, else centred in it.
void draw_lane_name(Page& page, const TokenColumns& columns, double from, double to, double y,
                    const std::string& name) {
  const double em = page.em(), size = page.small(), gap = kBracketGap * em;
  const double end = columns.left + columns.width;
  const std::string label = page.ellipsised(name, size, columns.width);
  const double width = page.width_of(label, size);
  if (to + gap + width <= end) return page.text({to + gap, y}, label, size);
  if (from - gap - width >= columns.left)
    return page.text({from - gap, y}, label, size, Align::End);
  const double middle = std::clamp((from + to) / 2, columns.left + width / 2,
                                   std::max(end - width / 2, columns.left + width / 2));
  page.add(FilledBox{{middle - width / 2 - gap / 2, y - 0.55 * size, width + gap, 1.1 * size},
                     page.theme().background});
  page.text({middle, y}, label, size, Align::Middle);
}

}  // namespace

void draw_lanes(Page& page, const TokenColumns& columns, double y, const std::vector<int>& rules,
                const std::vector<std::pair<int, std::string>>& lanes) {
  const double em = page.em(), tooth = kTooth * em, half = columns.cell() / 2;
  const double inset = std::min(1.5, 0.2 * columns.cell());
  for (const auto& [rule, name] : lanes) {
    const double mid = y + lane_height(page) / 2;
    y += lane_height(page);
    const std::vector<Stretch> stretches = stretches_of(rules, rule);
    if (stretches.empty()) continue;
    const Colour colour = rule_colour(static_cast<std::size_t>(rule));
    const double from = columns.centre(stretches.front().first) - half + inset;
    const double to = columns.centre(stretches.back().last - 1) + half - inset;
    page.add(Line{{{from, mid}, {to, mid}}, translucent(colour, 0.45), 1.5});
    for (const Stretch& stretch : stretches) {
      const double a = columns.centre(stretch.first) - half + inset;
      const double b = columns.centre(stretch.last - 1) + half - inset;
      page.add(Line{{{a, mid - tooth}, {a, mid}, {b, mid}, {b, mid - tooth}}, colour, 2});
    }
    draw_lane_name(page, columns, from, to, mid, name);
  }
}

}  // namespace attnscope
