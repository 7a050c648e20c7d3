#include "core/view/mechanism/token_line.h"

#include <algorithm>

#include "core/figure/plain_text.h"
#include "core/view/mechanism/panel.h"

namespace attnscope {
namespace {

constexpr double kRow = 1.5;             // em
constexpr double kMaxTokenLabels = 5.5;  // em

// Range of a row's colours: "0 … 0.12", or "±0.12" with negative numbers.
std::string range_text(const ColourRange& range) {
  return (range.least < 0 ? "±" : brief(range.least, 2) + " … ") + brief(range.most, 2);
}

}  // namespace

TokenLine place_token_line(const Page& page, const Box& box, TokenAxis tokens,
                           std::vector<TokenRow> rows) {
  const double em = page.em();
  TokenLine line{std::move(tokens), std::move(rows)};
  line.tokens.titles = {};
  double names_width = 0;
  for (const TokenRow& row : line.rows) {
    names_width = std::max(names_width, page.width_of(row.name, page.small()));
  }
  line.left = names_width + em;
  // A fixed text, so that the layout does not depend on the illustrated token.
  const double ranges_width = page.width_of("0 … 0.0001", page.small()) + em;
  const double width = box.width - line.left - ranges_width;
  line.top = axis_depth_top(page, line.tokens, width, kMaxTokenLabels * em);
  line.cells = {box.x + line.left, box.y + line.top, width,
                kRow * em * static_cast<double>(line.rows.size())};
  return line;
}

void draw_token_line(Page& page, const TokenLine& line, Index marked) {
  const double em = page.em(), row_height = kRow * em;
  const auto count = static_cast<double>(line.tokens.count());
  draw_axis_top(page, line.tokens, {0, count, line.cells.x, line.cells.width}, line.cells.y,
                line.top, marked);
  Box row_box{line.cells.x, line.cells.y, line.cells.width, row_height};
  for (const TokenRow& row : line.rows) {
    const double middle = row_box.y + row_height / 2;
    page.text({row_box.x - 0.5 * em, middle}, row.name, page.small(), Align::End);
    draw_panel(page, row_box, row.numbers, row.range);
    page.faint_text({row_box.right() + 0.5 * em, middle}, range_text(row.range), page.small());
    row_box.y += row_height;
  }
  const double cell = line.cells.width / count;
  page.add(OutlinedBox{
      {line.cells.x + static_cast<double>(marked) * cell, line.cells.y, cell, line.cells.height},
      page.theme().accent,
      2});
}

std::function<std::optional<Pair>(Point)> token_hit_test(const TokenLine& line) {
  // Includes the labels, which are easier to hit than a row.
  Box box = line.cells;
  box.y -= line.top;
  box.height += line.top;
  return [box, count = line.tokens.count()](Point p) -> std::optional<Pair> {
    if (!box.contains(p)) return std::nullopt;
    const auto token = static_cast<Index>((p.x - box.x) / box.width * static_cast<double>(count));
    return Pair{token, token};
  };
}

Index illustrated_token(const HeadInput& in) {
  const Values values = view_values(in.input.session.view, "mechanism");
  const Index last = in.tap.queries() - 1;
  if (values.has("token")) return std::min(values.integer("token"), last);
  const Index pinned = in.input.session.view.pinned_query;
  return pinned >= 0 && pinned <= last ? pinned : last;
}

}  // namespace attnscope
