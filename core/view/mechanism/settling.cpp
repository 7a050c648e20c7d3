// Hopfield: a query is updated towards the keys step by step, with decreasing energy.
#include "core/analysis/settling.h"

#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/panel.h"
#include "core/view/mechanism/steps.h"
#include "core/view/mechanism/token_line.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

constexpr Index kMaxSettling = 2048;      // tokens
constexpr double kMinPart = 9;            // em: width and height
constexpr double kPlaneFraction = 0.5;    // fraction of the width for the plane
constexpr double kWeightsFraction = 0.5;  // fraction of the height for the weights
constexpr double kMaxStepRow = 2;         // em
constexpr double kMinSettled = 0.5;       // minimum weight of a key to which a query has converged
constexpr double kPlaneMargin = 0.08;     // fraction of the range

bool shows_settling(const AttentionTap& tap) {
  return settling_refusal(tap).empty() && tap.queries() <= kMaxSettling &&
         tap.keys() <= kMaxSettling;
}

struct SettlingPlan {
  Settling settling;
  Index query = 0;
  TokenLine line;
  Box sentence, plane, weights, energy;  // plane, weights and energy include their sentences
};

// Number of steps of each query.  [L]
Tensor step_counts(const HeadInput& in) {
  const IntTensor& steps = in.tap.result.extra_counts.at("hopfield.steps");
  Tensor result({in.tap.queries()});
  for (Index i = 0; i < result.size(); ++i) result[i] = static_cast<float>(steps(in.head, i));
  return result;
}

std::optional<SettlingPlan> plan_settling(const Page& page, const Box& inside,
                                          const HeadInput& in) {
  const double em = page.em(), step = step_height(page);
  SettlingPlan plan;
  plan.query = illustrated_token(in);
  plan.sentence = {inside.x, inside.y, inside.width, step};
  const Tensor counts = step_counts(in);
  plan.line = place_token_line(page, below(inside, step), query_axis(in.input.trace, in.tap),
                               {{"steps", counts, range_of_numbers(page, counts)}});
  const Box area = below(inside, plan.line.bottom() - inside.y + 0.8 * em);
  Box right_part;
  std::tie(plan.plane, right_part) = split(page, area, kPlaneFraction);
  plan.weights = {right_part.x, right_part.y, right_part.width,
                  kWeightsFraction * right_part.height};
  plan.energy = below(right_part, plan.weights.height + 0.5 * em);
  if (plan.plane.width < kMinPart * em || plan.plane.height < step + kMinPart * em) return {};
  if (plan.weights.height < step + kMinPart * em) return {};
  return plan;
}

// Chart that contains all points, with equal scales on both axes.
Chart place_plane(const Box& box, const std::vector<std::pair<double, double>>& points) {
  double left = 0, right = 0, low = 0, high = 0;
  for (const auto& [x, y] : points) {
    left = std::min(left, x);
    right = std::max(right, x);
    low = std::min(low, y);
    high = std::max(high, y);
  }
  const double margin = 1 + 2 * kPlaneMargin;
  double unit = std::max(margin * (right - left) / box.width, margin * (high - low) / box.height);
  if (!(unit > 0)) unit = 1 / box.width;
  const double x = (left + right) / 2, y = (low + high) / 2;
  const double half_width = unit * box.width / 2, half_height = unit * box.height / 2;
  Chart chart;
  chart.plot = box;
  chart.x.least = x - half_width;
  chart.x.most = x + half_width;
  chart.y.least = y - half_height;
  chart.y.most = y + half_height;
  return chart;
}

// Draws labels that do not overlap earlier ones.
class PlaneLabels {
 public:
  PlaneLabels(Page& page, const Box& box) : page_(page), box_(box) {}
  void add(Point p, const std::string& text, bool is_bold, Colour colour) {
    const double size = is_bold ? page_.em() : page_.small();
    const double width = page_.width_of(text, size, is_bold), gap = 0.55 * page_.em();
    for (const bool is_right : {true, false}) {
      const Box box{is_right ? p.x + gap : p.x - gap - width, p.y - 0.65 * size, width, 1.3 * size};
      if (box.x < box_.x || box.right() > box_.right() || box.y < box_.y ||
          box.bottom() > box_.bottom()) {
        continue;
      }
      if (std::ranges::any_of(occupied_, [&](const Box& label) {
            return box.x < label.right() && label.x < box.right() && box.y < label.bottom() &&
                   label.y < box.bottom();
          })) {
        continue;
      }
      occupied_.push_back(box);
      page_.add(Text{{box.x, p.y}, text, colour, size, Align::Start, 0, is_bold});
      return;
    }
  }
  void reserve(Point p, double radius) {
    occupied_.push_back({p.x - radius, p.y - radius, 2 * radius, 2 * radius});
  }

