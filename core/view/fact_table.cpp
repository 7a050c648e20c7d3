#include "core/view/fact_table.h"

#include <algorithm>

#include "core/figure/colour_map.h"

namespace attnscope {
namespace {

constexpr double kLine = 1.5;          // em from row to row
constexpr double kGap = 1.0;           // em between columns
constexpr double kMostNames = 0.45;    // of the width, where the values need the rest
constexpr double kBadgePadding = 0.4;  // em
constexpr double kBadgeHeight = 1.35;  // em

double name_width(const Page& page, const std::vector<Fact>& facts) {
  double width = 0;
  for (const Fact& fact : facts) width = std::max(width, page.width_of(fact.name, page.em()));
  return width;
}

}  // namespace

Colour first_colour() {
  return colour_map(kCategories).colours[0];
}

Colour second_colour() {
  return colour_map(kCategories).colours[1];
}

double draw_badge(Page& page, Point at, const std::string& text, Colour colour) {
  const double em = page.em();
  const double width = page.width_of(text, em, true) + 2 * kBadgePadding * em;
  page.add(
      FilledBox{{at.x, at.y - kBadgeHeight * em / 2, width, kBadgeHeight * em}, colour, 0.25 * em});
  page.add(Text{{at.x + width / 2, at.y}, text, ink_on(colour), em, Align::Middle, 0, true});
  return width;
}

double fact_table_height(const Page& page, std::size_t facts) {
  return static_cast<double>(facts + 1) * kLine * page.em();
}

double fact_table_width(const Page& page, const std::vector<Fact>& facts) {
  double a = 0, b = 0;
  for (const Fact& fact : facts) {
    a = std::max(a, page.width_of(fact.a, page.em()));
    b = std::max(b, page.width_of(fact.b, page.em()));
  }
  return name_width(page, facts) + a + b + 2 * kGap * page.em();
}

void draw_fact_table(Page& page, const Box& box, const std::string& first,
                     const std::string& second, const std::vector<Fact>& facts) {
  const double em = page.em(), line = kLine * em, gap = kGap * em;
  double values = 0;
  for (const Fact& fact : facts) {
    values = std::max(values, page.width_of(fact.a, em) + page.width_of(fact.b, em));
  }
  const double names = std::min(name_width(page, facts),
                                std::max(kMostNames * box.width, box.width - values - 2 * gap));
  double first_width = page.width_of(first, em, true) + 2 * kBadgePadding * em;
  for (const Fact& fact : facts) first_width = std::max(first_width, page.width_of(fact.a, em));
  const double half = (box.width - names - 2 * gap) / 2;
  if (half < 2 * em || box.height < line) return;
  // The first column as wide as its texts where that leaves enough for the second.
  const double a_width = std::min(first_width, half), a = box.x + names + gap;
  const double b = a + a_width + gap, b_width = box.right() - b;
  double y = box.y + line / 2;
  const double badge = 2 * kBadgePadding * em;
  draw_badge(page, {a, y}, page.ellipsised(first, em, a_width - badge, true), first_colour());
  draw_badge(page, {b, y}, page.ellipsised(second, em, b_width - badge, true), second_colour());
  for (const Fact& fact : facts) {
    y += line;
    if (y + line / 2 > box.bottom() + 0.5) break;
    page.add(Line{{{box.x, y - line / 2}, {box.right(), y - line / 2}},
                  translucent(page.theme().line, 0.4),
                  1});
    page.faint_text({box.x, y}, page.ellipsised(fact.name, em, names), em);
    page.text({a, y}, page.ellipsised(fact.a, em, a_width), em);
    page.text({b, y}, page.ellipsised(fact.b, em, b_width), em);
  }
}

}  // namespace attnscope
