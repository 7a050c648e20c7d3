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

constexpr double kChart = 0.3;       // fraction of the height for the mean by slot
constexpr double kMinChart = 6;      // em
constexpr double kMaxChart = 12;     // em
constexpr double kMinPlot = 4;       // em
constexpr double kMaxMapRow = 1.9;   // em
constexpr double kMaxMapColumn = 6;  // em
constexpr double kMinWhisker = 5;    // pixels: column width from which error bars are drawn

// Key axis with a band for each kind of key, including the segment.
TokenAxis memory_key_axis(const ShownMemory& memory) {
  TokenAxis axis{{"key (to): slot, oldest to newest", "key (to)", "key"}, memory.words, {}};
  for (const SlotRun& run : memory.runs) {
    axis.bands.push_back({run.first, run.count, slot_name(run.kind)});
  }
  return axis;
}

ChartAxis weight_axis(const ShownMemory& memory) {
  double peak = 0;
  for (std::size_t n = 0; n < memory.slots.mean.size(); ++n) {
    peak = std::max(peak, memory.slots.mean[n] + memory.slots.deviation[n]);
  }
  return {.least = 0, .most = peak > 0 ? 1.05 * peak : 1, .titles = {"mean weight", "weight", ""}};
}

// Places the map above `space_below` pixels for the chart. Returns false if the map does not fit.
bool place_weight_map(const Page& page, const Box& box, const ShownMemory& memory,
                      double space_below, MatrixPlot& map) {
  const ViewInput& input = page.input();
  const double em = page.em();
  map.scale = input.canvas.scale;
  TokenAxis queries = query_axis(memory.trace, memory.tap);
  queries.titles.emplace_back();  // no title if there are few rows
  map.rows = measured(page, std::move(queries));
  map.columns = measured(page, memory_key_axis(memory));
  set_visible(map, cell_window(input.session.view));
  const double bar_width = colour_bar_width(page);
  const auto rows = static_cast<double>(map.rows.count());
  const auto columns = static_cast<double>(map.columns.count());
  const double min_left = y_axis_width(page, weight_axis(memory));
  const auto plot_size = [&](const AxisDepths& depths) {
    const double left = std::max(depths.left, min_left);
    return PlotSize{std::clamp(box.width - left - bar_width, 0.0, columns * kMaxMapColumn * em),
                    std::clamp(box.height - depths.top - space_below, 0.0, rows * kMaxMapRow * em)};
  };
  const double depth = std::min(6.5 * em, 0.2 * box.height);
  const AxisDepths depths = settled_depths(page, map.rows, map.columns, {depth, depth}, plot_size);
  const PlotSize size = plot_size(depths);
  map.left = std::max(depths.left, min_left);
  map.top = depths.top;
  const double min_height = std::min(kMinPlot, 1.2 * rows) * em;
  if (size.width < kMinPlot * em || size.height < min_height) return false;
  const double x = box.x + (box.width - map.left - size.width - bar_width) / 2;
  map.plot = {x + map.left, box.y + map.top, size.width, size.height};
  map.right = {map.plot.right(), map.plot.y, bar_width, map.plot.height};
  map.note_y = map.plot.bottom() + 0.8 * em;
  const ViewSettings& settings = input.session.view;
  if (settings.pinned_query < map.rows.count()) map.pinned_row = settings.pinned_query;
  if (settings.pinned_key < map.columns.count()) map.pinned_column = settings.pinned_key;
  if (input.interaction.pointer)
    std::tie(map.hovered_row, map.hovered_column) = pair_at(map)(*input.interaction.pointer);
  return true;
}

void draw_map(Page& page, const ShownMemory& memory, const MatrixPlot& map) {
  const ViewInput& input = page.input();
  HeatMap cells = matrix_cells(map);
  cells.values = memory.weights;
  const ColourRange range =
      colour_range(input, cells, memory.tap, memory.head, is_signed(memory.tap, memory.head));
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(cells);
  cover_excluded(page, matrix_cells(map), memory.tap, memory.head);
  // Borders between kinds of columns, thick enough to be visible on any colour.
  page.add(Clip{map.plot});
  for (const SlotRun& run : memory.runs) {
    if (run.first == 0) continue;
    const double x =
        map.plot.x + (static_cast<double>(run.first) - map.column) * map.plot.width / map.width;
    page.add(Line{{{x, map.plot.y}, {x, map.plot.bottom()}}, page.theme().background, 4});
  }
  page.add(Clip{});
  draw_matrix_frame(page, map, {});
  draw_colour_bar(page, map.right, range, {"attention weight", "weight", ""});
}

