#include "core/view/export/view_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/figure/render.h"
#include "core/figure/text_table.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/range.h"
#include "core/view/parts/token_axis.h"
#include "core/view/parts/word_merging.h"
#include "core/view/session_file.h"

namespace attnscope {
namespace {

std::string label(const std::vector<std::string>& labels, Index index) {
  const auto position = static_cast<std::size_t>(index);
  return position < labels.size() ? labels[position] : std::to_string(index);
}

struct VisibleCells {
  Extent rows, columns;
};

VisibleCells visible_cells(const ViewSettings& settings, Index rows, Index columns) {
  if (!(settings.width > 0) || !(settings.height > 0)) return {{0, rows}, {0, columns}};
  return {visible_extent(settings.row, settings.height, rows),
          visible_extent(settings.column, settings.width, columns)};
}

std::vector<std::string> crop_labels(const std::vector<std::string>& labels, const Extent& part) {
  std::vector<std::string> result;
  for (Index n = part.first; n < part.last; ++n) result.push_back(label(labels, n));
  return result;
}

// Crops a matrix of the whole map to the visible region; other matrices are unchanged.
void crop_to_visible(ViewData::Matrix& matrix, const Trace& trace, const AttentionTap& tap,
                     const VisibleCells& cells) {
  const Tensor& full = matrix.values;
  if (full.dim(-2) != tap.queries() || full.dim(-1) != tap.keys()) return;
  if (matrix.rows != query_axis(trace, tap).labels) return;
  if (matrix.columns != key_axis(trace, tap).labels) return;
  Shape shape = full.shape();
  shape[shape.size() - 2] = cells.rows.count();
  shape[shape.size() - 1] = cells.columns.count();
  if (shape == full.shape()) return;
  Tensor cropped(shape);
  float* to = cropped.data();
  for (Index block = 0; block < full.size() / (tap.queries() * tap.keys()); ++block) {
    for (Index row = cells.rows.first; row < cells.rows.last; ++row) {
      const float* from = full.data() + (block * tap.queries() + row) * tap.keys();
      to = std::copy(from + cells.columns.first, from + cells.columns.last, to);
    }
  }
  matrix.values = std::move(cropped);
  matrix.rows = crop_labels(matrix.rows, cells.rows);
  matrix.columns = crop_labels(matrix.columns, cells.columns);
}

void append_number(std::string& csv, float number) {
  csv += ',';
  if (std::isnan(number)) return;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.8g", static_cast<double>(number));
  csv += text.data();
}

// Indices of a block along the leading axes: "3,1,".
std::string block_indices(const ViewData::Matrix& matrix, Index block) {
  std::string text;
  for (Index axis = matrix.values.rank() - 3; axis >= 0; --axis) {
    text.insert(0, std::to_string(block % matrix.values.dim(axis)) + ",");
    block /= matrix.values.dim(axis);
  }
  return text;
}

void append_matrix(std::string& csv, const ViewData::Matrix& matrix) {
  const Index rows = matrix.values.dim(-2), columns = matrix.values.dim(-1);
  for (std::size_t axis = 0; axis + 2 < matrix.values.shape().size(); ++axis) {
    csv +=
        csv_field(axis < matrix.axes.size() ? matrix.axes[axis] : "axis " + std::to_string(axis)) +
        ",";
  }
  const auto rows_axis = static_cast<std::size_t>(matrix.values.rank() - 2);
  csv += rows_axis < matrix.axes.size() ? csv_field(matrix.axes[rows_axis]) : "query";
  for (Index c = 0; c < columns; ++c) csv += "," + csv_field(label(matrix.columns, c));
  csv += "\n";
  const Index total_rows = matrix.values.size() / columns;
  for (Index row = 0; row < total_rows; ++row) {
    csv += block_indices(matrix, row / rows) + csv_field(label(matrix.rows, row % rows));
    for (Index c = 0; c < columns; ++c) append_number(csv, matrix.values[row * columns + c]);
    csv += "\n";
  }
}

}  // namespace

SafetensorsFile safetensors_of(const ViewData& data, const Session& session) {
  SafetensorsFile file;
  for (const ViewData::Matrix& matrix : data.matrices) {
    if (!file.tensors.emplace(matrix.name, stored(matrix.values)).second) {
      throw WorkError("two matrices of a view are called " + matrix.name);
    }
    file.metadata[matrix.name + ".rows"] = Json(matrix.rows).dump();
    file.metadata[matrix.name + ".columns"] = Json(matrix.columns).dump();
  }
  const ViewData::Matrix& first = data.matrices.front();
  if (data.matrices.size() == 1 || first.name.starts_with("attention")) {
    // Metadata keys that imported_tensors.h reads.
    file.metadata["tokens"] = file.metadata[first.name + ".rows"];
    file.metadata["key_tokens"] = file.metadata[first.name + ".columns"];
  }
  file.metadata["experiment"] = to_json(session).dump();
  return file;
}

ViewData::Matrix head_weights(const ViewInput& input, const AttentionTap& tap, Index head,
                              bool is_cropped) {
  constexpr Index kMaxWeights = Index{1} << 28;  // 1 GiB
  const ViewSettings& settings = is_cropped ? input.session.view : ViewSettings();
  const VisibleCells cells = visible_cells(settings, tap.queries(), tap.keys());
  const Index rows = cells.rows.count(), columns = cells.columns.count();
  if (rows > kMaxWeights / std::max<Index>(1, columns)) {
    throw InputError("the map has " + std::to_string(rows) + " x " + std::to_string(columns) +
                     " weights, too many to be exported; expected a part of it");
  }
  ViewData::Matrix matrix{
      "attention", {}, query_axis(input.trace, tap).labels, key_axis(input.trace, tap).labels};
  if (tap.stores_map() || !tap.result.tiles) {
    matrix.values = tap.attention(head);
    crop_to_visible(matrix, input.trace, tap, cells);
    return matrix;
  }
  matrix.values = tap.result.tiles->tile({.head = head,
                                          .row = cells.rows.first,
                                          .column = cells.columns.first,
                                          .height = rows,
                                          .width = columns});
  matrix.rows = crop_labels(matrix.rows, cells.rows);
  matrix.columns = crop_labels(matrix.columns, cells.columns);
  return matrix;
}

ViewData view_data(const Trace& trace, const Session& session, const Findings& findings) {
  const View& selected = view(session.view.id);
  Session session_with_defaults = session;
  session_with_defaults.view = with_defaults(session.view, trace);
  const ViewInput input{.trace = trace,
                        .session = session_with_defaults,
                        .findings = findings,
                        .canvas = {.theme = Theme::light(), .measure = file_text_measure()}};
  if (!selected.data) throw InputError(selected.id + ": this view has no numbers to export");
  const MergedWordsInput merged(selected, input);
  const ViewInput& merged_input = merged.input();
  ViewData data = selected.data(merged_input);
  const AttentionTap* tap = selected.cells.zoom ? find_tap(merged_input).tap : nullptr;
  for (ViewData::Matrix& matrix : data.matrices) {
    const bool has_numbers = matrix.values.rank() >= 2 && !matrix.values.empty();
    if (has_numbers && tap) {
      crop_to_visible(matrix, merged_input.trace, *tap,
                      visible_cells(merged_input.session.view, tap->queries(), tap->keys()));
    }
    if (!has_numbers || matrix.values.empty()) {
      throw InputError(selected.id + ": there are no numbers to export");
    }
  }
  if (data.matrices.empty()) throw InputError(selected.id + ": there are no numbers to export");
  return data;
}

std::string to_csv(const ViewData& data) {
  constexpr Index kMaxNumbers = Index{1} << 24;  // some 160 MB of text
  std::string csv;
  for (const ViewData::Matrix& matrix : data.matrices) {
    if (matrix.values.size() <= kMaxNumbers) continue;
    throw InputError(matrix.name + ": " + to_string(matrix.values.shape()) +
                     " are too many numbers for a table; expected .npy or .safetensors");
  }
  for (const ViewData::Matrix& matrix : data.matrices) {
    if (!csv.empty()) csv += "\n";
    if (data.matrices.size() > 1) csv += csv_field(matrix.name) + "\n";
    append_matrix(csv, matrix);
  }
  return csv;
}

}  // namespace attnscope
