#include "core/view/view_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/figure/render.h"
#include "core/tensor/npy.h"
#include "core/tensor/safetensors.h"
#include "core/view/describe.h"
#include "core/view/token_axis.h"

namespace attnscope {
namespace {

// The weights of the layer and head that is looked at.
ViewData head_data(const ViewInput& input) {
  const Found found = find_tap(input);
  if (found.tap == nullptr) throw InputError(found.headline + ". " + found.advice);
  return {{{"attention", whole_map(*found.tap, found.head),
            query_axis(input.trace, *found.tap).labels, key_axis(input.trace, *found.tap).labels}}};
}

void append_number(std::string& csv, float number) {
  csv += ',';
  if (std::isnan(number)) return;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.8g", static_cast<double>(number));
  csv += text.data();
}

std::string label(const std::vector<std::string>& labels, Index at) {
  const auto i = static_cast<std::size_t>(at);
  return i < labels.size() ? labels[i] : std::to_string(at);
}

// Where a row stands along the axes before the last two: "3,1,".
std::string place(const ViewData::Matrix& matrix, Index block) {
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
  csv += "query";
  for (Index c = 0; c < columns; ++c) csv += "," + csv_field(label(matrix.columns, c));
  csv += "\n";
  const Index all = matrix.values.size() / columns;
  for (Index row = 0; row < all; ++row) {
    csv += place(matrix, row / rows) + csv_field(label(matrix.rows, row % rows));
    for (Index c = 0; c < columns; ++c) append_number(csv, matrix.values[row * columns + c]);
    csv += "\n";
  }
}

SafetensorsFile safetensors_of(const ViewData& data, const Experiment& experiment) {
  SafetensorsFile file;
  for (const ViewData::Matrix& matrix : data.matrices) {
    file.tensors.emplace(matrix.name, stored(matrix.values));
  }
  const ViewData::Matrix& first = data.matrices.front();
  file.metadata["rows"] = nlohmann::json(first.rows).dump();
  file.metadata["columns"] = nlohmann::json(first.columns).dump();
  // As own_tensors.h reads them.
  file.metadata["tokens"] = file.metadata["rows"];
  file.metadata["key_tokens"] = file.metadata["columns"];
  file.metadata["experiment"] = to_json(experiment).dump();
  return file;
}

}  // namespace

Tensor whole_map(const AttentionTap& tap, Index head) {
  constexpr Index kMostWeights = Index{1} << 28;  // 1 GiB
  if (tap.queries() > kMostWeights / std::max<Index>(1, tap.keys())) {
    throw InputError("the map has " + std::to_string(tap.queries()) + " x " +
                     std::to_string(tap.keys()) + " weights, too many to be exported");
  }
  return tap.attention(head);
}

ViewData view_data(const Trace& trace, const Experiment& experiment, const Trace* reference) {
  const View& shown = view(experiment.view.id);
  const ViewInput input{.trace = trace,
                        .experiment = experiment,
                        .theme = Theme::light(),
                        .measure = file_text_measure(),
                        .reference = reference};
  ViewData data = shown.data ? shown.data(input) : head_data(input);
  for (const ViewData::Matrix& matrix : data.matrices) {
    if (matrix.values.rank() >= 2 && !matrix.values.empty()) continue;
    throw InputError(shown.id + ": there are no numbers to export");
  }
  if (data.matrices.empty()) throw InputError(shown.id + ": there are no numbers to export");
  return data;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string to_csv(const ViewData& data) {
  constexpr Index kMostNumbers = Index{1} << 24;  // some 160 MB of text
  std::string csv;
  for (const ViewData::Matrix& matrix : data.matrices) {
    if (matrix.values.size() <= kMostNumbers) continue;
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

bool is_data_name(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".csv" || ending == ".npy" || ending == ".safetensors";
}

void write_view_data(const std::filesystem::path& path, const Trace& trace,
                     const Experiment& experiment, const Trace* reference) {
  const ViewData data = view_data(trace, experiment, reference);
  const std::string ending = path.extension().string();
  if (ending == ".csv") {
    write_file(path, to_csv(data));
  } else if (ending == ".safetensors") {
    write_safetensors(path, safetensors_of(data, experiment));
  } else if (data.matrices.size() == 1) {
    write_npy(path, stored(data.matrices.front().values));
  } else {
    throw InputError(path.string() + ": a .npy file holds one array, this view has " +
                     std::to_string(data.matrices.size()) + "; expected .csv or .safetensors");
  }
}

}  // namespace attnscope
