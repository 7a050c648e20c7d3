#include "core/view/parts/matrix_plot.h"

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

constexpr double kMaxAspect = 4;      // maximum aspect ratio of the plot
constexpr double kLargestCell = 8;    // em
constexpr double kMinPlot = 3;        // em; smaller plots are illegible
constexpr double kMaxLabels = 0.26;   // fraction of the picture for the labels of one side
constexpr double kLongestLabel = 12;  // em
constexpr double kNoteHeight = 1.5;   // em

// Index of the cell at a pixel; -1 outside.
Index cell_at(double pixel, double from, double length, double first, double extent, Index count) {
  const double cell = std::floor(first + (pixel - from) / length * extent);
  return cell >= 0 && cell < static_cast<double>(count) ? static_cast<Index>(cell) : -1;
}

// The box of cells [row, row + height) x [column, column + width), in pixels.
Box box_of(const MatrixPlot& m, double row, double column, double height, double width) {
  const double x = m.plot.width / m.width, y = m.plot.height / m.height;
  return {m.plot.x + (column - m.column) * x, m.plot.y + (row - m.row) * y, width * x, height * y};
}

void draw_pins(Page& page, const MatrixPlot& m) {
  const Colour colour = page.theme().accent;
  if (m.pinned_row >= 0) {
    page.add(OutlinedBox{
        box_of(m, static_cast<double>(m.pinned_row), 0, 1, static_cast<double>(m.columns.count())),
        colour, 2});
  }
  if (m.pinned_column >= 0) {
    page.add(OutlinedBox{
        box_of(m, 0, static_cast<double>(m.pinned_column), static_cast<double>(m.rows.count()), 1),
        colour, 2});
  }
}

void draw_cross_hair(Page& page, const MatrixPlot& m) {
  if (m.hovered_row < 0 || m.hovered_column < 0) return;
  const auto row = static_cast<double>(m.hovered_row);
  const auto column = static_cast<double>(m.hovered_column);
  const Colour guide = translucent(page.theme().accent, 0.6);
  page.add(OutlinedBox{box_of(m, row, 0, 1, static_cast<double>(m.columns.count())), guide, 1});
  page.add(OutlinedBox{box_of(m, 0, column, static_cast<double>(m.rows.count()), 1), guide, 1});
  page.add(OutlinedBox{box_of(m, row, column, 1, 1), page.theme().accent, 2});
}

// Maximum label depths: a fraction of the picture, or more if a square plot leaves more space.
AxisDepths max_label_depths(const Page& page, const Box& inside, double right_width) {
  const double cap = kLongestLabel * page.em(), spare = inside.width - right_width - inside.height;
  const double usual = kMaxLabels * std::min(inside.width, inside.height);
  return {std::min(cap, std::max(usual, spare)), std::min(cap, std::max(usual, -spare))};
}

}  // namespace

CellWindow cell_window(const ViewSettings& settings) {
  return {settings.row, settings.column, settings.height, settings.width};
}

void set_visible(MatrixPlot& matrix, const CellWindow& requested) {
  const auto rows = static_cast<double>(matrix.rows.count());
  const auto columns = static_cast<double>(matrix.columns.count());
  matrix.height = rows;
  matrix.width = columns;
  if (!(requested.width > 0) || !(requested.height > 0)) return;
  // A region set for a longer text can be outside of this matrix.
  if (requested.row >= rows || requested.column >= columns) return;
  constexpr double kMin = 0.25;  // cells
  const auto place = [kMin](double first, double extent, double count, double& from, double& size) {
    size = std::clamp(extent, kMin, 4 * count);
    from = std::clamp(first, -size / 2, count - std::min(size, count) / 2);
  };
  place(requested.row, requested.height, rows, matrix.row, matrix.height);
  place(requested.column, requested.width, columns, matrix.column, matrix.width);
}

std::pair<Index, Index> PairAt::operator()(Point p) const {
  if (!plot.contains(p)) return {-1, -1};
  return {cell_at(p.y, plot.y, plot.height, row, height, rows),
          cell_at(p.x, plot.x, plot.width, column, width, columns)};
}

PairAt pair_at(const MatrixPlot& m) {
  return {m.plot, m.row, m.column, m.height, m.width, m.rows.count(), m.columns.count()};
}

namespace {

// Places everything but the pins within `inside`.
MatrixPlot place_unpinned(const Page& page, const Box& inside, TokenAxis row_axis,
                          TokenAxis column_axis, const CellWindow& requested, double right_width) {
  MatrixPlot m;
  m.scale = page.input().canvas.scale;
  m.rows = measured(page, std::move(row_axis));
  m.columns = measured(page, std::move(column_axis));
  set_visible(m, requested);

  const double em = page.em();
  const auto rows = static_cast<double>(m.rows.count());
  const auto columns = static_cast<double>(m.columns.count());
  const double aspect = std::clamp(columns / rows, 1 / kMaxAspect, kMaxAspect);
  const auto plot_between = [&](const AxisDepths& depths) {
    const double width =
        std::clamp(inside.width - depths.left - right_width, 0.0, columns * kLargestCell * em);
    const double height =
        std::clamp(inside.height - depths.top - kNoteHeight * em, 0.0, rows * kLargestCell * em);
    return width > aspect * height ? PlotSize{aspect * height, height}
                                   : PlotSize{width, width / aspect};
  };
  const AxisDepths depths = settled_depths(
      page, m.rows, m.columns, max_label_depths(page, inside, right_width), plot_between);
  m.left = depths.left;
  m.top = depths.top;
  const auto [width, height] = plot_between(depths);
  const double x = inside.x + std::max(0.0, (inside.width - m.left - width - right_width) / 2);
  const double y = inside.y + page.top_margin(inside.height, m.top + height + kNoteHeight * em);
  if (width >= kMinPlot * em && height >= std::min(kMinPlot, rows) * em) {
    m.plot = {x + m.left, y + m.top, width, height};
  }
  m.right = {m.plot.right(), m.plot.y, right_width, m.plot.height};
  m.note_y = m.plot.bottom() + 0.8 * em;
  if (page.input().interaction.pointer && m.plot.width > 0) {
    std::tie(m.hovered_row, m.hovered_column) = pair_at(m)(*page.input().interaction.pointer);
  }
  return m;
}

}  // namespace

