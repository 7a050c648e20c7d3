#include "core/view/steps/computation_graph.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/prediction.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/model/sample.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/page.h"
#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

// Sizes in em.
constexpr double kMinTokenWidth = 8, kMaxTokenWidth = 13, kMargin = 3.2;
constexpr double kMinPitch = 2.8, kMaxPitch = 4.2;  // from one sub-step to the next
constexpr double kStrip = 1.1;                      // height of a state
constexpr double kTextLine = 1.5;
// Horizontal places within a column, as shares of its width.
constexpr double kInputRail = 0.03, kStripLeft = 0.1, kStripRight = 0.55, kMeanRail = 0.88,
                 kCarryRail = 0.96;

std::string state_tap(Index step) {
  return "steps." + std::to_string(step) + ".state";
}

class ComputationGraph {
 public:
  ComputationGraph(const ViewInput& input, Page& page, const HaltingRecord& record)
      : input_(input), page_(page), trace_(input.trace), record_(record) {}

  ViewLayout lay_out(const Box& inside) {
    if (!place(inside)) return no_space(page_);
    draw_heading(inside);
    for (Index n = 0; n < shown_; ++n) draw_token(n);
    return finish();
  }

 private:
  double em() const { return page_.em(); }
  Index token(Index column) const { return first_ + column; }
  Index steps_of(Index column) const {
    return record_.steps[static_cast<std::size_t>(token(column))];
  }
  double x(Index column, double share) const {
    return left_ + (static_cast<double>(column) + share) * width_;
  }
  // Middle of sub-step n (from 1); the mean is above the last possible sub-step of the text.
  double y(Index step) const { return bottom_ - static_cast<double>(step) * pitch_; }
  double mean_y() const { return y(most_steps_ + 1) - 0.2 * pitch_; }

  // Weight of a sub-step in the mean: h, or the remainder R of the last one.
  double weight(Index column, Index step) const {
    if (step == steps_of(column)) return record_.remainder[static_cast<std::size_t>(token(column))];
    return static_cast<double>(record_.probability(token(column), step - 1));
  }

  bool place(const Box& inside) {
    const auto fitting =
        static_cast<Index>((inside.width - kMargin * em()) / (kMinTokenWidth * em()));
    shown_ = std::min(record_.length(), fitting);
    if (shown_ < 1) return false;
    const Index pinned = input_.session.view.pinned_query;
    const auto scrolled = static_cast<Index>(std::max(0.0, input_.session.view.row));
    first_ = pinned >= 0 ? pinned - shown_ / 2 : scrolled;
    first_ = std::clamp<Index>(first_, 0, record_.length() - shown_);
    for (Index n = 0; n < shown_; ++n) most_steps_ = std::max(most_steps_, steps_of(n));
    width_ = std::min(kMaxTokenWidth * em(),
                      (inside.width - kMargin * em()) / static_cast<double>(shown_));
    left_ = inside.x + (inside.width - kMargin * em() - width_ * static_cast<double>(shown_)) / 2 +
            kMargin * em();
    const double fixed_height = 4.7 * kTextLine * em();
    const double rows = static_cast<double>(most_steps_) + 1.2;
    pitch_ = std::min(kMaxPitch * em(), (inside.height - fixed_height) / rows);
    if (pitch_ < kMinPitch * em()) return false;
    const double content = fixed_height + rows * pitch_;
    top_ = inside.y + page_.top_margin(inside.height, content);
    bottom_ = top_ + content - 1.6 * kTextLine * em();
    if (input_.interaction.pointer) {
      const double column = (input_.interaction.pointer->x - left_) / width_;
      if (column >= 0 && column < static_cast<double>(shown_))
        hovered_ = static_cast<Index>(column);
    }
    return true;
  }

