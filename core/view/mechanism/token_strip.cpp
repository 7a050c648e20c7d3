#include "core/view/mechanism/token_strip.h"

#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"

namespace attnscope {
namespace {

constexpr double kStripRow = 1.5;        // em
constexpr double kMinStripRow = 0.3;     // em, for many rows
constexpr double kMaxCell = 6;           // em
constexpr double kNameGap = 0.6;         // em
constexpr double kMaxStripLabels = 0.5;  // maximum fraction of the height
constexpr double kMaxCategory = 255;     // category n gets colour n, see ColourMap::Kind

std::string kind_label(float kind) {
  return std::to_string(std::lround(kind));
}

void draw_numbers(Page& page, const TokenStrip& strip) {
  const double size = page.small(), height = strip.row_height();
  const double width = strip.cells.width / static_cast<double>(strip.kinds.dim(1));
  float max_kind = 0;
  for (const float kind : strip.kinds) max_kind = std::max(max_kind, std::isnan(kind) ? 0 : kind);
  if (height < 1.2 * size || width < page.width_of(kind_label(max_kind), size) + 0.3 * size) return;
  for (Index row = 0; row < strip.kinds.dim(0); ++row) {
    for (Index n = 0; n < strip.kinds.dim(1); ++n) {
      const float kind = strip.kinds(row, n);
      if (std::isnan(kind)) continue;
      page.add(Text{{strip.centre(n), strip.cells.y + (static_cast<double>(row) + 0.5) * height},
                    kind_label(kind),
                    ink_on(strip.colours(std::lround(kind))),
                    size,
                    Align::Middle});
    }
  }
}

// Draws borders between adjacent kinds that share a colour, unless cells are too narrow.
void draw_borders(Page& page, const TokenStrip& strip) {
  constexpr double kMinCell = 4;  // pixels
  const double height = strip.row_height();
  if (strip.cells.width < kMinCell * static_cast<double>(strip.kinds.dim(1))) return;
  for (Index row = 0; row < strip.kinds.dim(0); ++row) {
    for (Index n = 1; n < strip.kinds.dim(1); ++n) {
      if (std::isnan(strip.kinds(row, n - 1)) || std::isnan(strip.kinds(row, n))) continue;
      const Index previous = std::lround(strip.kinds(row, n - 1));
      const Index kind = std::lround(strip.kinds(row, n));
      if (previous == kind || !(strip.colours(previous) == strip.colours(kind))) continue;
      const double x = (strip.centre(n - 1) + strip.centre(n)) / 2;
      const double y = strip.cells.y + static_cast<double>(row) * height;
      page.add(Line{{{x, y}, {x, y + height}}, page.theme().text, 2});
    }
  }
}

}  // namespace

KindColours::KindColours(const Tensor& kinds) {
  add(kinds);
}

KindColours::KindColours(const Tensor& first, const Tensor& second) {
  add(first);
  add(second);
}

void KindColours::add(const Tensor& kinds) {
  std::map<Index, Index> counts;
  for (const float kind : kinds) ++counts[std::lround(kind)];
  std::vector<std::pair<Index, Index>> by_count;  // [-count, kind]
  for (const auto& [kind, count] : counts) by_count.emplace_back(-count, kind);
  std::ranges::sort(by_count);
  for (const auto& [count, kind] : by_count) {
    ranks_.emplace(kind, static_cast<Index>(ranks_.size()));
  }
}

Index KindColours::rank(Index kind) const {
  const auto found = ranks_.find(kind);
  return found == ranks_.end() ? static_cast<Index>(ranks_.size()) : found->second;
}

Colour KindColours::operator()(Index kind) const {
  const ColourMap& map = colour_map(kCategories);
  return map.colours[static_cast<std::size_t>(rank(kind)) % map.colours.size()];
}

Tensor KindColours::categories(const Tensor& kinds) const {
  Tensor result(kinds.shape());
  constexpr Index kColours = 256;
  for (Index n = 0; n < kinds.size(); ++n) {
    const float kind = kinds[n];
    result[n] = std::isnan(kind) ? kind : static_cast<float>(rank(std::lround(kind)) % kColours);
  }
  return result;
}

double TokenStrip::centre(Index token) const {
  return cells.x +
         (static_cast<double>(token) + 0.5) / static_cast<double>(kinds.dim(1)) * cells.width;
}

Index TokenStrip::at(Point p) const {
  // Includes the labels.
  if (!Box{cells.x, cells.y - depth, cells.width, cells.height + depth}.contains(p)) return -1;
  const double fraction = (p.x - cells.x) / cells.width;
  return std::clamp<Index>(static_cast<Index>(fraction * static_cast<double>(kinds.dim(1))), 0,
                           kinds.dim(1) - 1);
}

double strip_left(const Page& page, const std::vector<std::string>& names) {
  double left = 0;
  for (const std::string& name : names) {
    left = std::max(left, page.width_of(name, page.small()) + kNameGap * page.em());
  }
  return left;
}

TokenStrip place_strip(const Page& page, const Box& box, TokenAxis tokens,
                       std::vector<std::string> names, Tensor kinds, const KindColours& colours) {
  const double em = page.em(), left = strip_left(page, names);
  const auto count = static_cast<double>(kinds.dim(1)), rows = static_cast<double>(kinds.dim(0));
  TokenStrip strip{measured(page, std::move(tokens)), std::move(names), std::move(kinds), colours};
  const double width = std::min(box.width - left, count * kMaxCell * em);
  if (width < 3 * em) return strip;
  if (strip.tokens.count() > 0) {
    strip.depth = axis_depth_top(page, strip.tokens, width, kMaxStripLabels * box.height);
  }
  const double height = std::min(rows * kStripRow * em, box.height - strip.depth);
  if (height < rows * kMinStripRow * em) return strip;
  strip.cells = {box.x + left, box.y + strip.depth, width, height};
  return strip;
}

void draw_strip(Page& page, const TokenStrip& strip, Index marked) {
  const double em = page.em(), height = strip.row_height();
  const auto count = static_cast<double>(strip.kinds.dim(1));
  HeatMap cells;
  cells.box = strip.cells;
  cells.values = strip.colours.categories(strip.kinds);
  cells.height = static_cast<double>(strip.kinds.dim(0));
  cells.width = count;
  cells.colour_map = kCategories;
  cells.most = kMaxCategory;
  page.add(std::move(cells));
  const double cell = strip.cells.width / count;
  constexpr double kMinSeparated = 0.5;  // em: narrower cells have no separators
  for (Index n = 1; n < strip.kinds.dim(1) && cell >= kMinSeparated * em; ++n) {
    const double x = strip.cells.x + static_cast<double>(n) * cell;
    page.add(Line{{{x, strip.cells.y}, {x, strip.cells.bottom()}}, page.theme().background, 1});
  }
  draw_borders(page, strip);
  draw_numbers(page, strip);
  for (std::size_t row = 0; row < strip.names.size() && height >= 1.1 * page.small(); ++row) {
    page.faint_text({strip.cells.x - kNameGap * em / 2,
                     strip.cells.y + (static_cast<double>(row) + 0.5) * height},
                    strip.names[row], page.small(), Align::End);
  }
  if (marked >= 0) {
    page.add(OutlinedBox{{strip.centre(marked) - cell / 2, strip.cells.y, cell, strip.cells.height},
                         page.theme().text,
                         2});
  }
  if (strip.tokens.count() > 0) {
    draw_axis_top(page, strip.tokens, {0, count, strip.cells.x, strip.cells.width}, strip.cells.y,
                  strip.depth, marked);
  }
}

}  // namespace attnscope