void draw_mean(Page& page, const Chart& chart, const ShownMemory& memory, Index marked_column) {
  const double dx = chart.plot.width / (chart.x.most - chart.x.least);
  const auto first = static_cast<Index>(std::max(0.0, std::floor(chart.x.least)));
  const auto last = std::min<Index>(static_cast<Index>(std::ceil(chart.x.most)),
                                    static_cast<Index>(memory.slots.mean.size()));
  page.add(Clip{chart.plot});
  for (Index c = first; c < last; ++c) {
    const auto n = static_cast<std::size_t>(c);
    const double centre = static_cast<double>(c) + 0.5, mean = memory.slots.mean[n];
    const Colour colour = slot_colour(memory.kind_of(c));
    draw_bar(page, chart, centre, dx > 3 ? 0.86 : 1, mean,
             c == marked_column ? page.theme().text : colour);
    const double bottom = chart.at_y(std::max(0.0, mean - memory.slots.deviation[n]));
    const double top = chart.at_y(mean + memory.slots.deviation[n]), x = chart.at_x(centre);
    if (dx >= kMinWhisker) {
      page.add(Line{{{x, bottom}, {x, top}}, translucent(page.theme().text, 0.75), 1.5});
    } else {
      page.add(
          FilledBox{{x - dx / 2, top, std::max(dx, 1.0), bottom - top}, translucent(colour, 0.35)});
    }
  }
  page.add(Clip{});
}

// Labels of the kinds of keys, centred in their visible columns.
std::vector<std::pair<double, std::string>> kind_names(const Page& page, const ShownMemory& memory,
                                                       const MatrixPlot& map) {
  std::vector<std::pair<double, std::string>> names;
  for (const SlotRun& run : memory.runs) {
    const double from = std::max(static_cast<double>(run.first), map.column);
    const double to = std::min(static_cast<double>(run.first + run.count), map.column + map.width);
    if (!(to > from)) continue;
    const double width = (to - from) / map.width * map.plot.width - page.em();
    const std::string name = slot_name(run.kind);
    const auto first = memory.slots.mean.begin() + run.first;
    const double weight = std::accumulate(first, first + run.count, 0.0);
    names.emplace_back((from + to) / 2, page.fitting({name + ": " + percent(weight), name, ""},
                                                     page.small(), width));
  }
  return names;
}

void draw_marked_value(Page& page, const Chart& chart, const ShownMemory& memory, Index column) {
  if (column < 0) return;
  const auto n = static_cast<std::size_t>(column);
  draw_value(page, chart, {static_cast<double>(column) + 0.5, memory.slots.mean[n]},
             "“" + page.ellipsised(memory.words[n], page.small(), 12 * page.em()) + "” (" +
                 describe_slot_place(memory, column) + "): " + percent(memory.slots.mean[n]) +
                 " ± " + percent(memory.slots.deviation[n]));
}

}  // namespace

Index WeightPanels::column_at(Point p) const {
  if (chart.empty() || !chart.plot.contains(p)) return -1;
  const double column = std::floor(chart.value_x(p.x));
  const bool is_inside = column >= 0 && column < static_cast<double>(map.columns.count());
  return is_inside ? static_cast<Index>(column) : -1;
}

WeightPanels draw_weights(Page& page, const Box& box, const ShownMemory& memory) {
  const double em = page.em(), title = panel_title_height(page);
  WeightPanels panels;
  const double height = std::clamp(kChart * box.height, kMinChart * em, kMaxChart * em);
  const Box inside{box.x, box.y + title, box.width, box.height - title};
  bool has_chart = true;
  if (!place_weight_map(page, inside, memory, height + title, panels.map)) {
    has_chart = false;
    panels.map = {};
    if (!place_weight_map(page, inside, memory, 0.5 * em, panels.map)) return panels;
  }
  const MatrixPlot& map = panels.map;
  const std::string head = "layer " + std::to_string(memory.tap.address.layer) + ", head " +
                           std::to_string(memory.tap.heads[static_cast<std::size_t>(memory.head)]);
  draw_panel_title(page, box,
                   {"Attention of segment " + std::to_string(memory.segment) + ", " + head,
                    "Attention of " + head, "Attention"});
  draw_map(page, memory, map);
  panels.bottom = map.plot.bottom();
  if (!has_chart) return panels;
  const double y = map.plot.bottom() + 0.4 * em;
  draw_panel_title(
      page, {map.plot.x - map.left, y, map.left + map.plot.width + map.right.width, title},
      {"Mean weight by slot ± one deviation, over the segment's queries, " + memory.averaged_heads,
       "Mean weight ± one deviation, " + memory.averaged_heads, "Mean weight ± deviation",
       "Mean weight"});
  ChartAxis x{.least = map.column, .most = map.column + map.width, .titles = {}};
  x.names = kind_names(page, memory, map);
  panels.chart = place_chart(
      page, {map.plot.x - map.left, y + title, map.left + map.plot.width, height - 0.4 * em},
      std::move(x), weight_axis(memory), map.left, 0);
  if (panels.chart.empty()) return panels;
  draw_chart(page, panels.chart);
  Index column = map.hovered_column;
  if (column < 0 && page.input().interaction.pointer)
    column = panels.column_at(*page.input().interaction.pointer);
  const Index pinned_column = map.pinned_column;
  draw_mean(page, panels.chart, memory, column >= 0 ? column : pinned_column);
  draw_marked_value(page, panels.chart, memory, column >= 0 ? column : pinned_column);
  panels.bottom = y + title + height;
  return panels;
}

}  // namespace attnscope