  void draw_heading(const Box& inside) {
    const std::string mean = brief(record_.mean_steps()) + " sub-steps per token";
    const std::string limit = " (maximum " + std::to_string(record_.max_steps) + ")";
    const std::string cost = ", ponder cost " + brief(record_.ponder());
    std::string range, advice;
    if (shown_ < record_.length()) {
      range = ". Tokens " + std::to_string(first_) + "–" + std::to_string(first_ + shown_ - 1) +
              " of " + std::to_string(record_.length());
      advice = "; pin another to see it";
    }
    page_.text({inside.x, top_ + 0.5 * em()},
               page_.fitting({mean + limit + cost + range + advice, mean + limit + cost + range,
                              mean + cost + range, mean + range, mean},
                             em(), inside.width),
               em());
    const double labels = left_ - 0.3 * em();
    const auto label = [&](double at, const char* name) {
      page_.faint_text({labels, at}, name, page_.small(), Align::End);
    };
    label(mean_y(), "mean");
    for (Index step = 1; step <= most_steps_; ++step) {
      label(y(step), std::to_string(step).c_str());
    }
    label(input_y(), "input");
    label(output_y(), "next");
  }

  double input_y() const { return bottom_ + 0.4 * em(); }
  double output_y() const { return mean_y() - 1.3 * kTextLine * em(); }

  void line(std::vector<Point> points, double thickness, Colour colour) {
    page_.add(Line{std::move(points), colour, thickness});
  }
  void draw_arrow(Point from, Point to, double thickness, Colour colour) {
    for (const Line& part : arrow(from, to, colour, thickness)) page_.add(part);
  }

  // A state as a strip of its components.
  void draw_state(Index column, double middle, const std::string& tap, bool is_bold) {
    const Tensor& states = trace_.taps.at(tap);  // [L, d]
    const Index size = states.dim(1);
    HeatMap strip;
    strip.box = {x(column, kStripLeft), middle - kStrip * em() / 2,
                 (kStripRight - kStripLeft) * width_, kStrip * em()};
    strip.values = states.slice(token(column), 1);
    strip.height = 1;
    strip.width = static_cast<double>(size);
    strip.least = -1;  // states of a GRU and their means are within [-1, 1]
    strip.most = 1;
    strip.colour_map = diverging_colours(page_.theme());
    page_.add(strip);
    const bool is_marked = column == hovered_ || is_bold;
    page_.add(OutlinedBox{strip.box, is_marked ? page_.theme().text : page_.theme().line,
                          is_bold ? 1.6 : 1.0});
  }

  void draw_sub_step(Index column, Index step) {
    const double middle = y(step), half = kStrip * em() / 2;
    const double centre = x(column, (kStripLeft + kStripRight) / 2);
    const Colour ink = page_.theme().faint_text;
    // The input reaches every sub-step; a flag marks the first.
    const double rail = x(column, kInputRail);
    if (step > 1) {
      line({{rail, input_y() - 0.8 * em()}, {rail, middle}}, 1, page_.theme().line);
      draw_arrow({rail, middle}, {x(column, kStripLeft), middle}, 1, page_.theme().line);
      draw_arrow({centre, y(step - 1) - half}, {centre, middle + half}, 1.4, ink);
    } else {
      draw_arrow({centre, input_y() - 0.8 * em()}, {centre, middle + half}, 1.4, ink);
      page_.faint_text({centre + 0.4 * em(), (input_y() - 0.8 * em() + middle + half) / 2},
                       "+ flag", page_.small());
    }
    draw_state(column, middle, state_tap(step), false);
    const auto h = static_cast<double>(record_.probability(token(column), step - 1));
    page_.faint_text({centre + 0.4 * em(), middle - half - 0.65 * em()}, "h " + fixed(h, 2),
                     page_.small());
    draw_weight(column, step);
  }

  // Line from a sub-step to the mean.
  void draw_weight(Index column, Index step) {
    const double p = weight(column, step), rail = x(column, kMeanRail);
    const double thickness = 0.6 + 3.4 * p;
    const Colour colour = translucent(page_.theme().accent, 0.35 + 0.65 * p);
    line({{x(column, kStripRight), y(step)}, {rail, y(step)}}, thickness, colour);
    line({{rail, y(step)}, {rail, mean_y()}}, thickness, colour);
    const bool is_last = step == steps_of(column);
    page_.add(Text{{(x(column, kStripRight) + rail) / 2, y(step) + 0.75 * em()},
                   (is_last ? "R " : "p ") + fixed(p, 2),
                   page_.theme().text,
                   page_.small(),
                   Align::Middle,
                   0,
                   is_last});
  }

