#include "core/view/scores/score_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/figure/plain_text.h"
#include "core/view/parts/chart.h"

namespace attnscope {
namespace {

constexpr double kMaxLabels = 7;            // em: depth of the labels above the bars
constexpr double kMaxLabelFraction = 0.16;  // fraction of the height
constexpr double kTitle = 1.5;              // em: height
constexpr double kMinTitle = 16;            // em: width of a title next to a legend
constexpr double kMinStage = 2.2;           // em: height of a chart
constexpr double kMaxStage = 7;             // em
constexpr double kRight = 0.5;              // em: margin to the right of the bars
constexpr double kTypicalLeft = 3.5;        // em: typical width of the y axes
constexpr double kMinBars = 6;              // em: width

ChartAxis shared_axis(const std::vector<std::vector<double>>& lists,
                      std::vector<std::string> titles) {
  double min_value = 0, max_value = 0;
  for (const std::vector<double>& list : lists) {
    for (const double v : list) {
      if (!std::isfinite(v)) continue;
      min_value = std::min(min_value, v);
      max_value = std::max(max_value, v);
    }
  }
  ChartAxis axis = padded_axis(min_value, max_value, true);
  axis.titles = std::move(titles);
  return axis;
}

struct Stage {
  std::string name;
  ChartAxis axis;
  std::vector<std::vector<double>> values;  // series side by side
  std::vector<Colour> colours;
};

bool has_terms(const std::vector<ScoreMap>& maps) {
  return maps.size() > 2;
}

// The `count` most important stages, in the order of the computation.
std::vector<Stage> row_charts(const Theme& theme, const RowStages& row, int count) {
  std::vector<Stage> stages;
  const int terms = row.terms.size() > 1 ? 1 : 0;
  if (terms > 0 && count > kMinStages + 1) {
    Stage stage{"terms", shared_axis(row.terms, {"terms", ""}), row.terms, {}};
    for (std::size_t n = 0; n < row.terms.size(); ++n) {
      stage.colours.push_back(head_colour(static_cast<Index>(n)));
    }
    stages.push_back(std::move(stage));
  }
  const auto add = [&](const std::vector<double>& values, const std::string& name, Colour colour) {
    stages.push_back({name, shared_axis({values}, {name, ""}), {values}, {colour}});
  };
  add(row.score, "score", theme.text);
  add(row.weight, "weight", theme.accent);
  if (count > kMinStages) add(row.contribution, "weight·‖v‖", key_colour(theme));
  return stages;
}

std::vector<LegendEntry> legend_entries(const std::vector<ScoreMap>& maps, int stages) {
  std::vector<LegendEntry> entries;
  if (!has_terms(maps) || stages < stage_count(maps)) return entries;
  for (std::size_t n = 0; n + 1 < maps.size(); ++n) {
    entries.push_back({head_colour(static_cast<Index>(n)), maps[n].name});
  }
  return entries;
}

double legend_width(const Page& page, const std::vector<LegendEntry>& entries) {
  double width = 0;
  for (const LegendEntry& entry : entries) {
    width += page.width_of(entry.text, page.small()) + 2.5 * page.em();
  }
  return width;
}

std::vector<std::string> missing_stages(const std::vector<ScoreMap>& maps, int stages) {
  const char* names = !has_terms(maps)       ? "weight·‖v‖"
                      : stages == kMinStages ? "terms and weight·‖v‖"
                                             : "terms";
  return {std::string("no space for ") + names, "some stages have no space"};
}

void draw_header(Page& page, const Box& box, const RowPlan& plan, const std::vector<ScoreMap>& maps,
                 const std::string& query) {
  const double em = page.em();
  const std::vector<LegendEntry> entries = legend_entries(maps, plan.stages);
  const double legend_space = plan.is_legend_beside ? legend_width(page, entries) : 0;
  const double middle = box.y + kTitle / 2 * em;
  const bool is_full = plan.stages == stage_count(maps);
  std::vector<std::string> titles{"Row of the query “" + query + "”", "Row of “" + query + "”",
                                  "Row"};
  if (is_full) titles.insert(titles.begin(), titles.front() + ", stage by stage");
  const std::string title = page.fitting(titles, em, box.width - legend_space);
  page.text({box.x, middle}, title, em);
  if (!is_full) {
    const double end = page.width_of(title, em) + 1.5 * em;
    page.faint_text({box.x + end, middle},
                    page.fitting(missing_stages(maps, plan.stages), page.small(), box.width - end),
                    page.small());
  }
  const Box legend_box =
      plan.is_legend_beside ? Box{box.right() - legend_space, box.y, legend_space, plan.header}
                            : Box{box.x, box.y + kTitle * em, box.width, plan.header - kTitle * em};
  draw_legend(page, entries, legend_box);
}

// Numbers of a key: "0.31", or "-1.2, 0.4" if there are several terms.
std::string numbers_text(const Stage& stage, Index key) {
  std::string text;
  for (const std::vector<double>& list : stage.values) {
    const double v = list[static_cast<std::size_t>(key)];
    if (!std::isfinite(v)) return "not allowed";
    text += (text.empty() ? "" : ", ") + brief(v);
  }
  return text;
}

// Largest value of the stage's bars between two x coordinates of the page.
double highest_bar(const Chart& chart, const Stage& stage, double left, double right) {
  double highest = 0;
  for (const std::vector<double>& list : stage.values) {
    for (std::size_t c = 0; c < list.size(); ++c) {
      const auto x = static_cast<double>(c);
      const bool is_between = chart.at_x(x + 1) > left && chart.at_x(x) < right;
      if (is_between && std::isfinite(list[c])) highest = std::max(highest, list[c]);
    }
  }
  return highest;
}

// Writes the stage's name inside the chart if the y axis has no space for it: on the left if the
// numbers of a key are on the right, else on the side where the bars are lower.
void draw_stage_name(Page& page, const Chart& chart, const Stage& stage, bool are_numbers_right) {
  const std::string& name = stage.name;
  const double em = page.em(), size = page.small(), width = page.width_of(name, size);
  if (chart.empty() || page.fitting(chart.y.titles, size, chart.plot.height + 0.5 * em) == name) {
    return;
  }
  const double line_height = std::min(1.2 * size, chart.plot.height);
  const double left = chart.plot.x + 0.3 * em, right = chart.plot.right() - width - 0.7 * em;
  const bool is_left =
      are_numbers_right || highest_bar(chart, stage, chart.plot.x, left + width + 0.4 * em) <
                               highest_bar(chart, stage, right, chart.plot.right());
  const Box backdrop{is_left ? left : right, chart.plot.y + 1, width + 0.4 * em, line_height - 2};
  page.add(FilledBox{backdrop, translucent(page.theme().background, 0.8)});
  page.faint_text({backdrop.x + 0.2 * em, backdrop.y + backdrop.height / 2}, name, size);
}

void draw_stage(Page& page, const Chart& chart, const Stage& stage, const CellSpan& columns,
                Index marked) {
  draw_chart(page, chart);
  const auto bars = static_cast<double>(stage.values.size());
  for (std::size_t n = 0; n < stage.values.size(); ++n) {
    for (std::size_t c = 0; c < stage.values[n].size(); ++c) {
      if (!columns.contains(static_cast<Index>(c))) continue;
      const double x = static_cast<double>(c) + 0.1 + 0.8 * (static_cast<double>(n) + 0.5) / bars;
      draw_bar(page, chart, x, 0.8 / bars, stage.values[n][c], stage.colours[n]);
    }
  }
  const bool has_mark = marked >= 0 && columns.contains(marked);
  const double mark_x = chart.at_x(static_cast<double>(marked) + 0.5);
  draw_stage_name(page, chart, stage, has_mark && mark_x > chart.plot.x + chart.plot.width / 2);
  if (!has_mark) return;
  double longest = 0;  // value of the longest bar
  for (const std::vector<double>& list : stage.values) {
    const double v = list[static_cast<std::size_t>(marked)];
    if (std::isfinite(v) && std::abs(v) > std::abs(longest)) longest = v;
  }
  draw_value(page, chart, {static_cast<double>(marked) + 0.5, longest},
             numbers_text(stage, marked));
}

}  // namespace

int stage_count(const std::vector<ScoreMap>& maps) {
  return kMinStages + (has_terms(maps) ? 2 : 1);
}

RowPlan plan_row(const Page& page, const std::vector<ScoreMap>& maps, TokenAxis keys,
                 const Box& space, int stages) {
  const double em = page.em();
  RowPlan plan;
  plan.stages = stages;
  const std::vector<LegendEntry> entries = legend_entries(maps, stages);
  plan.is_legend_beside = space.width - legend_width(page, entries) >= kMinTitle * em;
  plan.header =
      kTitle * em + (plan.is_legend_beside ? 0 : legend_height(page, entries, space.width));
  const double max_depth = std::min(kMaxLabels * em, kMaxLabelFraction * space.height);
  const double width = std::max(1.0, space.width - (kTypicalLeft + kRight) * em);
  keys.titles = {};
  plan.depth = axis_depth_top(page, keys, width, max_depth);
  plan.keys = std::move(keys);
  plan.min_height = plan.header + plan.depth + stages * kMinStage * em;
  if (width < kMinBars * em) plan.min_height = std::numeric_limits<double>::infinity();
  return plan;
}

Index RowPlot::key_at(Point p) const {
  if (!bars.contains(p)) return -1;
  const double key = columns.first + (p.x - bars.x) / bars.width * columns.extent;
  return columns.contains(static_cast<Index>(key)) ? static_cast<Index>(key) : -1;
}

RowPlot place_row(const Page& page, const Box& box, const RowPlan& plan, const CellSpan& columns,
                  const RowStages& row) {
  const double em = page.em();
  RowPlot plot;
  plot.columns = columns;
  plot.right = kRight * em;
  for (const Stage& stage : row_charts(page.theme(), row, plan.stages)) {
    plot.left = std::max(plot.left, y_axis_width(page, stage.axis));
  }
  const double top = box.y + plan.header + plan.depth;
  const double height = std::min((box.bottom() - top) / plan.stages, kMaxStage * em);
  for (int n = 0; n < plan.stages; ++n) {
    plot.stages.push_back({box.x, top + n * height, box.width, height});
  }
  plot.bars = {box.x + plot.left, top, box.width - plot.left - plot.right, plan.stages * height};
  return plot;
}

void draw_row(Page& page, const Box& box, const RowPlan& plan, const RowPlot& plot,
              const std::vector<ScoreMap>& maps, const RowStages& row, const std::string& query,
              Index marked_key) {
  draw_header(page, {box.x, box.y, box.width, plan.header}, plan, maps, query);
  const CellSpan& columns = plot.columns;
  const Box& bars = plot.bars;
  draw_axis_top(page, plan.keys, {columns.first, columns.extent, bars.x, bars.width}, bars.y,
                plan.depth, marked_key);
  draw_key_title(page, {bars.x, bars.y}, box.x);
  const std::vector<Stage> stages = row_charts(page.theme(), row, plan.stages);
  for (std::size_t n = 0; n < stages.size(); ++n) {
    const Chart chart = place_chart(page, plot.stages[n],
                                    {.least = columns.first,
                                     .most = columns.first + columns.extent,
                                     .titles = {},
                                     .whole = true,
                                     .numbers = false},
                                    stages[n].axis, plot.left, plot.right);
    draw_stage(page, chart, stages[n], columns, marked_key);
  }
}

}  // namespace attnscope
