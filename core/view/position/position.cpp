// Position view: the positional encoding, computed by the code that models use.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/chart_cells.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/range.h"
#include "core/view/position/position_panels.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kTitle = 1.6;          // em: title above a panel
constexpr double kGap = 0.8;            // em between panels
constexpr double kMaxPanelHeight = 34;  // em
constexpr double kMinPanelHeight = 6;   // em
constexpr double kMaxAspect = 1.1;      // height / width of panels side by side
constexpr double kMinPairWidth = 17;    // em: narrower panels are stacked

// Name of a curve in the legend; empty if the panel has one unnamed curve.
std::string name_of_curve(const PositionPanel::Curve& curve) {
  return curve.head >= 0 ? "head " + std::to_string(curve.head) : curve.name;
}

// Symmetric range of the panel's values. A few values far beyond the others, as in the position
// vectors of many BERT models, would leave all others without colour: they exceed the range.
ColourRange value_range(const Tensor& cells, bool is_sparse, const Theme& theme) {
  constexpr double kOutlier = 3;  // ratio of the largest magnitude to the 99th percentile
  ColourRange range{-1, 1, diverging_colours(theme)};
  std::vector<float> magnitudes;
  for (const float v : cells) {
    if (std::isfinite(v)) magnitudes.push_back(std::abs(v));
  }
  ColourRange percentile = range;
  set_range_end(range, magnitudes, ColourEnd::Largest, true);
  set_range_end(percentile, magnitudes, ColourEnd::Percentile, true);
  return !is_sparse && range.most > kOutlier * percentile.most ? percentile : range;
}

// The x label without the explanation after the colon: "offset".
std::string short_x_label(const PositionPanel& panel) {
  return panel.x_label.substr(0, panel.x_label.find(':'));
}

// Candidates for axis titles, longest first: {"added to the score", "added"}.
std::vector<std::string> candidates(const std::string& text) {
  return {text, text.substr(0, text.find_first_of(" '"))};
}

// Region of offsets that do not occur; zero width if all offsets occur.
Box unused_region(const Chart& chart, const PositionPanel& panel) {
  const Box& plot = chart.plot;
  if (!panel.is_causal || !(panel.first < 0)) return {};
  return {plot.x, plot.y, std::max(0.0, chart.at_x(-0.5) - plot.x), plot.height};
}

void shade_unused(Page& page, const Box& region) {
  if (region.width > 0) page.add(FilledBox{region, translucent(page.theme().line, 0.3)});
}

void label_unused(Page& page, const Box& region) {
  const double em = page.em(), line_height = 1.3 * page.small();
  for (const char* text : {"never used: later keys", "never used"}) {
    const double width = page.width_of(text, page.small());
    if (width + 0.8 * em > region.width || line_height + 0.4 * em > region.height) continue;
    const Box backdrop{region.x + 0.2 * em, region.y + 0.2 * em, width + 0.4 * em, line_height};
    page.add(FilledBox{backdrop, translucent(page.theme().background, 0.85), 0.2 * em});
    page.faint_text({backdrop.x + 0.2 * em, backdrop.y + line_height / 2}, text, page.small());
    return;
  }
}

ChartAxis x_axis(const PositionPanel& panel, double margin) {
  ChartAxis axis{.least = panel.first - margin,
                 .most = panel.last + margin,
                 .titles = {panel.x_label, short_x_label(panel), candidates(panel.x_label).back()},
                 .whole = true};
  if (!(axis.least < axis.most)) axis.most = axis.least + 1;
  return axis;
}

