// Flow stages of the input: tokens and embedding.
#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/trace/key_token.h"
#include "core/view/flow/flow_drawing.h"
#include "core/view/parts/line_breaks.h"

namespace attnscope {
namespace {

// Magnitudes of the query's weights by key-stream token, [L]; undefined before the softmax stage.
Tensor weights_on_text(const FlowPen& pen, const FlowStory& s, Index length) {
  if (pen.is_later(FlowStage::Softmax)) return {};
  Tensor on_text = Tensor::zeros({length});
  const Tensor& weights = s.numbers.sum.weights;
  for (Index column = 0; column < weights.size(); ++column) {
    if (weights[column] == 0) continue;
    const Index token = key_token(s.trace, s.tap, column);
    if (token >= 0 && token < length) on_text[token] = std::abs(weights[column]);
  }
  return on_text;
}

struct FlowText {
  const std::vector<TraceToken>& tokens;
  Tensor weights;       // background shades; undefined: none
  Index selected = -1;  // outlined token; -1: none
};

// Draws the tokens around the selected one that fit the box.
void draw_text(FlowPen& pen, const Box& box, const FlowText& text,
               std::vector<FlowTargets::Row>& to) {
  const double u = pen.unit(), size = 0.95 * u, line = 1.5 * u;
  const auto count = static_cast<Index>(text.tokens.size());
  const Index selected = std::max<Index>(0, text.selected);
  // Keeps the selected token visible, with more tokens before than after it.
  constexpr Index kMaxShown = 160;
  Index first = std::max<Index>(0, selected + 1 - kMaxShown);
  const Index last = std::min(count, selected + kMaxShown);
  std::vector<double> widths;
  for (Index i = first; i < last; ++i) {
    const std::string& label = text.tokens[static_cast<std::size_t>(i)].label;
    const double width = pen.page().width_of(label, size, i == text.selected);
    widths.push_back(std::min(box.width, width + 0.6 * u));
  }
  const auto fits = [&](const Box& b) { return b.bottom() <= box.height + 0.5; };
  std::vector<Box> boxes;
  const std::string omitted = "… ";  // before the first token that is shown
  const double omitted_width = pen.page().width_of(omitted, size);
  for (;; ++first, widths.erase(widths.begin())) {
    std::vector<double> placed = widths;
    if (first > 0) placed.front() = std::min(box.width, placed.front() + omitted_width);
    boxes = wrap_boxes(placed, {box.width, 0.2 * u, line, 1.35 * u});
    const auto position = static_cast<std::size_t>(selected - first);
    const std::size_t last_required = std::min(position + 2, boxes.size() - 1);
    if (first == selected || fits(boxes[last_required])) break;
  }
  for (std::size_t n = 0; n < boxes.size() && fits(boxes[n]); ++n) {
    const Index i = first + static_cast<Index>(n);
    Box b = boxes[n];
    b.x += box.x;
    b.y += box.y;
    const Theme& theme = pen.theme();
    double weight = 0;
    if (text.weights.defined()) weight = std::clamp(static_cast<double>(text.weights[i]), 0.0, 1.0);
    const Colour background =
        blend(blend(theme.background, theme.line, 0.3), theme.accent, 0.75 * weight);
    pen.page().add(FilledBox{b, background, 0.25 * u});
    if (i == text.selected) pen.page().add(OutlinedBox{b, theme.text, std::max(1.8, 0.13 * u)});
    pen.text({b.x + b.width / 2, b.y + b.height / 2},
             (n == 0 && first > 0 ? omitted : "") + text.tokens[static_cast<std::size_t>(i)].label,
             size, b.width - 0.3 * u, Align::Middle, ink_on(background), i == text.selected);
    to.push_back({b, i});
  }
}

void draw_tokens(FlowPen& pen, const FlowStory& s, const FlowPlaces& p, FlowTargets& targets) {
  const double u = pen.unit();
  const std::vector<TraceToken>& queries = s.trace.tokens_of(s.tap.query_rows);
  const std::vector<TraceToken>& keys = s.trace.tokens_of(s.tap.key_rows);
  const bool is_same_stream = s.tap.query_rows.stream == s.tap.key_rows.stream;
  const auto length = static_cast<Index>(queries.size());
  pen.panel(p.tokens, s.trace.pixels ? "Pixels" : flow_title(FlowStage::Tokens),
            {is_same_stream ? "" : "above: query side, below: key side"});
  const Box& b = p.tokens.box;
  Box text{b.x + 0.6 * u, b.y + 2.1 * u, b.width - 1.2 * u, b.height - 2.1 * u};
  if (is_same_stream) {
    draw_text(pen, text, {queries, weights_on_text(pen, s, length), s.numbers.token},
              targets.tokens);
    return;
  }
  text.height /= 2;
  draw_text(pen, text, {queries, {}, s.numbers.token}, targets.tokens);
  text.y += text.height;
  std::vector<FlowTargets::Row> key_boxes;
  draw_text(pen, text, {keys, weights_on_text(pen, s, static_cast<Index>(keys.size())), -1},
            key_boxes);
}

// As many numbers from the start of `x` as fit, followed by "…" if `x` has more.
std::string first_numbers(const FlowPen& pen, const Tensor& x, double width) {
  std::string text;
  for (Index n = 0; n < x.size(); ++n) {
    const bool is_last = n + 1 == x.size();
    std::string next = text + (n == 0 ? "" : "  ") + fixed(static_cast<double>(x[n]), 2);
    if (pen.page().width_of(next + (is_last ? "" : "  …"), pen.small()) > width) {
      return text + "  …";
    }
    text = std::move(next);
  }
  return text;
}

void draw_embedding(FlowPen& pen, const FlowStory& s, const FlowPlaces& p) {
  const double u = pen.unit();
  const Box& b = p.embedding.box;
  const Box inside{b.x + 0.6 * u, b.y + 2.1 * u, b.width - 1.2 * u, b.height - 2.5 * u};
  if (s.numbers.states.empty()) {
    pen.panel(p.embedding, flow_title(FlowStage::Embedding));
    pen.message(inside, flow_sentence(FlowStage::Embedding, s));
    return;
  }
  const Tensor& x = s.numbers.states.front().values;
  const std::string positive = positive_colour_name(pen.theme());
  const std::string colours = "blue negative, " + positive + " positive";
  pen.panel(p.embedding, flow_title(FlowStage::Embedding),
            {grouped(x.size()) + " numbers: " + colours, colours, "blue < 0 < " + positive});
  const double range = flow_range({&x});
  const std::string name = "embedding of " + s.numbers.label;
  pen.strip({inside.x, inside.y + 0.15 * u, inside.width, 1.5 * u}, x, range, FlowSpace::Model,
            name);
  pen.text({inside.x, inside.y + 2.25 * u}, first_numbers(pen, x, inside.width), pen.small(),
           inside.width, Align::Start, pen.theme().faint_text);
}

}  // namespace

void draw_flow_input(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                     FlowTargets& targets) {
  draw_tokens(pen, story, places, targets);
  if (!places.embedding.is_present()) return;
  draw_embedding(pen, story, places);
  const Box &from = places.tokens.box, &to = places.embedding.box;
  const double y = from.y + from.height / 2, gap = 0.15 * pen.unit();
  pen.arrow_along({{from.right() + gap, y}, {to.x - gap, y}}, FlowStage::Embedding);
}

}  // namespace attnscope
