// Flow stages after the head: sum of all heads, residual stream, layers, prediction.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/figure/plain_text.h"
#include "core/view/flow/flow_drawing.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/token_bars.h"

namespace attnscope {
namespace {

constexpr double kInset = 0.55, kHeadLine = 2.2;    // units: margins of a panel's content
constexpr double kMinLine = 1.15, kMaxLine = 1.95;  // units: from row to row
constexpr double kLayerStrip = 0.66;                // height of a strip, relative to its row
constexpr double kSize = 0.95;

class LayerPanels {
 public:
  LayerPanels(FlowPen& pen, const FlowStory& story, const FlowPlaces& places, FlowTargets& targets)
      : pen_(pen), s_(story), n_(story.numbers), p_(places), u_(places.unit), targets_(targets) {}

  void draw() {
    if (p_.heads.is_present()) draw_heads();
    if (p_.residual.is_present()) draw_residual();
    if (p_.layers.is_present()) draw_states();
    if (p_.next.is_present()) draw_next();
    connect();
  }

 private:
  const Theme& theme() const { return pen_.theme(); }
  Box inside(const FlowPanel& p) const {
    return {p.box.x + kInset * u_, p.box.y + kHeadLine * u_, p.box.width - 2 * kInset * u_,
            p.box.height - (kHeadLine + 0.4) * u_};
  }
  // Height of each of `rows` rows.
  double line_of(const Box& box, Index rows) const {
    return std::clamp(box.height / static_cast<double>(std::max<Index>(1, rows)), kMinLine * u_,
                      kMaxLine * u_);
  }
  Index fit(const Box& box) const {
    return std::max<Index>(1, static_cast<Index>(box.height / (kMinLine * u_) + 1e-6));
  }
  Box strip_at(double x, double width, double y, double line) const {
    const double height = kLayerStrip * line;
    return {x, y - height / 2, width, height};
  }

  // --- 7: the heads ---------------------------------------------------------------------------

  static Tensor row_of(const Tensor& rows, Index n) {
    return rows.slice(n, 1).reshaped({rows.dim(1)});
  }

  void draw_heads() {
    const FlowHeads& heads = n_.heads;
    pen_.panel(p_.heads, flow_title(FlowStage::Heads),
               heads.adds.defined() && heads.adds.dim(0) > 1
                   ? std::vector<std::string>{"output → contribution", "contributions"}
                   : std::vector<std::string>{});
    const Box b = inside(p_.heads);
    if (!heads.adds.defined()) return pen_.message(b, flow_sentence(FlowStage::Heads, s_));
    const Index count = heads.adds.dim(0);
    const Index extra = 1 + (heads.bias.defined() ? 1 : 0);
    const Index selected = s_.session.view.head;
    const std::vector<Index> rows = shown_heads(heads.adds, selected, fit(b) - extra);
    const auto hidden = count - static_cast<Index>(rows.size());
    const double line = line_of(b, std::min(count, static_cast<Index>(rows.size()) + 1) + extra);
    const double names = head_names(rows), output = 0.26 * (b.width - names), arrow = 1.1 * u_;
    const double adds_x = b.x + names + output + arrow, adds = b.right() - adds_x;
    const double out_range = flow_range({&heads.outputs});
    const double range = flow_range({&heads.adds, &heads.joined});
    double y = b.y + line / 2;
    for (const Index a : rows) {
      draw_head(a, {b.x, y - line / 2, b.width, line}, {names, output, adds_x, adds},
                {out_range, range});
      y += line;
    }
    if (hidden > 0) {
      const std::string others =
          hidden == 1 ? "the other head" : "the other " + std::to_string(hidden);
      pen_.text({b.x, y}, others, kSize * u_, names + output, Align::Start, theme().faint_text);
      pen_.strip(strip_at(adds_x, adds, y, line), sum_of_omitted(heads.adds, rows), range,
                 FlowSpace::Model, hidden == 1 ? others : "the other heads");
      y += line;
    }
    if (heads.bias.defined()) {
      name_row(b.x, y, "bias", names, false);
      pen_.strip(strip_at(adds_x, adds, y, line), heads.bias, range, FlowSpace::Model,
                 "bias of W_o");
      y += line;
    }
    pen_.page().add(
        Line{{{adds_x, y - line / 2}, {adds_x + adds, y - line / 2}}, theme().text, 1.2});
    name_row(b.x, y, "sum", names + output, true);
    pen_.strip(strip_at(adds_x, adds, y, line), heads.joined, range, FlowSpace::Model, "all heads",
               true);
  }