void draw_matrix(Page& page, const Box& outer, const PositionPanel& panel) {
  const double bar_width = colour_bar_width(page);
  Box box = outer;
  if (panel.is_square) {
    box.width = std::min(box.width, box.height + bar_width);
    box.height = std::min(box.height, box.width - bar_width);
    box.x += (outer.width - box.width) / 2;
  }
  ChartAxis y_axis{.least = panel.first_row - 0.5,
                   .most = panel.first_row + static_cast<double>(panel.cells.dim(0)) - 0.5,
                   .titles = candidates(panel.row_label),
                   .whole = true,
                   .down = true};
  const Chart chart = place_chart(page, {box.x, box.y, box.width - bar_width, box.height},
                                  x_axis(panel, 0.5), std::move(y_axis));
  if (chart.empty()) return;
  const ColourRange range = value_range(panel.cells, panel.is_sparse, page.theme());
  draw_chart_cells(page, chart, panel.cells, range);
  draw_colour_bar(page, {chart.plot.right(), chart.plot.y, bar_width, chart.plot.height}, range,
                  candidates(panel.colour_label));
  shade_unused(page, unused_region(chart, panel));
  label_unused(page, unused_region(chart, panel));
  const std::optional<Point>& p = page.input().interaction.pointer;
  if (!p || !chart.plot.contains(*p)) return;
  const auto row = static_cast<Index>(std::lround(chart.value_y(p->y) - panel.first_row));
  const auto column = static_cast<Index>(std::lround(chart.value_x(p->x) - panel.first));
  if (row < 0 || row >= panel.cells.dim(0) || column < 0 || column >= panel.cells.dim(1)) return;
  if (std::isnan(panel.cells(row, column))) return;
  const double x = static_cast<double>(column) + panel.first;
  const double y = static_cast<double>(row) + panel.first_row;
  draw_value(page, chart, {x, y},
             panel.row_label + " " + fixed(y, 0) + ", " + short_x_label(panel) + " " + fixed(x, 0) +
                 ": " + brief(static_cast<double>(panel.cells(row, column))));
}

// Labels the nearest curve with its value at the pointer.
void draw_hovered_value(Page& page, const Chart& chart, const PositionPanel& panel) {
  const std::optional<Point>& pointer = page.input().interaction.pointer;
  if (!pointer || !chart.plot.contains(*pointer)) return;
  const double x = std::round(chart.value_x(pointer->x));
  const PositionPanel::Curve* nearest = nullptr;
  double y = 0, min_distance = std::numeric_limits<double>::infinity();
  for (const PositionPanel::Curve& curve : panel.curves) {
    for (const Point& p : curve.points) {
      const double distance = std::abs(chart.at_y(p.y) - pointer->y);
      if (p.x != x || !(distance < min_distance)) continue;
      nearest = &curve;
      min_distance = distance;
      y = p.y;
    }
  }
  if (nearest == nullptr) return;
  const std::string name = name_of_curve(*nearest);
  draw_value(page, chart, {x, y},
             (name.empty() ? "" : name + ", ") + short_x_label(panel) + " " + fixed(x, 0) + ": " +
                 brief(y));
}

void draw_curves(Page& page, const Box& box, const PositionPanel& panel) {
  std::vector<LegendEntry> entries;
  std::vector<Colour> colours;
  for (const PositionPanel::Curve& curve : panel.curves) {
    const std::string name = name_of_curve(curve);
    const auto number = static_cast<Index>(colours.size());
    colours.push_back(name.empty() ? page.theme().accent
                                   : head_colour(curve.head >= 0 ? curve.head : number));
    if (!name.empty()) entries.push_back({colours.back(), name});
  }
  const double legend = entries.empty() ? 0 : legend_height(page, entries, box.width);
  double min_y = 0, max_y = 0;
  for (const PositionPanel::Curve& curve : panel.curves) {
    for (const Point& point : curve.points) {
      min_y = std::min(min_y, point.y);
      max_y = std::max(max_y, point.y);
    }
  }
  ChartAxis y_axis = padded_axis(min_y, max_y, true);
  y_axis.titles = candidates(panel.y_label);
  const Chart chart = place_chart(page, {box.x, box.y + legend, box.width, box.height - legend},
                                  x_axis(panel, 0), std::move(y_axis));
  if (chart.empty()) return;
  draw_legend(page, entries, {box.x, box.y, box.width, legend});
  draw_chart(page, chart);
  shade_unused(page, unused_region(chart, panel));
  if (panel.first < 0 && panel.last > 0) {
    page.add(Line{{{chart.at_x(0), chart.plot.y}, {chart.at_x(0), chart.plot.bottom()}},
                  page.theme().line,
                  1});
  }
  const PositionPanel::Curve* selected_curve = nullptr;
  Colour selected_colour{};
  for (std::size_t n = 0; n < panel.curves.size(); ++n) {
    const PositionPanel::Curve& curve = panel.curves[n];
    if (curve.head >= 0 && curve.head == panel.selected_head) {
      selected_curve = &curve;
      selected_colour = colours[n];
    } else {
      draw_curve(page, chart, curve.points, colours[n], curve.name.empty() ? 1.5 : 2);
    }
  }
  if (selected_curve) draw_curve(page, chart, selected_curve->points, selected_colour, 3.5);
  label_unused(page, unused_region(chart, panel));
  draw_hovered_value(page, chart, panel);
}