 private:
  Page& page_;
  Box box_;
  std::vector<Box> occupied_;
};

// Indices into Settling::keys by descending weight in the last step.
std::vector<std::size_t> keys_by_weight(const Settling& settling) {
  std::vector<std::size_t> order(settling.keys.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t n) {
    return settling.weights(settling.steps() - 1, settling.keys[n]);
  });
  return order;
}

void draw_plane(Page& page, const SettlingPlan& plan, const HeadInput& in,
                const std::string& word) {
  const double em = page.em();
  const Settling& settling = plan.settling;
  const Box box = draw_step(
      page, plan.plane, 2,
      {"Move: " + word + " starts at its query q and moves to the weighted mean of the keys",
       "Move: " + word + " moves from q towards keys", "Move towards keys", "Move"});
  const Plane plane(settling.patterns);
  const auto keys = plane.project(settling.patterns), path = plane.project(settling.states);
  std::vector<std::pair<double, double>> points = keys;
  points.insert(points.end(), path.begin(), path.end());
  const Box inner{box.x, box.y, box.width, box.height - 1.6 * em};
  const Chart chart = place_plane(inner, points);
  const auto pixel_of = [&](const std::pair<double, double>& p) {
    return Point{chart.at_x(p.first), chart.at_y(p.second)};
  };
  page.add(OutlinedBox{inner, page.theme().line, 1});
  PlaneLabels labels(page, inner);
  for (std::size_t n = 0; n < keys.size(); ++n) {
    page.add(disc(pixel_of(keys[n]), 0.28 * em, page.theme().faint_text));
  }
  std::vector<Point> line;
  for (const auto& p : path) line.push_back(pixel_of(p));
  page.add(Line{line, page.theme().accent, 2});
  for (std::size_t t = 0; t < line.size(); ++t) {
    const bool is_end = t == 0 || t + 1 == line.size();
    page.add(disc(line[t], (is_end ? 0.42 : 0.25) * em, page.theme().accent));
    labels.reserve(line[t], 0.3 * em);
  }
  labels.add(line.front(), "q", true, page.theme().accent);
  const std::string last = std::to_string(settling.steps());
  const bool is_near =
      static_cast<double>(settling.weights(settling.steps() - 1, settling.nearest)) > kMinSettled;
  const std::string key = key_label(in.input.trace, in.tap, settling.nearest);
  const std::string after = settling.steps() == 1 ? "after 1 step" : "after " + last + " steps";
  labels.add(line.back(), after + (is_near ? ", at “" + key + "”" : ""), true, page.theme().accent);
  for (const std::size_t n : keys_by_weight(settling)) {
    labels.add(pixel_of(keys[n]), key_label(in.input.trace, in.tap, settling.keys[n]), false,
               page.theme().text);
  }
  const std::string share = percent(plane.explained_fraction());
  page.faint_text({box.x, box.bottom() - 0.6 * em},
                  page.fitting({"keys projected to their first two principal components: " + share +
                                    " of the variance",
                                "two principal components, " + share, "two directions of " + share},
                               page.small(), box.width),
                  page.small());
}

std::vector<std::string> settled_texts(const SettlingPlan& plan, const HeadInput& in) {
  const Settling& settling = plan.settling;
  const std::string key = "“" + key_label(in.input.trace, in.tap, settling.nearest) + "”";
  const double weight =
      static_cast<double>(settling.weights(settling.steps() - 1, settling.nearest));
  const std::string percentage = percent(weight);
  const char* end = weight > kMinSettled ? "settles on " : "remains between keys, mostly at ";
  return {std::string("Weigh: ") + end + key + " with " + percentage + " of the weight",
          end + key + ", " + percentage, "Weigh " + key, "Weigh"};
}