  std::string head_name(Index a) const {
    const std::string name = "head " + std::to_string(a);
    return n_.heads.is_off[static_cast<std::size_t>(a)] ? name + " off" : name;
  }
  // Width of the names of `rows` and of the rows below them.
  double head_names(const std::vector<Index>& rows) const {
    constexpr double kMaxNames = 0.45;  // fraction of the panel
    double width = pen_.page().width_of("sum", kSize * u_, true);
    for (const Index a : rows) {
      const bool is_marked = a == s_.session.view.head;
      width = std::max(width, pen_.page().width_of(head_name(a), kSize * u_, is_marked));
    }
    return std::min(width + 0.5 * u_, kMaxNames * inside(p_.heads).width);
  }

  struct HeadColumns {
    double names, output, adds_x, adds;
  };
  struct HeadRanges {
    double output, adds;
  };
  void draw_head(Index a, const Box& row, const HeadColumns& widths, const HeadRanges& ranges) {
    const FlowHeads& heads = n_.heads;
    const double y = row.y + row.height / 2;
    const bool marked = a == s_.session.view.head;
    const std::string name = "head " + std::to_string(a);
    name_row(row.x, y, head_name(a), widths.names - 0.2 * u_, marked);
    pen_.strip(strip_at(row.x + widths.names, widths.output, y, row.height),
               row_of(heads.outputs, a), ranges.output, FlowSpace::Value, "output of " + name,
               marked);
    pen_.text({widths.adds_x - 0.55 * u_, y}, "→", pen_.page().legible(0.9 * u_), u_, Align::Middle,
              theme().faint_text);
    pen_.strip(strip_at(widths.adds_x, widths.adds, y, row.height), row_of(heads.adds, a),
               ranges.adds, FlowSpace::Model, "contribution of " + name, marked);
    targets_.heads.push_back({row, a});
  }

  // The selected head and the largest contributors, ascending; max_heads - 1 if not all fit.
  static std::vector<Index> shown_heads(const Tensor& adds, Index selected, Index max_heads) {
    std::vector<Index> heads;
    for (Index a = 0; a < adds.dim(0); ++a) heads.push_back(a);
    if (adds.dim(0) <= max_heads) return heads;
    const auto length = [&](Index a) {
      double sum = a == selected ? INFINITY : 0;
      for (Index n = 0; n < adds.dim(1); ++n) {
        sum += static_cast<double>(adds(a, n)) * static_cast<double>(adds(a, n));
      }
      return sum;
    };
    std::ranges::stable_sort(heads, std::greater<>(), length);
    heads.resize(static_cast<std::size_t>(std::max<Index>(1, max_heads - 1)));
    std::ranges::sort(heads);
    return heads;
  }
  static Tensor sum_of_omitted(const Tensor& adds, const std::vector<Index>& rows) {
    Tensor omitted = Tensor::zeros({adds.dim(1)});
    for (Index a = 0; a < adds.dim(0); ++a) {
      if (std::ranges::find(rows, a) != rows.end()) continue;
      for (Index n = 0; n < omitted.size(); ++n) omitted[n] += adds(a, n);
    }
    return omitted;
  }

  void name_row(double x, double y, const std::string& name, double max_width, bool is_bold) {
    pen_.text({x, y}, name, kSize * u_, max_width, Align::Start,
              is_bold ? theme().accent : theme().text, is_bold);
  }

  // --- 8 and 9: the layer ---------------------------------------------------------------------

  std::string join_note() const {
    switch (n_.layer->join) {
      case FlowLayer::Join::Normed:
        return "then normalised";
      case FlowLayer::Join::Gated:
        return "through a gate";
      case FlowLayer::Join::Replaced:
        return "replaces the input";
      case FlowLayer::Join::Copied:
        return "copied";
      case FlowLayer::Join::Off:
        return "switched off";
      case FlowLayer::Join::Sum:
        break;
    }
    return "";
  }