// Boxes of the panels in rows of two; the first panel is alone if `count` is odd. Panels are
// stacked if the page is narrow, or if that enlarges two panels.
std::vector<Box> panel_boxes(const Page& page, const Box& inside, std::size_t count) {
  const double em = page.em(), gap = kGap * em;
  const double half = (inside.width - gap) / 2, half_height = (inside.height - gap) / 2;
  const bool has_pairs =
      count > 1 && half >= kMinPairWidth * em && (count > 2 || half > half_height);
  const std::size_t single_count = has_pairs ? count % 2 : count;
  const std::size_t rows = has_pairs ? (count + 1) / 2 : count;
  double height = std::min((inside.height + gap) / static_cast<double>(rows) - gap,
                           (kMaxPanelHeight + kTitle) * em);
  if (has_pairs) height = std::min(height, kMaxAspect * half);
  const double total_height = static_cast<double>(rows) * (height + gap) - gap;
  double y = inside.y + page.top_margin(inside.height, total_height);
  std::vector<Box> boxes;
  for (std::size_t n = 0; n < count;) {
    if (n < single_count) {
      boxes.push_back({inside.x, y, inside.width, height});
      ++n;
    } else {
      const double width = (inside.width - gap) / 2;
      boxes.push_back({inside.x, y, width, height});
      boxes.push_back({inside.x + width + gap, y, width, height});
      n += 2;
    }
    y += height + gap;
  }
  return boxes;
}

PositionPanels content_of(const ViewInput& input, const AttentionTap& tap, Index head) {
  const Values values = view_values(input.session.view, "position");
  const std::string show = values.choice("show");
  const Index reach = values.integer("reach");
  return show == kShowEncoding
             ? position_panels(input, tap, head, reach)
             : position_study_panels(input, tap, show, reach, values.integer("shift"));
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const SelectedTap selected = find_tap(input);
  if (selected.tap == nullptr) return page.message(selected.headline, selected.advice);
  const ViewSettings& settings = input.session.view;
  const Encoding& method = encoding(selected.tap->encoding.id);
  const PositionPanels content = content_of(input, *selected.tap, selected.head);
  if (content.panels.empty()) return page.message(content.headline, content.advice);
  std::string subject = method.label + ", " + describe_head(input.trace, settings) + ": " +
                        describe(*selected.tap) + ". " +
                        (content.subject.empty() ? method.equation : content.subject) + ".";
  const Box inside = page.frame(title_with_part(input), caption(input.trace, subject));
  const double em = page.em();
  const std::vector<Box> boxes = panel_boxes(page, inside, content.panels.size());
  if (boxes.front().height < kMinPanelHeight * em || inside.width < 10 * em) return no_space(page);
  for (std::size_t n = 0; n < boxes.size(); ++n) {
    const PositionPanel& panel = content.panels[n];
    Box box = boxes[n];
    const double size = page.width_of(panel.title, em) > box.width ? page.small() : em;
    // "Similarity by distance, mean over positions", or only its first part.
    const std::string first_part = panel.title.substr(0, panel.title.find(", "));
    page.text({box.x, box.y + kTitle / 2 * em},
              page.fitting({panel.title, first_part}, size, box.width), size);
    box.y += kTitle * em;
    box.height -= kTitle * em;
    if (panel.cells.defined()) {
      draw_matrix(page, box, panel);
    } else {
      draw_curves(page, box, panel);
    }
  }
  ViewLayout layout;
  layout.hit = [](Point) { return std::optional<Hit>(); };
  layout.list = page.take(boxes.back().bottom());
  return layout;
}

// `count` consecutive integers from `first`.
std::vector<std::string> numbered(double first, Index count) {
  std::vector<std::string> labels;
  for (Index n = 0; n < count; ++n) labels.push_back(fixed(first + static_cast<double>(n), 0));
  return labels;
}