// Draws the weights: rows are steps, columns are keys.
void draw_weights(Page& page, const SettlingPlan& plan, const HeadInput& in) {
  const double em = page.em();
  const Settling& settling = plan.settling;
  const Box box = draw_step(page, plan.weights, 3, settled_texts(plan, in));
  TokenAxis keys = key_axis(in.input.trace, in.tap);
  keys.titles = {};
  const std::string title = "step";
  const double left = page.width_of(title, page.small()) + em, bar_width = colour_bar_width(page);
  const double width = box.width - left - bar_width;
  const double top = axis_depth_top(page, keys, width, std::min(5.5 * em, 0.5 * box.height));
  const auto rows = static_cast<double>(settling.steps());
  const double height = std::min(box.height - top, kMaxStepRow * em * rows);
  const Box cells{box.x + left, box.y + top, width, height};
  const ColourRange range = range_of_numbers(page, settling.weights);
  draw_axis_top(page, keys, {0, static_cast<double>(keys.count()), cells.x, cells.width}, cells.y,
                top, settling.nearest);
  draw_panel(page, cells, settling.weights, range);
  const Index label_distance = label_step(height / rows, page.small() * kLineHeight);
  for (Index t = 0; t < settling.steps(); t += label_distance) {
    const double y = cells.y + (static_cast<double>(t) + 0.5) * height / rows;
    page.text({cells.x - 0.5 * em, y}, (t == 0 ? "step " : "") + std::to_string(t + 1),
              page.small(), Align::End);
  }
  draw_colour_bar(page, {cells.right(), cells.y, bar_width, std::max(height, 5 * em)}, range,
                  {"weight", ""});
}

void draw_energy(Page& page, const SettlingPlan& plan) {
  const Settling& settling = plan.settling;
  const bool has_energy = !settling.energy.empty();
  const Box box =
      draw_step(page, plan.energy, 4,
                {has_energy ? "Energy: no step increases it" : "With β ≤ 0 there is no energy",
                 has_energy ? "Energy decreases" : "No energy", "Energy"});
  if (!has_energy) return;
  const auto [min_energy, max_energy] = std::ranges::minmax(settling.energy);
  ChartAxis x = padded_axis(0, static_cast<double>(settling.steps()), true);
  x.titles = {"steps made"};
  x.whole = true;
  ChartAxis y = padded_axis(min_energy, max_energy, false);
  y.titles = {"energy", ""};
  const Chart chart = place_chart(page, box, std::move(x), std::move(y));
  if (chart.empty()) return;
  draw_chart(page, chart);
  std::vector<Point> points;
  for (std::size_t t = 0; t < settling.energy.size(); ++t) {
    points.push_back({static_cast<double>(t), settling.energy[t]});
  }
  draw_curve(page, chart, points, page.theme().accent, 2);
  for (const Point& p : points) {
    page.add(disc({chart.at_x(p.x), chart.at_y(p.y)}, 0.28 * page.em(), page.theme().accent));
  }
}

MechanismLayout draw_settling(Page& page, const Box& inside, const HeadInput& in) {
  std::optional<SettlingPlan> plan = plan_settling(page, inside, in);
  if (!plan) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = token_hit_test(plan->line);
  if (in.input.interaction.pointer) {
    if (const auto pair = layout.pair_at(*in.input.interaction.pointer)) plan->query = pair->query;
  }
  plan->settling = settling_of(in.tap, in.head, plan->query);
  const std::string word = "“" + query_label(in.input.trace, in.tap, plan->query) + "”";
  draw_step(
      page, plan->sentence, 1,
      {"Every query is updated until it converges, up to the maximum number of steps; here token " +
           std::to_string(plan->query) + ", " + word,
       "Iterative updates; here " + word, word});
  draw_token_line(page, plan->line, plan->query);
  layout.bottom = std::max(plan->plane.bottom(), plan->energy.bottom());
  if (plan->settling.keys.empty()) {
    page.text({plan->plane.x, plan->plane.y + page.em()}, "This query has no keys.", page.em());
    return layout;
  }
  draw_plane(page, *plan, in, word);
  draw_weights(page, *plan, in);
  draw_energy(page, *plan);
  return layout;
}

std::vector<ViewData::Matrix> settling_numbers(const HeadInput& in) {
  const Settling settling = settling_of(in.tap, in.head, illustrated_token(in));
  std::vector<ViewData::Matrix> matrices{{"weight at each step",
                                          settling.weights,
                                          {},
                                          key_axis(in.input.trace, in.tap).labels,
                                          {"step"}},
                                         {"state", settling.states, {}, {}, {"step"}}};
  if (!settling.energy.empty()) {
    Tensor energy({1, static_cast<Index>(settling.energy.size())});
    std::ranges::transform(settling.energy, energy.data(),
                           [](double x) { return static_cast<float>(x); });
    matrices.push_back({"energy", energy, {"energy"}, {}, {"number"}});
  }
  return matrices;
}

}  // namespace

Mechanism settling_mechanism() {
  Mechanism m{"settling", "each query converges among the keys", shows_settling, draw_settling,
              settling_numbers};
  m.label = "Settling";
  m.steps_through_tokens = true;
  m.parameters = {"token"};
  m.shows_weights = true;
  m.objection = settling_refusal;
  return m;
}

}  // namespace attnscope