  void draw_residual() {
    pen_.panel(p_.residual, flow_title(FlowStage::Residual), {n_.layer ? join_note() : ""});
    const bool has_feed_forward = n_.layer && std::ranges::any_of(n_.layer->terms, is_feed_forward);
    pen_.panel(p_.feed_forward, flow_title(FlowStage::FeedForward),
               {n_.layer && has_feed_forward ? join_note() : ""});
    if (!n_.layer) {
      pen_.message(inside(p_.residual), flow_sentence(FlowStage::Residual, s_));
      pen_.message(inside(p_.feed_forward), flow_sentence(FlowStage::FeedForward, s_));
      return;
    }
    const FlowLayer& layer = *n_.layer;
    std::vector<const Tensor*> vectors{&layer.input.values, &layer.output};
    for (const FlowTerm& term : layer.terms) vectors.push_back(&term.values);
    const double range = flow_range(vectors);
    std::vector<const FlowTerm*> upper{&layer.input}, lower;
    for (const FlowTerm& term : layer.terms) {
      (is_feed_forward(term) ? lower : upper).push_back(&term);
    }
    draw_terms(p_.residual, upper, range, nullptr);
    draw_terms(p_.feed_forward, lower, range, &layer.output);
  }
  static bool is_feed_forward(const FlowTerm& term) { return term.name == "feed-forward"; }

  void draw_terms(const FlowPanel& panel, const std::vector<const FlowTerm*>& terms, double range,
                  const Tensor* output) {
    const Box b = inside(panel);
    const double line = line_of(b, static_cast<Index>(terms.size()) + (output != nullptr ? 1 : 0));
    const double names = term_names(b.width);
    double y = b.y + line / 2;
    const auto row = [&](const std::string& name, const Tensor& values, bool is_bold) {
      name_row(b.x, y, name, names - 0.3 * u_, is_bold);
      pen_.strip(strip_at(b.x + names, b.width - names, y, line), values, range, FlowSpace::Model,
                 name, is_bold);
      y += line;
    };
    for (const FlowTerm* term : terms) {
      const bool is_input = term == &n_.layer->input;
      row((is_input ? "" : term_prefix()) + term->name, term->values, false);
    }
    if (output != nullptr) row(output_name(), *output, true);
  }

  std::string term_prefix() const {
    return n_.layer->join == FlowLayer::Join::Replaced ? "→ " : "+ ";
  }
  std::string output_name() const {
    const Index selected = selected_state();
    return "= " + (selected < 0 ? "after" : n_.states[static_cast<std::size_t>(selected)].label);
  }
  // Width of names in both panels, so that their strips line up.
  double term_names(double width) const {
    double names = pen_.page().width_of(output_name(), kSize * u_, true);
    for (const FlowTerm& term : n_.layer->terms) {
      names = std::max(names, pen_.page().width_of(term_prefix() + term.name, kSize * u_));
    }
    return std::min(names + 0.6 * u_, std::max(0.6 * width, width - 2.2 * u_));
  }

  // --- 10: the layers -------------------------------------------------------------------------

  Index selected_state() const {
    const HeadRef head = head_ref(s_.trace, s_.session.view);
    const auto found = std::ranges::find_if(n_.states, [&](const FlowState& state) {
      return state.layer && state.layer->layer == head.layer &&
             state.layer->part.step == head.part.step;
    });
    return found == n_.states.end() ? -1 : found - n_.states.begin();
  }