MatrixPlot place_matrix(const Page& page, const Box& inside, const AttentionTap& tap,
                        double right_width) {
  const Trace& trace = page.input().trace;
  const ViewSettings& settings = page.input().session.view;
  MatrixPlot m = place_unpinned(page, inside, query_axis(trace, tap), key_axis(trace, tap),
                                cell_window(settings), right_width);
  if (settings.pinned_query < m.rows.count()) m.pinned_row = settings.pinned_query;
  if (settings.pinned_key < m.columns.count()) m.pinned_column = settings.pinned_key;
  return m;
}

MatrixPlot place_matrix(const Page& page, const Box& inside, TokenAxis rows, TokenAxis columns,
                        double right_width) {
  return place_unpinned(page, inside, std::move(rows), std::move(columns), {}, right_width);
}

double MatrixPlot::bottom(const Page& page) const {
  return plot.bottom() + (pooled() ? kNoteHeight * page.em() : 0);
}

Box MatrixPlot::cell(Index at_row, Index at_column) const {
  const double cell_width = plot.width / width, cell_height = plot.height / height;
  return {plot.x + (static_cast<double>(at_column) - column) * cell_width,
          plot.y + (static_cast<double>(at_row) - row) * cell_height, cell_width, cell_height};
}

bool has_row_end_outline(const Box& cell) {
  constexpr double kMinOutlined = 9;  // pixels
  return cell.height >= kMinOutlined;
}

void draw_row_end_marker(Page& page, const Box& cell) {
  constexpr double kMinThick = 14;  // pixels
  const Colour accent = page.theme().accent;
  if (!has_row_end_outline(cell)) {
    page.add(Line{{{cell.right() - 1, cell.y}, {cell.right() - 1, cell.bottom()}}, accent, 2});
    return;
  }
  const double thickness = cell.height >= kMinThick ? 2 : 1;
  page.add(OutlinedBox{{cell.x + thickness / 2, cell.y + thickness / 2, cell.width - thickness,
                        cell.height - thickness},
                       accent,
                       thickness});
}

void draw_matrix_frame(Page& page, const MatrixPlot& m,
                       const std::vector<std::string>& pooling_notes) {
  page.add(Clip{m.plot});
  for (const ColumnBand& band : m.columns.bands) {
    const double end = box_of(m, 0, static_cast<double>(band.first + band.count), 0, 0).x;
    page.add(Line{{{end, m.plot.y}, {end, m.plot.bottom()}}, page.theme().accent, 1});
  }
  for (const ColumnBand& band : m.rows.bands) {
    const double end = box_of(m, static_cast<double>(band.first + band.count), 0, 0, 0).y;
    page.add(Line{{{m.plot.x, end}, {m.plot.right(), end}}, page.theme().accent, 1});
  }
  draw_pins(page, m);
  draw_cross_hair(page, m);
  page.add(Clip{});
  page.add(OutlinedBox{m.plot, page.theme().line, 1});
  if (m.row_labels) {
    draw_axis_left(page, m.rows, {m.row, m.height, m.plot.y, m.plot.height}, m.plot.x, m.left,
                   m.hovered_row >= 0 ? m.hovered_row : m.pinned_row);
  }
  draw_axis_top(page, m.columns, {m.column, m.width, m.plot.x, m.plot.width}, m.plot.y, m.top,
                m.hovered_column >= 0 ? m.hovered_column : m.pinned_column);
  if (m.pooled() && !pooling_notes.empty()) {
    page.faint_text({m.plot.x, m.note_y}, page.fitting(pooling_notes, page.small(), m.plot.width),
                    page.small());
  }
}

HeatMap matrix_cells(const MatrixPlot& m) {
  HeatMap cells;
  cells.box = m.plot;
  cells.row = m.row;
  cells.column = m.column;
  cells.height = m.height;
  cells.width = m.width;
  return cells;
}

std::function<std::optional<Hit>(Point)> hit_test(std::vector<HitMatrix> matrices) {
  return [matrices = std::move(matrices)](Point p) -> std::optional<Hit> {
    for (const HitMatrix& m : matrices) {
      const auto [query, key] = m.pair_at(p);
      if (query < 0 || key < 0) continue;
      Hit hit{m.layer, m.head, query, key};
      hit.of_reference = m.of_reference;
      return hit;
    }
    return std::nullopt;
  };
}

ViewLayout matrix_layout(Page& page, const MatrixPlot& m, double bottom) {
  ViewLayout layout;
  layout.plot = m.plot;
  layout.row = m.row;
  layout.column = m.column;
  layout.height = m.height;
  layout.width = m.width;
  const ViewSettings& settings = page.input().session.view;
  layout.hit = hit_test({{pair_at(m), settings.layer, settings.head}});
  layout.list = page.take(bottom);
  return layout;
}

}  // namespace attnscope
