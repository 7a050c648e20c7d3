// Weights of the selected head on memory and segment, and their mean by slot.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/memory/memory_panels.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/range.h"

namespace attnscope {
namespace {

constexpr double kChart = 0.3;        // share of the height for the mean by slot
constexpr double kMinChart = 6;       // em
constexpr double kMaxChart = 12;      // em
constexpr double kMinPlot = 4;        // em
constexpr double kLargestRow = 1.9;   // em
constexpr double kLargestColumn = 6;  // em
constexpr double kWhisker = 5;        // pixels: minimum column width for error bars

// Key axis with a band for each kind of columns, including the segment.
TokenAxis columns_of(const ShownMemory& shown) {
  TokenAxis axis{{"key (to): slot, oldest to newest", "key (to)", "key"}, shown.words, {}};
  for (const SlotRun& run : shown.runs) {
    axis.bands.push_back({run.first, run.count, slot_name(run.kind)});
  }
  return axis;
}

ChartAxis weight_axis(const ShownMemory& shown) {
  double most = 0;
  for (std::size_t c = 0; c < shown.slots.mean.size(); ++c) {
    most = std::max(most, shown.slots.mean[c] + shown.slots.deviation[c]);
  }
  return {.least = 0, .most = most > 0 ? 1.05 * most : 1, .titles = {"mean weight", "weight", ""}};
}

// Places the map with space for the chart below it.
bool place_map(const Page& page, const Box& box, const ShownMemory& shown, double below,
               MatrixPlot& map) {
  const ViewInput& input = page.input();
  const double em = page.em();
  map.scale = input.canvas.scale;
  TokenAxis queries = query_axis(shown.trace, shown.tap);
  queries.titles.emplace_back();  // omitted for few rows
  map.rows = measured(page, std::move(queries));
  map.columns = measured(page, columns_of(shown));
  set_visible(map, cell_window(input.session.view));
  const double bar = colour_bar_width(page);
  const auto rows = static_cast<double>(map.rows.count());
  const auto columns = static_cast<double>(map.columns.count());
  const double least_left = y_axis_width(page, weight_axis(shown));
  const auto plot = [&](const AxisDepths& depths) {
    const double left = std::max(depths.left, least_left);
    return PlotSize{std::clamp(box.width - left - bar, 0.0, columns * kLargestColumn * em),
                    std::clamp(box.height - depths.top - below, 0.0, rows * kLargestRow * em)};
  };
  const double most = std::min(6.5 * em, 0.2 * box.height);
  const AxisDepths depths = settled_depths(page, map.rows, map.columns, {most, most}, plot);
  const PlotSize size = plot(depths);
  map.left = std::max(depths.left, least_left);
  map.top = depths.top;
  const double least = std::min(kMinPlot, 1.2 * rows) * em;
  if (size.width < kMinPlot * em || size.height < least) return false;
  const double x = box.x + (box.width - map.left - size.width - bar) / 2;
  map.plot = {x + map.left, box.y + map.top, size.width, size.height};
  map.right = {map.plot.right(), map.plot.y, bar, map.plot.height};
  map.note_y = map.plot.bottom() + 0.8 * em;
  const ViewSettings& settings = input.session.view;
  if (settings.pinned_query < map.rows.count()) map.pinned_row = settings.pinned_query;
  if (settings.pinned_key < map.columns.count()) map.pinned_column = settings.pinned_key;
  if (input.interaction.pointer)
    std::tie(map.hovered_row, map.hovered_column) = pair_at(map)(*input.interaction.pointer);
  return true;
}

void draw_map(Page& page, const ShownMemory& shown, const MatrixPlot& map) {
  const ViewInput& input = page.input();
  HeatMap cells = matrix_cells(map);
  cells.values = shown.weights;
  const ColourRange range =
      colour_range(input, cells, shown.tap, shown.head, is_signed(shown.tap, shown.head));
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(cells);
  cover_not_allowed(page, matrix_cells(map), shown.tap, shown.head);
  // Borders between kinds of columns, thick enough to be visible on any colour.
  page.add(Clip{map.plot});
  for (const SlotRun& run : shown.runs) {
    if (run.first == 0) continue;
    const double x =
        map.plot.x + (static_cast<double>(run.first) - map.column) * map.plot.width / map.width;
    page.add(Line{{{x, map.plot.y}, {x, map.plot.bottom()}}, page.theme().background, 4});
  }
  page.add(Clip{});
  draw_matrix_frame(page, map, {});
  draw_colour_bar(page, map.right, range, {"attention weight", "weight", ""});
}

void draw_mean(Page& page, const Chart& chart, const ShownMemory& shown, Index marked) {
  const double column = chart.plot.width / (chart.x.most - chart.x.least);
  const auto first = static_cast<Index>(std::max(0.0, std::floor(chart.x.least)));
  const auto last = std::min<Index>(static_cast<Index>(std::ceil(chart.x.most)),
                                    static_cast<Index>(shown.slots.mean.size()));
  page.add(Clip{chart.plot});
  for (Index c = first; c < last; ++c) {
    const auto n = static_cast<std::size_t>(c);
    const double at = static_cast<double>(c) + 0.5, mean = shown.slots.mean[n];
    const Colour colour = slot_colour(shown.kind_of(c));
    draw_bar(page, chart, at, column > 3 ? 0.86 : 1, mean,
             c == marked ? page.theme().text : colour);
    const double low = chart.at_y(std::max(0.0, mean - shown.slots.deviation[n]));
    const double high = chart.at_y(mean + shown.slots.deviation[n]), x = chart.at_x(at);
    if (column >= kWhisker) {
      page.add(Line{{{x, low}, {x, high}}, translucent(page.theme().text, 0.75), 1.5});
    } else {
      page.add(FilledBox{{x - column / 2, high, std::max(column, 1.0), low - high},
                         translucent(colour, 0.35)});
    }
  }
  page.add(Clip{});
}

// Labels of the kinds of columns, centred in their visible part.
std::vector<std::pair<double, std::string>> part_names(const Page& page, const ShownMemory& shown,
                                                       const MatrixPlot& map) {
  std::vector<std::pair<double, std::string>> names;
  for (const SlotRun& run : shown.runs) {
    const double from = std::max(static_cast<double>(run.first), map.column);
    const double to = std::min(static_cast<double>(run.first + run.count), map.column + map.width);
    if (!(to > from)) continue;
    const double width = (to - from) / map.width * map.plot.width - page.em();
    const std::string name = slot_name(run.kind);
    const auto first = shown.slots.mean.begin() + run.first;
    const double share = std::accumulate(first, first + run.count, 0.0);  // over the same heads
    names.emplace_back((from + to) / 2,
                       page.fitting({name + ": " + percent(share), name, ""}, page.small(), width));
  }
  return names;
}

void draw_marked(Page& page, const Chart& chart, const ShownMemory& shown, Index column) {
  if (column < 0) return;
  const auto n = static_cast<std::size_t>(column);
  draw_value(page, chart, {static_cast<double>(column) + 0.5, shown.slots.mean[n]},
             "“" + page.ellipsised(shown.words[n], page.small(), 12 * page.em()) + "” (" +
                 place_of_slot(shown, column) + "): " + percent(shown.slots.mean[n]) + " ± " +
                 percent(shown.slots.deviation[n]));
}

}  // namespace

Index WeightPanels::column_at(Point p) const {
  if (chart.empty() || !chart.plot.contains(p)) return -1;
  const double column = std::floor(chart.value_x(p.x));
  const bool is_inside = column >= 0 && column < static_cast<double>(map.columns.count());
  return is_inside ? static_cast<Index>(column) : -1;
}

WeightPanels draw_weights(Page& page, const Box& box, const ShownMemory& shown) {
  const double em = page.em(), title = panel_title_height(page);
  WeightPanels panels;
  const double height = std::clamp(kChart * box.height, kMinChart * em, kMaxChart * em);
  const Box inside{box.x, box.y + title, box.width, box.height - title};
  bool has_chart = true;
  if (!place_map(page, inside, shown, height + title, panels.map)) {
    has_chart = false;
    panels.map = {};
    if (!place_map(page, inside, shown, 0.5 * em, panels.map)) return panels;
  }
  const MatrixPlot& map = panels.map;
  const std::string head = "layer " + std::to_string(shown.tap.address.layer) + ", head " +
                           std::to_string(shown.tap.heads[static_cast<std::size_t>(shown.head)]);
  draw_panel_title(page, box,
                   {"Attention of segment " + std::to_string(shown.segment) + ", " + head,
                    "Attention of " + head, "Attention"});
  draw_map(page, shown, map);
  panels.bottom = map.plot.bottom();
  if (!has_chart) return panels;
  const double y = map.plot.bottom() + 0.4 * em;
  draw_panel_title(
      page, {map.plot.x - map.left, y, map.left + map.plot.width + map.right.width, title},
      {"Mean weight by slot ± one deviation, over the segment's queries, " + shown.averaged,
       "Mean weight ± one deviation, " + shown.averaged, "Mean weight ± deviation", "Mean weight"});
  ChartAxis x{.least = map.column, .most = map.column + map.width, .titles = {}};
  x.names = part_names(page, shown, map);
  panels.chart = place_chart(
      page, {map.plot.x - map.left, y + title, map.left + map.plot.width, height - 0.4 * em},
      std::move(x), weight_axis(shown), map.left, 0);
  if (panels.chart.empty()) return panels;
  draw_chart(page, panels.chart);
  Index marked = map.hovered_column;
  if (marked < 0 && page.input().interaction.pointer)
    marked = panels.column_at(*page.input().interaction.pointer);
  const Index pinned = map.pinned_column;
  draw_mean(page, panels.chart, shown, marked >= 0 ? marked : pinned);
  draw_marked(page, panels.chart, shown, marked >= 0 ? marked : pinned);
  panels.bottom = y + title + height;
  return panels;
}

}  // namespace attnscope