  void draw_states() {
    const bool has_guesses = !n_.states.empty() && !n_.states.back().guess.empty();
    pen_.panel(p_.layers, flow_title(FlowStage::Layers), {has_guesses ? "logit lens" : ""});
    const Box b = inside(p_.layers);
    if (n_.states.empty()) {
      return pen_.message(b, flow_sentence(FlowStage::Layers, s_));
    }
    const Index selected = selected_state();
    const std::vector<Index> rows =
        flow_rows(static_cast<Index>(n_.states.size()), selected, fit(b));
    const double line = line_of(b, static_cast<Index>(rows.size()));
    double names = 0;
    for (const FlowState& state : n_.states) {
      names = std::max(names, pen_.page().width_of(state.label, kSize * u_));
    }
    names = std::min(names + 0.5 * u_, 0.5 * b.width);
    const double guess_space = has_guesses ? guess_width(b.width - names) : 0;
    double y = b.y + line / 2;
    for (const Index n : rows) {
      if (n < 0) {
        pen_.text({b.x, y}, "…", kSize * u_, names, Align::Start, theme().faint_text);
      } else {
        const FlowState& state = n_.states[static_cast<std::size_t>(n)];
        name_row(b.x, y, state.label, names - 0.2 * u_, n == selected);
        pen_.strip(strip_at(b.x + names, b.width - names - guess_space, y, line), state.values,
                   flow_range({&state.values}), FlowSpace::Model, state.label, n == selected);
        if (state.copied) {
          pen_.text({b.right(), y}, "copied", pen_.small(), guess_space - 0.4 * u_, Align::End,
                    theme().faint_text);
        } else {
          draw_guess(state, b.right(), y, guess_space - 0.4 * u_);
        }
        targets_.states.push_back({{b.x, y - line / 2, b.width, line}, n});
      }
      y += line;
    }
  }

  double probability_width(const FlowState& state) const {
    return pen_.page().width_of(format_weight(state.probability, true), pen_.small()) + 0.35 * u_;
  }
  // Width of the widest prediction with its probability, limited so that vectors have space.
  double guess_width(double width) const {
    double widest = 0;
    for (const FlowState& state : n_.states) {
      if (state.guess.empty()) continue;
      widest = std::max(widest,
                        pen_.page().width_of(state.guess, kSize * u_) + probability_width(state));
    }
    return std::min(widest + 0.6 * u_, std::max(0.6 * width, width - 2.3 * u_));
  }

  // Omits the probability unless it fits after the whole prediction.
  void draw_guess(const FlowState& state, double right, double y, double max_width) {
    if (state.guess.empty() || max_width < u_) return;
    const double number_width = probability_width(state);
    const bool fits = pen_.page().width_of(state.guess, kSize * u_) + number_width <= max_width;
    if (fits) {
      pen_.text({right, y}, format_weight(state.probability, true), pen_.small(), number_width,
                Align::End, theme().faint_text);
    }
    pen_.text({right - (fits ? number_width : 0), y}, state.guess, kSize * u_,
              max_width - (fits ? number_width : 0), Align::End, theme().text);
  }

  // --- 11: the next token ---------------------------------------------------------------------

  void draw_next() {
    pen_.panel(p_.next, next_title());
    const Box b = inside(p_.next);
    if (n_.candidates.empty()) return pen_.message(b, flow_sentence(FlowStage::Next, s_));
    const Index rows = std::min(prediction_count(), fit(b));
    const double line = line_of(b, rows);
    std::vector<std::string> labels;
    for (Index n = 0; n < rows; ++n) {
      labels.push_back(n_.candidates[static_cast<std::size_t>(n)].label);
    }
    labels = distinct_labels(pen_.page(), std::move(labels));
    double names = 0, numbers = 0;
    for (Index n = 0; n < rows; ++n) {
      const FlowCandidate& candidate = n_.candidates[static_cast<std::size_t>(n)];
      const std::string number = format_weight(candidate.probability, true);
      names = std::max(
          names, pen_.page().width_of(labels[static_cast<std::size_t>(n)], kSize * u_, n == 0));
      numbers = std::max(numbers, pen_.page().width_of(number, pen_.small(), n == 0));
    }
    const double number_width = numbers + 0.4 * u_;
    names = std::min(names + 0.4 * u_, std::max(0.5 * b.width, b.width - number_width - 1.2 * u_));
    const double room = std::max(2.0, b.width - names - number_width);
    double y = b.y + line / 2;
    const Colour colour = pen_.stage_colour(FlowStage::Next);
    for (Index n = 0; n < rows; ++n) {
      const FlowCandidate& candidate = n_.candidates[static_cast<std::size_t>(n)];
      pen_.text({b.x, y}, labels[static_cast<std::size_t>(n)], kSize * u_, names - 0.3 * u_,
                Align::Start, theme().text, n == 0);
      const double length = candidate.probability * room;
      pen_.page().add(FilledBox{{b.x + names, y - 0.28 * line, std::max(1.0, length), 0.56 * line},
                                n == 0 ? colour : blend(theme().background, colour, 0.55)});
      pen_.text({b.right(), y}, format_weight(candidate.probability, true), pen_.small(),
                number_width, Align::End, theme().text, n == 0);
      y += line;
    }
  }

