#include "core/view/parts/token_flow.h"

#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/view/parts/line_breaks.h"

namespace attnscope {
namespace {

constexpr double kFlowLine = 1.75, kToken = 1.45;       // em: from line to line, height of a token
constexpr double kPadding = 0.35;                       // em to each side of the label
constexpr double kFlowGap = 0.25;                       // em between tokens
constexpr double kSwatchLine = 1.5, kFlowSwatch = 0.9;  // em

// Boxes of the tokens, the first line at y = 0.
std::vector<Box> token_boxes(const Page& page, const std::vector<FlowToken>& tokens, double width) {
  const double em = page.em();
  std::vector<double> widths;
  for (const FlowToken& token : tokens) {
    widths.push_back(page.width_of(token.label, em) + 2 * kPadding * em);
  }
  return wrap_boxes(widths, {width, kFlowGap * em, kFlowLine * em, kToken * em});
}

}  // namespace

Colour depth_colour(Index n, Index count) {
  constexpr double kFirst = 0.95, kLast = 0.12;  // positions in the colour map
  const double fraction = count > 1 ? static_cast<double>(n) / static_cast<double>(count - 1) : 0;
  return colour_map("viridis").at(kFirst + fraction * (kLast - kFirst));
}

double token_flow_height(const Page& page, const std::vector<FlowToken>& tokens, double width,
                         double max_height) {
  if (tokens.empty()) return 0;
  const double line = kFlowLine * page.em();
  const double whole_lines = std::max(1.0, std::floor(max_height / line)) * line;
  return std::min({max_height, whole_lines, token_boxes(page, tokens, width).back().y + line});
}

namespace {

// Tokens are omitted in multiples of this, so that growing text does not shift with each token.
constexpr std::size_t kOmissionStep = 10;

// The part of the text that fits, and labels of the omitted tokens.
struct Passage {
  std::size_t first = 0, count = 0;
  std::string omitted_before, omitted_after;  // "20 before", "and 30 more"; may be empty
  std::vector<Box> boxes;  // box of `omitted_before` unless empty, then token boxes
  std::size_t last() const { return first + count; }
};

Passage passage_from(const Page& page, const Box& box, const std::vector<FlowToken>& tokens,
                     std::size_t first) {
  const double em = page.em();
  Passage part;
  part.first = first;
  std::vector<FlowToken> items(tokens.begin() + static_cast<std::ptrdiff_t>(first), tokens.end());
  if (first > 0) {
    part.omitted_before = std::to_string(first) + " before";
    items.insert(items.begin(), FlowToken{part.omitted_before, {}});
  }
  part.boxes = token_boxes(page, items, box.width);
  const auto fits = [&](const Box& b) { return b.y + kToken * em <= box.height + 0.5; };
  auto count =
      static_cast<std::size_t>(std::ranges::find_if_not(part.boxes, fits) - part.boxes.begin());
  const std::size_t labels = first > 0 ? 1 : 0;
  const auto more = [&] { return "and " + std::to_string(items.size() - count) + " more"; };
  if (count < items.size() && count > labels) {
    // Drops tokens to make room for the count of omitted ones.
    while (count > labels + 1 &&
           part.boxes[count - 1].right() + kFlowGap * em + page.width_of(more(), em) > box.width) {
      --count;
    }
    part.omitted_after = more();
  }
  part.boxes.resize(count);
  part.count = count - std::min(labels, count);
  return part;
}

// The first passage, in steps of kOmissionStep, that contains the token `required`.
Passage passage_with(const Page& page, const Box& box, const std::vector<FlowToken>& tokens,
                     std::size_t required) {
  Passage part = passage_from(page, box, tokens, 0);
  if (required < part.last() || tokens.empty()) return part;
  std::size_t low = 0, high = required / kOmissionStep;  // steps; omitting `low` is too few
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (required < passage_from(page, box, tokens, middle * kOmissionStep).last() ? high : low) =
        middle;
  }
  part = passage_from(page, box, tokens, high * kOmissionStep);
  return required < part.last() ? part : passage_from(page, box, tokens, required);
}

}  // namespace

Index TokenFlow::at(Point p) const {
  for (std::size_t n = 0; n < boxes.size(); ++n) {
    if (boxes[n].contains(p)) return static_cast<Index>(first + n);
  }
  return -1;
}

