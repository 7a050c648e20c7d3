// The feed-forward of a layer for one token: its units before and after the activation, and with a
// gate their product (Vaswani et al., 2017, section 3.3; Shazeer, 2020, arXiv:2002.05202).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/experiment/block_study.h"
#include "core/experiment/finding.h"
#include "core/figure/plain_text.h"
#include "core/view/block/block_picture.h"
#include "core/view/block/strips.h"
#include "core/view/mechanism/panel.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

constexpr double kMinCurveChart = 11;  // em
constexpr double kMaxCurveChart = 24;  // em
constexpr Index kCurvePoints = 161;
constexpr Index kMaxDots = 4096;    // drawn units
constexpr double kInactive = 0.01;  // share of the largest output below which a unit is inactive
constexpr double kMinSpan = 3;      // of the input axis

Refusal feed_forward_refusal(const BlockInput& in) {
  const auto study = block_study(in);
  if (const Refusal refusal = study_refusal(study, "No feed-forward")) return refusal;
  return study->hidden ? Refusal{} : Refusal{"No feed-forward", study->hidden_problem};
}

// Units of one token, sorted by decreasing magnitude of the output.
struct Units {
  std::vector<Index> order;                // number of each unit
  Tensor input, activated, value, output;  // [hidden]; `value` undefined without a gate
  double zero = 0, inactive = 0;           // shares
};

Units units_of(const HiddenStudy& hidden, Index token) {
  const Tensor input = row_of(hidden.is_gated ? hidden.gate : hidden.value, token);
  const Tensor output = row_of(hidden.output, token);
  const Tensor activated = activation(hidden.activation).apply(Var(input)).value();
  Units units;
  units.order.resize(static_cast<std::size_t>(output.size()));
  std::iota(units.order.begin(), units.order.end(), Index{0});
  const auto magnitude = [&](Index n) { return std::abs(output[n]); };
  std::ranges::stable_sort(units.order, std::greater<>(), magnitude);
  const auto sorted = [&](const Tensor& numbers) {
    Tensor result(numbers.shape());
    for (std::size_t n = 0; n < units.order.size(); ++n)
      result[static_cast<Index>(n)] = numbers[units.order[n]];
    return result;
  };
  units.input = sorted(input);
  units.activated = sorted(activated);
  units.output = sorted(output);
  if (hidden.is_gated) units.value = sorted(row_of(hidden.value, token));
  const float largest = std::abs(units.output[0]);
  for (const float x : units.output) {
    units.zero += x == 0 ? 1 : 0;
    units.inactive += std::abs(static_cast<double>(x)) < kInactive * static_cast<double>(largest);
  }
  const auto count = static_cast<double>(units.output.size());
  units.zero /= count;
  units.inactive /= count;
  return units;
}

double activated(const HiddenStudy& hidden, double x) {
  const Tensor y =
      activation(hidden.activation).apply(Var(Tensor::from({1}, {static_cast<float>(x)}))).value();
  return static_cast<double>(y[0]);
}

// The activation as a curve, with the units as dots and their density along the lower edge.
void draw_activation(Page& page, const Box& box, const HiddenStudy& hidden, const Units& units) {
  const Moments inputs = moments(units.input);
  ChartAxis x =
      padded_axis(std::min(inputs.least, -kMinSpan), std::max(inputs.most, kMinSpan), true);
  x.titles = {hidden.is_gated ? "gate before the activation" : "unit before the activation",
              "before", ""};
  std::vector<Point> curve;
  double least = 0, most = 0;
  for (Index n = 0; n < kCurvePoints; ++n) {
    const double at = x.least + (x.most - x.least) * static_cast<double>(n) / (kCurvePoints - 1);
    curve.push_back({at, activated(hidden, at)});
    least = std::min(least, curve.back().y);
    most = std::max(most, curve.back().y);
  }
  ChartAxis y = padded_axis(least, most, true);
  y.titles = {"after the activation", "after", ""};
  const Chart chart = place_chart(page, box, x, y);
  if (chart.empty()) return;
  draw_chart(page, chart);
  draw_curve(page, chart, curve, page.theme().accent, 2);
  page.add(Clip{chart.plot});
  const double radius = 0.22 * page.em();
  const Index step = 1 + units.input.size() / kMaxDots;
  const Colour ink = translucent(page.theme().text, 0.35);
  for (Index n = 0; n < units.input.size(); n += step) {
    const Point at{chart.at_x(static_cast<double>(units.input[n])),
                   chart.at_y(static_cast<double>(units.activated[n]))};
    page.add(disc(at, radius, ink));
  }
  page.add(Clip{});
}

std::vector<std::string> describe_units(const Units& units) {
  const std::string count = count_text(units.output.size(), "unit");
  const std::string zero = units.zero > 0 ? percent(units.zero) + " exactly 0, " : "";
  const std::string inactive =
      percent(units.inactive) + " below " + percent(kInactive) + " of the largest output";
  return {count + ": " + zero + inactive, zero + inactive, count};
}