ViewData data(const ViewInput& input) {
  const SelectedTap selected = require_tap(input);
  const PositionPanels content = content_of(input, *selected.tap, selected.head);
  if (content.panels.empty()) throw InputError(content.headline + ". " + content.advice);
  ViewData numbers;
  for (const PositionPanel& panel : content.panels) {
    ViewData::Matrix matrix{panel.title, panel.cells, {}, {}};
    if (panel.cells.defined()) {
      matrix.rows = numbered(panel.first_row, panel.cells.dim(0));
    } else {
      const auto count = static_cast<Index>(panel.curves.size());
      matrix.values = Tensor({count, static_cast<Index>(panel.curves.front().points.size())});
      for (Index n = 0; n < count; ++n) {
        const PositionPanel::Curve& curve = panel.curves[static_cast<std::size_t>(n)];
        const std::string name = name_of_curve(curve);
        matrix.rows.push_back(name.empty() ? panel.y_label : name);
        for (Index i = 0; i < matrix.values.dim(1); ++i) {
          matrix.values(n, i) = static_cast<float>(curve.points[static_cast<std::size_t>(i)].y);
        }
      }
    }
    matrix.columns = numbered(panel.first, matrix.values.dim(1));
    numbers.matrices.push_back(std::move(matrix));
  }
  return numbers;
}

ViewReading position_reading(const ViewSettings& settings, const Trace*) {
  const std::string show = view_values(settings, "position").choice("show");
  if (show == kShowShift) {
    return {
        "The vector of a position turns into the vector k positions later by one linear map, "
        "the same for every position. For sinusoids it rotates each pair of sine and cosine; "
        "for learned vectors it is the best linear fit, judged on positions left out of it.",
        {{"Mₖ", "the linear map of a shift by k positions."}}};
  }
  if (show == kShowRegression) {
    return {
        "Linear regression of the position from its vector, and from the token's state in each "
        "layer. Every prediction is for a position left out of the fit.",
        {{"R²", "1: all predictions are right; 0 or less: no better than the mean."}}};
  }
  if (show == kShowSubspaces) {
    return {
        "Position vectors that lie in directions that words hardly use can be separated from "
        "them again, by a linear map whose null space contains the positions.",
        {{"Principal angle",
          "angle between the closest directions of two subspaces: 0° shared, 90° separate."}}};
  }
  return {
      "The positional information of the encoding: the vectors it adds, the decay of distant "
      "tokens, or the similarity of positions.",
      {{"Offset", "position of the query minus position of the key."}}};
}

std::vector<Parameter> position_parameters() {
  return {{.key = "show",
           .label = "Show",
           .help = "Content of the picture; all but the first need vectors that are added to the "
                   "input (regression: or a text).",
           .kind = Parameter::Kind::Choice,
           .initial = std::string(kShowEncoding),
           .choices = {{kShowEncoding, "Encoding"},
                       {kShowShift, "Shift as a linear map"},
                       {kShowRegression, "Regression of positions"},
                       {kShowSubspaces, "Word and position subspaces"}}},
          {.key = "reach",
           .label = "Reach",
           .help = "Largest position or offset to draw.",
           .initial = Index{64},
           .limits = {.min = 1, .max = 1024},
           .slider = {.min = 8, .max = 512}},
          {.key = "shift",
           .symbol = "k",
           .label = "Shift",
           .help = "Number of positions, for the linear map of a shift.",
           .initial = Index{3},
           .limits = {.min = 1, .max = 1024},
           .slider = {.min = 1, .max = 64}}};
}

void restrict_controls(const ViewSettings& settings, const Trace*, ViewControls& controls) {
  controls.hide_colours();
  if (view_values(settings, "position").choice("show") == kShowShift) return;
  std::erase_if(controls.parameters, [](const Parameter& p) { return p.key == "shift"; });
}

}  // namespace

View position_view() {
  return {.id = "position",
          .label = "Position",
          .group = "Method",
          .summary =
              "The positional encoding itself: its vectors, curves by distance, similarity of "
              "positions.",
          .lay_out = lay_out,
          .reading = position_reading,
          .data = data,
          .options = {.parameters = position_parameters(), .restrict_controls = restrict_controls},
          .content = {.objection = [](const Trace& trace) {
            return trace.is_imported
                       ? "The attention was read from a file: its encoding is unknown."
                       : objection_without_attention(trace);
          }}};
}

}  // namespace attnscope
