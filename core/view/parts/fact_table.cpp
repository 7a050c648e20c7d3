#include "core/view/parts/fact_table.h"

#include <algorithm>

#include "core/figure/colour_map.h"

namespace attnscope {
namespace {

constexpr double kTableLine = 1.5;         // em from row to row
constexpr double kTableGap = 1.0;          // em between columns
constexpr double kMaxNameFraction = 0.45;  // fraction of the width, if values need the remainder
constexpr double kBadgePadding = 0.4;      // em
constexpr double kBadgeHeight = 1.35;      // em

// Widths of the columns at which no text is shortened.
struct Columns {
  double names = 0, a = 0, b = 0;
  double total(double gap) const { return names + gap + a + gap + b; }
};
Columns columns_of(const Page& page, const std::vector<Fact>& facts, double size) {
  Columns widths;
  for (const Fact& fact : facts) {
    widths.names = std::max(widths.names, page.width_of(fact.name, size));
    widths.a = std::max(widths.a, page.width_of(fact.a, size));
    widths.b = std::max(widths.b, page.width_of(fact.b, size));
  }
  return widths;
}

}  // namespace

Colour first_colour() {
  return colour_map(kCategories).colours[0];
}

Colour second_colour() {
  return colour_map(kCategories).colours[1];
}

double badge_width(const Page& page, const std::string& text) {
  return page.width_of(text, page.em(), true) + 2 * kBadgePadding * page.em();
}

double draw_badge(Page& page, Point at, const std::string& text, Colour colour) {
  const double em = page.em(), width = badge_width(page, text);
  page.add(
      FilledBox{{at.x, at.y - kBadgeHeight * em / 2, width, kBadgeHeight * em}, colour, 0.25 * em});
  page.add(Text{{at.x + width / 2, at.y}, text, ink_on(colour), em, Align::Middle, 0, true});
  return width;
}

double fact_table_height(const Page& page, std::size_t facts) {
  return static_cast<double>(facts + 1) * kTableLine * page.em();
}

double min_fact_table_height(const Page& page, std::size_t facts) {
  return kTableLine * (page.em() + static_cast<double>(facts) * page.small());
}

double fact_table_width(const Page& page, const std::vector<Fact>& facts) {
  return columns_of(page, facts, page.em()).total(kTableGap * page.em());
}

double min_fact_table_width(const Page& page, const std::vector<Fact>& facts) {
  return columns_of(page, facts, page.small()).total(kTableGap * page.em());
}

void draw_fact_table(Page& page, const Box& box, const std::string& first,
                     const std::string& second, const std::vector<Fact>& facts) {
  const double em = page.em(), head = kTableLine * em, gap = kTableGap * em;
  const double available = (box.height - head) / std::max(1.0, static_cast<double>(facts.size()));
  const double line = std::clamp(available, kTableLine * page.small(), kTableLine * em);
  double size = em;
  Columns widths = columns_of(page, facts, size);
  if (widths.total(gap) > box.width || line < 0.99 * kTableLine * em) {
    size = page.small();
    widths = columns_of(page, facts, size);
  }
  widths.a = std::max(widths.a, badge_width(page, first));
  const double names = std::min(widths.names, std::max(kMaxNameFraction * box.width,
                                                       box.width - widths.a - widths.b - 2 * gap));
  const double half = (box.width - names - 2 * gap) / 2;
  if (half < 2 * em || box.height < head) return;
  // Column a is as wide as its texts if that leaves enough width for column b.
  const double a_width = std::min(widths.a, std::max(half, 2 * half - widths.b));
  const double a = box.x + names + gap;
  const double b = a + a_width + gap, b_width = box.right() - b;
  double y = box.y + head / 2;
  const double badge = 2 * kBadgePadding * em;
  draw_badge(page, {a, y}, page.ellipsised(first, em, a_width - badge, true), first_colour());
  draw_badge(page, {b, y}, page.ellipsised(second, em, b_width - badge, true), second_colour());
  y += (head - line) / 2;
  for (const Fact& fact : facts) {
    y += line;
    if (y + line / 2 > box.bottom() + 0.5) break;
    page.add(Line{{{box.x, y - line / 2}, {box.right(), y - line / 2}},
                  translucent(page.theme().line, 0.4),
                  1});
    page.faint_text({box.x, y}, page.ellipsised(fact.name, size, names), size);
    page.text({a, y}, page.ellipsised(fact.a, size, a_width), size);
    page.text({b, y}, page.ellipsised(fact.b, size, b_width), size);
  }
}

}  // namespace attnscope