  void draw_mean(Index column) {
    const double middle = mean_y(), half = kStrip * em() / 2;
    draw_arrow({x(column, kMeanRail), middle}, {x(column, kStripRight), middle}, 2,
               page_.theme().accent);
    draw_state(column, middle, "final", true);
    const double centre = x(column, (kStripLeft + kStripRight) / 2);
    draw_arrow({centre, middle - half}, {centre, output_y() + 0.8 * em()}, 1.4,
               page_.theme().faint_text);
    if (column + 1 >= shown_) return;
    // Carried to the first sub-step of the next token, around the column's lines.
    const double rail = x(column, kCarryRail), above = middle - half - 0.35 * em();
    const Colour ink = page_.theme().text;
    const double from = x(column, kStripRight) - 0.5 * em();
    line({{from, middle - half}, {from, above}, {rail, above}, {rail, y(1)}}, 1.6, ink);
    draw_arrow({rail, y(1)}, {x(column + 1, kStripLeft), y(1)}, 1.6, ink);
  }

  void draw_token(Index column) {
    for (Index step = 1; step <= steps_of(column); ++step) draw_sub_step(column, step);
    draw_mean(column);
    const double centre = x(column, (kStripLeft + kStripRight) / 2);
    const std::string& label = trace_.tokens[static_cast<std::size_t>(token(column))].label;
    page_.add(Text{{centre, input_y()},
                   page_.ellipsised(label, 1.1 * em(), 0.9 * width_, true),
                   page_.theme().text,
                   1.1 * em(),
                   Align::Middle,
                   0,
                   true});
    page_.text({centre, output_y()}, page_.ellipsised(prediction(column), em(), 0.9 * width_), em(),
               Align::Middle);
  }

  // The most likely next token and its probability.
  std::string prediction(Index column) const {
    if (!trace_.logits.defined()) return "";
    const std::vector<double> all = probabilities(trace_.logits.row(token(column)), {});
    const Candidate best = likeliest(all, 1).front();
    return token_label(trace_, best.id) + "  " + percent(best.probability);
  }

  ViewLayout finish() {
    ViewLayout layout;
    const ViewSettings& view = input_.session.view;
    const Box plot{left_, top_, width_ * static_cast<double>(shown_), input_y() + em() - top_};
    layout.hit = [plot, first = first_, width = width_, layer = view.layer,
                  head = view.head](Point p) -> std::optional<Hit> {
      if (!plot.contains(p)) return std::nullopt;
      return Hit{layer, head, first + static_cast<Index>((p.x - plot.x) / width), -1};
    };
    layout.list = page_.take(input_y() + 1.2 * em());
    return layout;
  }

  const ViewInput& input_;
  Page& page_;
  const Trace& trace_;
  const HaltingRecord& record_;
  Index first_ = 0, shown_ = 0, most_steps_ = 0, hovered_ = -1;
  double left_ = 0, width_ = 0, pitch_ = 0, top_ = 0;
  double bottom_ = 0;  // a pitch below the first sub-step
};

}  // namespace

bool has_sub_steps(const Trace& trace) {
  return trace.taps.contains(state_tap(1));
}

ViewLayout lay_out_computation_graph(const ViewInput& input, const HaltingRecord& record) {
  Page page(input);
  const Box inside = page.frame(
      input.trace.model + " · computation graph",
      caption(
          input.trace,
          "Computation graph of a recurrent network with adaptive computation time. For each "
          "token the cell takes sub-steps, upwards: each strip is a state, and h its halting "
          "probability. When the sum of h reaches 1 within ε, the token halts. The mean of the "
          "states, weighted by p = h and for the last one by the remainder R, predicts the next "
          "token and is the state with which that token begins."));
  return ComputationGraph(input, page, record).lay_out(inside);
}

}  // namespace attnscope