TokenFlow draw_token_flow(Page& page, const Box& box, const std::vector<FlowToken>& tokens,
                          std::size_t required) {
  const double em = page.em();
  Passage part = passage_with(page, box, tokens, required);
  for (Box& b : part.boxes) {
    b.x += box.x;
    b.y += box.y;
  }
  if (!part.omitted_before.empty() && !part.boxes.empty()) {
    const Box& b = part.boxes.front();
    page.faint_text({b.x, b.y + b.height / 2}, page.ellipsised(part.omitted_before, em, b.width),
                    em);
    part.boxes.erase(part.boxes.begin());
  }
  if (!part.omitted_after.empty() && !part.boxes.empty()) {
    const Box& last = part.boxes.back();
    const double x = last.right() + 2 * kFlowGap * em;
    page.faint_text({x, last.y + last.height / 2},
                    page.ellipsised(part.omitted_after, em, box.right() - x), em);
  }
  for (std::size_t n = 0; n < part.boxes.size(); ++n) {
    const Box& b = part.boxes[n];
    const FlowToken& token = tokens[part.first + n];
    page.add(FilledBox{b, token.ground, 0.25 * em});
    if (token.marked) page.add(OutlinedBox{b, page.theme().text, 1.5});
    page.add(Text{{b.x + b.width / 2, b.y + b.height / 2},
                  page.ellipsised(token.label, em, b.width - 2 * kPadding * em),
                  ink_on(token.ground),
                  em,
                  Align::Middle});
  }
  return {part.first, std::move(part.boxes)};
}

std::function<std::optional<Hit>(Point)> token_hits(const TokenFlow& flow, Index layer,
                                                    Index head) {
  return [=](Point p) -> std::optional<Hit> {
    const Index token = flow.at(p);
    if (token < 0) return std::nullopt;
    return Hit{layer, head, token, -1};
  };
}

void add_token_handles(std::vector<Handle>& handles, const TokenFlow& flow, const std::string& help,
                       const std::function<void(Session&, Index)>& click) {
  for (std::size_t n = 0; n < flow.boxes.size(); ++n) {
    const auto token = static_cast<Index>(flow.first + n);
    handles.push_back({.area = flow.boxes[n], .help = help, .click = [=](Session& session) {
                         click(session, token);
                       }});
  }
}

void add_pin_handles(std::vector<Handle>& handles, const TokenFlow& flow, const std::string& help,
                     Index pinned) {
  for (std::size_t n = 0; n < flow.boxes.size(); ++n) {
    const auto token = static_cast<Index>(flow.first + n);
    const bool is_pinned = token == pinned;
    handles.push_back(
        {.area = flow.boxes[n],
         .help = is_pinned ? "Unpin this token." : help,
         .click = [=](Session& session) { session.view.pinned_query = is_pinned ? -1 : token; }});
  }
}

double swatches_height(const Page& page) {
  return kSwatchLine * page.em();
}

namespace {

// Gaps in em, before the label and between entries.
constexpr double kFlowSwatchGap = 0.35, kFlowEntryGap = 0.9;

double entry_width(const Page& page, const Swatch& swatch) {
  return (kFlowSwatch + kFlowSwatchGap) * page.em() + page.width_of(swatch.label, page.small());
}

}  // namespace

double swatches_width(const Page& page, const std::string& title,
                      const std::vector<Swatch>& swatches) {
  double width = page.width_of(title, page.small()) + page.em();
  for (const Swatch& swatch : swatches) {
    width +=
        entry_width(page, swatch) + (&swatch != &swatches.back() ? kFlowEntryGap * page.em() : 0);
  }
  return width;
}

void draw_swatches(Page& page, Point at, double width, const std::string& title,
                   const std::vector<Swatch>& swatches) {
  const double em = page.em(), size = page.small(), right = at.x + width;
  const double y = at.y + kSwatchLine * em / 2;
  const std::string shortened = page.ellipsised(title, size, width);
  page.faint_text({at.x, y}, shortened, size);
  double x = at.x + page.width_of(shortened, size) + em;
  const double side = kFlowSwatch * em;
  for (const Swatch& swatch : swatches) {
    const double entry = entry_width(page, swatch);
    if (x + entry > right) return;
    page.add(FilledBox{{x, y - side / 2, side, side}, swatch.colour, 0.15 * em});
    page.faint_text({x + side + kFlowSwatchGap * em, y}, swatch.label, size);
    x += entry + kFlowEntryGap * em;
  }
}

}  // namespace attnscope