  // Number of non-negligible predictions, at least three.
  Index prediction_count() const {
    constexpr double kMinProbability = 0.0005;
    Index count = 0;
    for (const FlowCandidate& candidate : n_.candidates) {
      if (candidate.probability >= kMinProbability || count < 3) ++count;
    }
    return count;
  }

  std::string next_title() const {
    if (!predicts_next_tokens(s_.trace)) return "Next action";
    if (predicts_masked_tokens(s_.trace)) return "This position";
    if (s_.tap.address.stack == Stack::Encoder) return "To the decoder";
    if (s_.trace.pixels) return "Next pixel";
    return flow_title(FlowStage::Next);
  }

  void connect() {
    const double gap = 0.15 * u_;
    // Arrow from the head's output to its row among the heads.
    const FlowPanel& next = p_.heads.is_present() ? p_.heads : p_.layers;
    const Box &from = (p_.weighted.is_present() ? p_.weighted : p_.values).box, &to = next.box;
    const double middle = (from.bottom() + to.y) / 2;
    const double out = from.x + from.width / 2, in = to.x + 5 * u_;
    pen_.arrow_along({{out, from.bottom() + gap}, {out, middle}, {in, middle}, {in, to.y - gap}},
                     next.stage);
    const auto draw_arrow_across = [&](const Box& a, const FlowPanel& b) {
      const double y = b.box.y + 1.1 * u_;
      pen_.arrow_along({{a.right() + gap, y}, {b.box.x - gap, y}}, b.stage);
    };
    if (p_.next.is_present() && p_.layers.is_present()) draw_arrow_across(p_.layers.box, p_.next);
    if (!p_.residual.is_present()) return;
    draw_arrow_across(p_.heads.box, p_.residual);
    const Box &above = p_.residual.box, &below = p_.feed_forward.box;
    const double x = above.x + above.width / 2;
    pen_.arrow_along({{x, above.bottom() + 0.5}, {x, below.y - 0.5}}, FlowStage::FeedForward);
    const double y = below.y + below.height / 2;
    if (!p_.layers.is_present()) return;
    pen_.arrow_along({{below.right() + gap, y}, {p_.layers.box.x - gap, y}}, FlowStage::Layers);
  }

  FlowPen& pen_;
  const FlowStory& s_;
  const FlowNumbers& n_;
  const FlowPlaces& p_;
  const double u_;
  FlowTargets& targets_;
};

}  // namespace

std::vector<Index> flow_rows(Index count, Index selected, Index max_rows) {
  std::vector<Index> rows;
  if (count <= max_rows) {
    for (Index n = 0; n < count; ++n) rows.push_back(n);
    return rows;
  }
  selected = std::clamp<Index>(selected, 0, count - 1);
  // Lists the first row, the last, those around the selected one, and two marks for omitted rows.
  // If few rows fit, omits the first, then the last.
  constexpr Index kWithLast = 3, kWithFirst = 5;  // minimum rows
  const bool has_first = max_rows >= kWithFirst, has_last = max_rows >= kWithLast;
  const Index neighbours = std::max<Index>(1, max_rows - (has_first ? 2 : 0) - (has_last ? 2 : 0));
  const Index first = std::clamp<Index>(selected - neighbours / 2, 0, count - neighbours);
  const Index last = first + neighbours;
  if (has_first && first > 0) rows.push_back(0);
  if (has_first && first > 1) rows.push_back(-1);
  for (Index n = first; n < last; ++n) rows.push_back(n);
  if (has_last && last < count - 1) rows.push_back(-1);
  if (has_last && last < count) rows.push_back(count - 1);
  return rows;
}

void draw_flow_layers(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                      FlowTargets& targets) {
  LayerPanels(pen, story, places, targets).draw();
}

}  // namespace attnscope
