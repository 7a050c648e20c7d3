#include "app/window/actions/navigation.h"

#include <algorithm>

namespace attnscope::window {
namespace {

constexpr double kMinCells = 2;

double inside(double first, double count, double all) {
  return std::clamp(first, 0.0, std::max(0.0, all - count));
}

}  // namespace

Cells zoom_cells(const Cells& seen, double factor, double row, double column, Index rows,
                 Index columns) {
  const auto all_rows = static_cast<double>(rows), all_columns = static_cast<double>(columns);
  // Both directions use one factor, limited by the first that reaches a limit.
  const double max_factor = std::max({1.0, seen.height / kMinCells, seen.width / kMinCells});
  const double min_factor = std::min(seen.height / all_rows, seen.width / all_columns);
  factor = std::clamp(factor, min_factor, max_factor);
  Cells next;
  next.height = std::clamp(seen.height / factor, std::min(kMinCells, all_rows), all_rows);
  next.width = std::clamp(seen.width / factor, std::min(kMinCells, all_columns), all_columns);
  next.row = row - (row - seen.row) * next.height / seen.height;
  next.column = column - (column - seen.column) * next.width / seen.width;
  next.row = inside(next.row, next.height, all_rows);
  next.column = inside(next.column, next.width, all_columns);
  return next;
}

Cells pan_cells(const Cells& seen, double rows_down, double columns_right, Index rows,
                Index columns) {
  Cells next = seen;
  next.row = inside(seen.row + rows_down, seen.height, static_cast<double>(rows));
  next.column = inside(seen.column + columns_right, seen.width, static_cast<double>(columns));
  return next;
}

void show(ViewSettings& view, const Cells& seen, Index rows, Index columns) {
  const bool all = seen.height >= static_cast<double>(rows) - 1e-6 &&
                   seen.width >= static_cast<double>(columns) - 1e-6;
  if (all) {
    show_all(view);
    return;
  }
  view.row = seen.row;
  view.column = seen.column;
  view.height = seen.height;
  view.width = seen.width;
}

std::optional<LabelAt> label_at(const ViewLayout& layout, Point p, Index rows, Index columns) {
  const Box& plot = layout.plot;
  const bool cells = layout.width > 0 && layout.height > 0 && plot.width > 0 && plot.height > 0;
  // Only views with rows downwards and columns across have row labels left and column labels above.
  if (!cells || !layout.rows_run_down || !layout.columns_run_across) return std::nullopt;
  const auto within = [](double at, double start, double extent) {
    return at >= start && at < start + extent;
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
