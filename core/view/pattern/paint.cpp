#include "core/view/pattern/paint.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/part/mask_rows.h"
#include "core/view/parts/pattern_cells.h"

namespace attnscope {
namespace {

// Appends the cells between two cells without gaps.
void add_line(const Cell& from, const Cell& to, std::vector<Cell>& cells) {
  const Index row_distance = to.first - from.first, column_distance = to.second - from.second;
  const Index steps = std::max(std::abs(row_distance), std::abs(column_distance));
  for (Index step = 0; step <= steps; ++step) {
    const auto covered = [&](Index distance) {
      if (steps == 0) return Index{0};
      return static_cast<Index>(
          std::lround(static_cast<double>(distance * step) / static_cast<double>(steps)));
    };
    cells.emplace_back(from.first + covered(row_distance), from.second + covered(column_distance));
  }
}

// Settings of a stroke.
struct Paint {
  std::string tool;
  bool allows = true, is_symmetric = false;
};

void apply_stroke(const Paint& paint, const std::vector<Cell>& path, ByteTensor& mask) {
  const Index rows = mask.dim(0), columns = mask.dim(1);
  const auto set = [&](Index i, Index j) {
    if (i >= 0 && i < rows && j >= 0 && j < columns) mask(i, j) = paint.allows ? 1 : 0;
  };
  for (const auto& [i, j] : stroke_cells(paint.tool, path)) {
    set(i, j);
    if (paint.is_symmetric) set(j, i);
  }
}

// The painted mask, extended to the text: tokens without painted rows attend to themselves.
ByteTensor extended_mask(const MaskRows& rows, Index queries, Index keys) {
  const auto painted_rows = static_cast<Index>(rows.size());
  Index width = keys;
  for (const std::vector<Index>& row : rows) {
    if (!row.empty()) width = std::min(std::max(width, row.back()), kMaxPainted);
  }
  ByteTensor mask =
      mask_from_rows(rows, std::min(std::max(queries, painted_rows), kMaxPainted), width);
  for (Index i = painted_rows; i < std::min(mask.dim(0), width); ++i) mask(i, i) = 1;
  return mask;
}

// Cell at a point, or the nearest cell for points outside of the plot.
Cell nearest_cell(const PairAt& pair_at, Point p) {
  const auto clamped = [](double value, double first, double extent) {
    return std::clamp(value, first, first + std::max(0.0, extent - 1e-6));
  };
  const auto [i, j] = pair_at({clamped(p.x, pair_at.plot.x, pair_at.plot.width),
                               clamped(p.y, pair_at.plot.y, pair_at.plot.height)});
  return {i, j};
}

}  // namespace

std::vector<Cell> stroke_cells(const std::string& tool, const std::vector<Cell>& path) {
  std::vector<Cell> cells;
  if (path.empty()) return cells;
  if (tool == "rectangle") {
    const auto [i0, i1] = std::minmax(path.front().first, path.back().first);
    const auto [j0, j1] = std::minmax(path.front().second, path.back().second);
    for (Index i = i0; i <= i1; ++i) {
      for (Index j = j0; j <= j1; ++j) cells.emplace_back(i, j);
    }
  } else if (tool == "line") {
    add_line(path.front(), path.back(), cells);
  } else {
    for (std::size_t n = 0; n < path.size(); ++n) add_line(path[n > 0 ? n - 1 : 0], path[n], cells);
  }
  return cells;
}

ByteTensor mask_of_head(const AttentionTap& tap, Index head) {
  const Index queries = tap.queries(), keys = tap.keys();
  if (queries > kMaxPainted || keys > kMaxPainted) {
    throw InputError("mask: expected at most " + std::to_string(kMaxPainted) +
                     " queries or keys, found " + std::to_string(std::max(queries, keys)));
  }
  const Pattern& pattern = *tap.result.pattern;
  ByteTensor mask = ByteTensor::zeros({queries, keys});
  for (Index i = 0; i < queries; ++i) {
    if (tap.result.mask.defined()) {
      const std::uint8_t* allowed = tap.result.mask.data() + (head * queries + i) * keys;
      std::copy(allowed, allowed + keys, mask.data() + i * keys);
      continue;
    }
    for (const Run& run : pattern.row(pattern.heads() > 1 ? head : 0, i)) {
      for (Index j = run.begin; j < run.end; j += run.step) mask(i, j) = 1;
    }
  }
  return mask;
}

Choice custom_choice(const ByteTensor& mask) {
  return mask_choice(mask_rows(mask));
}

bool is_painted(const AttentionTap& tap) {
  return tap.variant.id == kCustomMask;
}

ByteTensor apply_to_mask(const ByteTensor& mask, const std::string& operation) {
  ByteTensor result = mask.copy();
  if (operation == "mirror") {
    const Index size = std::min(mask.dim(0), mask.dim(1));
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < size; ++j) result(i, j) = mask(i, j) | mask(j, i);
    }
    return result;
  }
  for (std::uint8_t& allowed : result) {
    allowed = operation == "invert" ? allowed == 0 : operation == "allow";
  }
  return result;
}

ByteTensor mask_as_painted(const std::optional<Choice>& choice, const ByteTensor& current) {
  if (!choice || choice->id != kCustomMask || !choice->values.has("rows")) return current.copy();
  return extended_mask(choice->values.get<MaskRows>("rows"), current.dim(0), current.dim(1));
}

void add_canvas(const ViewInput& input, const MatrixPlot& matrix, const AttentionTap& tap,
                Index head, ViewLayout& layout) {
  const Values settings = view_values(input.session.view, "pattern");
  const Paint paint{settings.choice("tool"), settings.choice("paint") == "allow",
                    settings.flag("symmetric")};
  const bool fits = tap.queries() <= kMaxPainted && tap.keys() <= kMaxPainted;
  if (paint.tool == "look" || !is_painted(tap) || !fits) return;
  const ByteTensor current = mask_of_head(tap, head);
  Handle canvas{matrix.plot, "", {}, {}};
  canvas.stroke = [paint, current, matrix_pair_at = pair_at(matrix)](
                      const std::vector<Point>& points, Session& session) {
    std::optional<Choice>& choice = governing_variant(session);
    ByteTensor mask = mask_as_painted(choice, current);
    std::vector<Cell> path;
    for (const Point& point : points) path.push_back(nearest_cell(matrix_pair_at, point));
    apply_stroke(paint, path, mask);
    choice = custom_choice(mask);
  };
  layout.handles.push_back(std::move(canvas));
}

}  // namespace attnscope
