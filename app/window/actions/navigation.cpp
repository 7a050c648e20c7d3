#include "app/window/actions/navigation.h"

#include <algorithm>

namespace attnscope::window {
namespace {

constexpr double kMinCells = 2;

double clamp_start(double first, double count, double total) {
  return std::clamp(first, 0.0, std::max(0.0, total - count));
}

}  // namespace

Cells zoom_cells(const Cells& visible, double factor, double row, double column, Index rows,
                 Index columns) {
  const auto all_rows = static_cast<double>(rows), all_columns = static_cast<double>(columns);
  // Rows and columns zoom by one factor, until both have reached their limits.
  const double max_factor = std::max({1.0, visible.height / kMinCells, visible.width / kMinCells});
  const double min_factor = std::min(visible.height / all_rows, visible.width / all_columns);
  factor = std::clamp(factor, min_factor, max_factor);
  Cells next;
  next.height = std::clamp(visible.height / factor, std::min(kMinCells, all_rows), all_rows);
  next.width = std::clamp(visible.width / factor, std::min(kMinCells, all_columns), all_columns);
  next.row = row - (row - visible.row) * next.height / visible.height;
  next.column = column - (column - visible.column) * next.width / visible.width;
  next.row = clamp_start(next.row, next.height, all_rows);
  next.column = clamp_start(next.column, next.width, all_columns);
  return next;
}

Cells pan_cells(const Cells& visible, double rows_down, double columns_right, Index rows,
                Index columns) {
  Cells next = visible;
  next.row = clamp_start(visible.row + rows_down, visible.height, static_cast<double>(rows));
  next.column =
      clamp_start(visible.column + columns_right, visible.width, static_cast<double>(columns));
  return next;
}

void show(ViewSettings& view, const Cells& visible, Index rows, Index columns) {
  const bool is_whole = visible.height >= static_cast<double>(rows) - 1e-6 &&
                        visible.width >= static_cast<double>(columns) - 1e-6;
  if (is_whole) {
    show_all(view);
    return;
  }
  view.row = visible.row;
  view.column = visible.column;
  view.height = visible.height;
  view.width = visible.width;
}

std::optional<LabelAt> label_at(const ViewLayout& layout, Point p, Index rows, Index columns) {
  const Box& plot = layout.plot;
  const bool has_cells = layout.width > 0 && layout.height > 0 && plot.width > 0 && plot.height > 0;
  // Labels are on the left and above only if rows run down and columns across.
  if (!has_cells || !layout.rows_run_down || !layout.columns_run_across) return std::nullopt;
  const auto within = [](double coordinate, double start, double extent) {
    return coordinate >= start && coordinate < start + extent;
  };
  if (p.x < plot.x && within(p.y, plot.y, plot.height)) {
    const auto row = static_cast<Index>(layout.row + (p.y - plot.y) / plot.height * layout.height);
    if (row < rows) return LabelAt{row, -1};
  }
  if (p.y < plot.y && within(p.x, plot.x, plot.width)) {
    const auto column =
        static_cast<Index>(layout.column + (p.x - plot.x) / plot.width * layout.width);
    if (column < columns) return LabelAt{-1, column};
  }
  return std::nullopt;
}

void show_all(ViewSettings& view) {
  view.row = view.column = view.height = view.width = 0;
}

}  // namespace attnscope::window