std::vector<NumberStrip> strips_of(const Page& page, const HiddenStudy& hidden,
                                   const Units& units) {
  const auto strip = [&](std::string name, const Tensor& numbers) {
    return NumberStrip{std::move(name), numbers, range_of_numbers(page, numbers)};
  };
  const std::string f = activation(hidden.activation).label;
  if (!hidden.is_gated) return {strip("before", units.input), strip("after " + f, units.output)};
  return {strip("gate", units.input), strip(f + "(gate)", units.activated),
          strip("value", units.value), strip("product", units.output)};
}

std::string unit_line(const HiddenStudy& hidden, const Units& units, Index n) {
  const auto number = [](float x) { return brief(static_cast<double>(x), 3); };
  const std::string name =
      "unit " + std::to_string(units.order[static_cast<std::size_t>(n)]) + ": ";
  if (!hidden.is_gated) return name + number(units.input[n]) + " → " + number(units.output[n]);
  return name + "gate " + number(units.input[n]) + " → " + number(units.activated[n]) +
         ", × value " + number(units.value[n]) + " = " + number(units.output[n]);
}

// Strips of all units, and the largest ones in numbers.
double draw_units(Page& page, const Box& box, const HiddenStudy& hidden, const Units& units) {
  const double em = page.em(), line = kLineHeight * page.small();
  std::vector<std::string> names;
  const std::vector<NumberStrip> strips = strips_of(page, hidden, units);
  for (const NumberStrip& strip : strips) names.push_back(strip.name);
  const double names_width = strip_names_width(page, names);
  Box rest = box;
  for (const NumberStrip& strip : strips) {
    if (rest.height < strip_height(page)) return rest.y;
    draw_number_strip(page, rest, strip, names_width);
    rest = below(rest, strip_height(page));
  }
  rest = below(rest, 0.3 * em);
  for (Index n = 0; n < units.output.size() && rest.height >= line && n < 12; ++n) {
    page.text({rest.x, rest.y + line / 2},
              page.ellipsised(unit_line(hidden, units, n), page.small(), rest.width), page.small());
    rest = below(rest, line);
  }
  return rest.y;
}

BlockLayout draw_feed_forward(Page& page, const Box& inside, const BlockInput& in) {
  const auto study = block_study(in);
  const HiddenStudy& hidden = *study->hidden;
  const Units units = units_of(hidden, in.token);
  const double em = page.em();
  auto [left, right] = split(page, inside, 0.5);
  const bool is_wide = right.x > left.x;
  if (std::min(left.width, right.width) < kMinCurveChart * em ||
      left.height < (kMinCurveChart + 2) * em) {
    return {.is_too_small = true};
  }
  const std::string f = activation(hidden.activation).label;
  const std::string label = activation_label(hidden.activation, hidden.is_gated);
  const Box chart = draw_step(
      page, left, 1,
      {in.word() + ", layer " + std::to_string(in.layer) + ": each unit on the curve of " + f,
       in.word() + ": units on the curve of " + f, f});
  const double height = std::min(chart.height, kMaxCurveChart * em);
  draw_activation(page, {chart.x, chart.y, chart.width, height}, hidden, units);
  if (!is_wide) right.y = std::min(right.y, chart.y + height + 0.8 * em);
  right.height = inside.bottom() - right.y;
  Box rest = draw_step(page, right, 2,
                       {label + ", units by size of their output. " + describe_units(units)[0],
                        describe_units(units)[0], describe_units(units)[1]});
  const double bottom = draw_units(page, rest, hidden, units);
  return {.bottom = std::max(chart.y + height, bottom)};
}

std::vector<ViewData::Matrix> feed_forward_data(const BlockInput& in) {
  const auto study = block_study(in);
  const HiddenStudy& hidden = *study->hidden;
  const Units units = units_of(hidden, in.token);
  std::vector<std::pair<std::string, Tensor>> columns{{"before", units.input},
                                                      {"activated", units.activated}};
  if (hidden.is_gated) columns.emplace_back("value", units.value);
  columns.emplace_back("output", units.output);
  const Index count = units.output.size();
  ViewData::Matrix matrix{
      "units", Tensor({count, static_cast<Index>(columns.size())}), {}, {}, {"unit"}};
  for (Index n = 0; n < count; ++n) {
    matrix.rows.push_back(std::to_string(units.order[static_cast<std::size_t>(n)]));
    for (std::size_t c = 0; c < columns.size(); ++c)
      matrix.values(n, static_cast<Index>(c)) = columns[c].second[n];
  }
  for (const auto& [name, numbers] : columns) matrix.columns.push_back(name);
  return {matrix};
}

}  // namespace

BlockPicture feed_forward_picture() {
  BlockPicture p{"feed_forward",
                 "Feed-forward",
                 "units of the feed-forward before and after the activation",
                 feed_forward_refusal,
                 draw_feed_forward,
                 feed_forward_data};
  p.parameters = {"token"};
  p.has_colours = true;
  p.finding = {Findings::block.id, block_settings};
  return p;
}

}  // namespace attnscope
