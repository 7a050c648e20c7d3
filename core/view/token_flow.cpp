#include "core/view/token_flow.h"

#include <algorithm>
#include <cmath>

#include "core/view/line_breaks.h"

namespace attnscope {
namespace {

constexpr double kLine = 1.75, kToken = 1.45;       // em: from line to line, height of a token
constexpr double kPadding = 0.35;                   // em beside the letters
constexpr double kGap = 0.25;                       // em between tokens
constexpr double kSwatchLine = 1.5, kSwatch = 0.9;  // em

// Where the tokens go, the first line at y = 0.
std::vector<Box> flow(const Page& page, const std::vector<FlowToken>& tokens, double width) {
  const double em = page.em();
  std::vector<double> widths;
  for (const FlowToken& token : tokens) {
    widths.push_back(page.width_of(token.label, em) + 2 * kPadding * em);
  }
  return broken_into_lines(widths, {width, kGap * em, kLine * em, kToken * em});
}

}  // namespace

double token_flow_height(const Page& page, const std::vector<FlowToken>& tokens, double width,
                         double most) {
  if (tokens.empty()) return 0;
  const double line = kLine * page.em();
  const double whole = std::max(1.0, std::floor(most / line)) * line;  // lines
  return std::min({most, whole, flow(page, tokens, width).back().y + line});
}

std::vector<Box> draw_token_flow(Page& page, const Box& box, const std::vector<FlowToken>& tokens) {
  const double em = page.em();
  std::vector<Box> boxes = flow(page, tokens, box.width);
  const auto fits = [&](const Box& b) { return b.y + kToken * em <= box.height + 0.5; };
  auto count =
      static_cast<std::size_t>(std::find_if_not(boxes.begin(), boxes.end(), fits) - boxes.begin());
  if (count < tokens.size() && count > 0) {
    // The last ones make room for how many are not shown.
    const auto more = [&] { return "and " + std::to_string(tokens.size() - count) + " more"; };
    while (count > 1 &&
           boxes[count - 1].right() + kGap * em + page.width_of(more(), em) > box.width) {
      --count;
    }
    const Box& last = boxes[count - 1];
    const double x = box.x + last.right() + 2 * kGap * em;
    page.faint_text({x, box.y + last.y + kToken * em / 2},
                    page.ellipsised(more(), em, box.right() - x), em);
  }
  boxes.resize(count);
  for (std::size_t n = 0; n < count; ++n) {
    Box& b = boxes[n];
    b.x += box.x;
    b.y += box.y;
    const FlowToken& token = tokens[n];
    page.add(FilledBox{b, token.ground, 0.25 * em});
    if (token.marked) page.add(OutlinedBox{b, page.theme().text, 1.5});
    page.add(Text{{b.x + b.width / 2, b.y + b.height / 2},
                  page.ellipsised(token.label, em, b.width - 2 * kPadding * em),
                  ink_on(token.ground),
                  em,
                  Align::Middle});
  }
  return boxes;
}

double swatches_height(const Page& page) {
  return kSwatchLine * page.em();
}

void draw_swatches(Page& page, Point at, double width, const std::string& title,
                   const std::vector<Swatch>& swatches) {
  const double em = page.em(), size = page.small(), right = at.x + width;
  const double y = at.y + kSwatchLine * em / 2;
  const std::string shown = page.ellipsised(title, size, width);
  page.faint_text({at.x, y}, shown, size);
  double x = at.x + page.width_of(shown, size) + em;
  const double side = kSwatch * em;
  for (const Swatch& swatch : swatches) {
    const double own = side + 0.35 * em + page.width_of(swatch.label, size);
    if (x + own > right) return;
    page.add(FilledBox{{x, y - side / 2, side, side}, swatch.colour, 0.15 * em});
    page.faint_text({x + side + 0.35 * em, y}, swatch.label, size);
    x += own + 0.9 * em;
  }
}

}  // namespace attnscope
