// linformer: keys and values projected to a fixed number of rows. Wang et al., 2020.
#include <algorithm>
#include <cmath>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/windows.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"

namespace attnscope {
namespace {

bool has_mode(const Values& values, const char* mode) {
  return values.choice("mode") == mode;
}

Index row_count(const Values& values) {
  return values.integer("k");
}

bool is_shared_by(const Values& values, const char* share) {
  return has_mode(values, "projection") && values.choice("share") == share;
}

// True if E also mixes the values.
bool has_one_matrix(const Values& values) {
  return is_shared_by(values, "key_value") || is_shared_by(values, "layerwise");
}

// First `count` columns of a weight. A weight may have more columns than the text has tokens.
Var first_columns(const NamedVars& weights, const char* name, Index count) {
  const Var& stored = weight(weights, name);
  if (stored.dim(-1) >= count) return slice(stored, -1, 0, count);
  throw InputError(std::string(name) + ": expected at least " + std::to_string(count) +
                   " columns, found " + std::to_string(stored.dim(-1)));
}

// Name of the weight that mixes the values.
const char* value_weight(const Values& values) {
  return has_one_matrix(values) ? "lin.e" : "lin.f";
}

// Product of `matrix` and x [B h, L, e]. matrix: [k, L] if all heads share it, else [h, k, L].
Var project_rows(const Var& matrix, const Var& x) {
  if (matrix.rank() == 2) return combine_rows(matrix, x);
  const std::vector<Var> copies(static_cast<std::size_t>(x.dim(0) / matrix.dim(0)), matrix);
  return matmul(copies.size() == 1 ? matrix : concat(copies, 0), x);  // [B h, k, e]
}

// Reduces x [B h, L, e] to [B h, k, e]. name: weight to use, ignored by modes without weights.
Var shorten_rows(const OperationInput& input, const Var& x, const char* name) {
  const Values& values = input.variant.values;
  const Index count = row_count(values), size = window_count(x.dim(1), count);
  if (has_mode(values, "projection")) {
    return project_rows(first_columns(input.weights, name, x.dim(1)), x);
  }
  if (has_mode(values, "mean")) return window_mean(x, size, count);
  if (has_mode(values, "max")) return window_max(x, size, count);
  return window_convolution(x, first_columns(input.weights, name, size), input.heads, size, count);
}

// Matrix by which a linear mode mixes keys or values. name: its weight.  [h or 1, k, L]
Tensor mixing_matrix(const OperationInput& input, Index length, const char* name) {
  const Values& values = input.variant.values;
  const Index count = row_count(values), size = window_count(length, count);
  if (has_mode(values, "mean"))
    return mean_matrix(length, size, count).reshaped({1, count, length});
  if (has_mode(values, "projection")) {
    const Tensor stored = first_columns(input.weights, name, length).value();
    return stored.rank() == 3 ? stored : stored.reshaped({1, count, length});
  }
  const Tensor stored = first_columns(input.weights, name, size).value();
  Tensor matrix = Tensor::zeros({input.heads, count, length});
  for (Index a = 0; a < input.heads; ++a) {
    for (Index j = 0; j < length; ++j) matrix(a, j / size, j) = stored(a, j % size);
  }
  return matrix;
}

// attention @ F, where F is the matrix that mixes the values.  [B h, L_q, L]
Tensor implied_weights(const OperationInput& input, const Tensor& attention, Index length) {
  const Tensor matrix = mixing_matrix(input, length, value_weight(input.variant.values));
  std::vector<Var> pair_weights;
  for (Index pair = 0; pair < attention.dim(0); ++pair) {
    const Index head = matrix.dim(0) == 1 ? 0 : pair % input.heads;
    pair_weights.push_back(matmul(attention.slice(pair, 1), matrix.slice(head, 1)));
  }
  return concat(pair_weights, 0).value();
}

OperationResult evaluate_linformer(const OperationInput& original, Backend& backend,
                                   const ResultRequest& wanted) {
  const OperationInput input = rotate_input(original);
  const Values& values = input.variant.values;
  const Index length = key_count(input), count = row_count(values);
  // Windows beyond the end of the text have no keys.
  const Index used_rows =
      has_mode(values, "projection") ? count : window_count(length, window_count(length, count));
  PatternBuilder rows(1, query_count(input), count, {"projected"});
  for (Index i = 0; i < query_count(input); ++i) {
    rows.add(0, 0, used_rows);
    rows.next_row();
  }
  Part part = plain_part(input, rows.finish());
  part.k = shorten_rows(input, repeat_heads(input.k, input.heads, input.kv_heads), "lin.e");
  part.v =
      shorten_rows(input, repeat_heads(input.v, input.heads, input.kv_heads), value_weight(values));
  part.split.clear();
  part.pos_q.clear();
  part.pos_k.clear();
  OperationResult result = run_part(std::move(part), backend, wanted);
  if (wanted.attention && !has_mode(values, "max")) {
    result.extra["implied"] = implied_weights(input, result.attention, length);
    result.extra["linformer.projection"] = mixing_matrix(input, length, "lin.e");
  }
  result.columns = {{KeyKind::Projected, count}};
  return result;
}

// Mean pooling with windows of equal length.  [.., k, L]
Tensor mean_pooling(const Shape& shape, Index length) {
  Tensor pooling = Tensor::zeros(shape);
  const Index rows = shape[shape.size() - 2], columns = shape.back();
  for (Index row = 0; row < pooling.size() / columns; ++row) {
    const Index begin = row % rows * length / rows;
    const Index end = std::max(begin + 1, (row % rows + 1) * length / rows);
    for (Index j = begin; j < std::min(end, columns); ++j) {
      pooling[row * columns + j] = 1 / static_cast<float>(end - begin);
    }
  }
  return pooling;
}

WeightInfo projection(const char* name, const char* help, bool mixes_values) {
  return {
      .name = name,
      .help = help,
      .shape = [](const Dimensions& n, const Values& values) -> Shape {
        const Index keys = n.key_length();
        if (is_shared_by(values, "none")) return {n.heads, row_count(values), keys};
        if (has_mode(values, "projection")) return {row_count(values), keys};
        return {n.heads, keys < 0 ? keys : window_count(keys, row_count(values))};
      },
      .initial =
          [](const Shape& shape, const Dimensions& n, const Values& values, std::uint64_t seed) {
            if (has_mode(values, "convolution")) {
              return Tensor::full(shape, 1.0f / static_cast<float>(shape[1]));
            }
            const double deviation = 1 / std::sqrt(static_cast<double>(shape.back()));
            return initial_normal(deviation)(shape, n, values, seed);
          },
      .illustrative =
          [](const Shape& shape, const Situation& in, const Values& values) {
            if (has_mode(values, "convolution")) {
              return Tensor::full(shape, 1.0f / static_cast<float>(shape[1]));
            }
            return mean_pooling(shape,
                                in.keys > 0 ? std::min(in.keys, shape.back()) : shape.back());
          },
      .used =
          [mixes_values](const Values& values) {
            if (mixes_values && has_one_matrix(values)) return false;
            return has_mode(values, "projection") || has_mode(values, "convolution");
          },
      .is_shared_by_layers =
          [](const Values& values) { return is_shared_by(values, "layerwise"); }};
}

double linformer_numbers(const MemoryInput& in) {
  const double implied =
      in.maps ? static_cast<double>(in.queries) * static_cast<double>(in.keys) : 0;
  const auto projected = static_cast<double>(in.values.integer("k") * in.keys);
  return static_cast<double>(in.heads) * (implied + projected);
}

}  // namespace

Variant linformer_variant() {
  Variant v;
  v.id = "linformer";
  v.label = "Linformer";
  v.group = "Low rank and kernels";
  v.equation = "A = softmax(Q (E K)ᵀ / √d_k),   out = A (F V),   E, F ∈ ℝ^{k×L}";
  v.summary =
      "Attention maps are nearly of low rank, so keys and values are first reduced to k rows, by a "
      "learned projection, by means or maxima of windows, or by a convolution. The map has k "
      "columns for any text length; for linear modes the weights on the tokens themselves are "
      "implied. Projections can be shared by the heads of a layer, by keys and values, and by all "
      "layers. Later layers have maps of lower rank and may have a smaller k. RoPE rotates keys "
      "before E mixes them.";
  v.source = "Wang et al., 2020, Linformer, arXiv:2006.04768";
  v.complexity = "O(L·k·d)";
  v.cost.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                     values.set("k", std::min<Index>(128, length));
                   }};
  v.causality.refusal =
      "each projected key mixes tokens of the whole text, so that no mask over the k columns hides "
      "later tokens; Linformer is for encoders";
  v.inputs.cross = true;
  v.encodings.accepts_rotary = true;
  v.encodings.accepts_pairs = v.scores.has_terms = never;
  v.encodings.pairs_refusal = "scores keys that are mixed from many positions";
  v.parameters = {
      {.key = "k",
       .symbol = "k",
       .label = "Rows",
       .help = "Number of remaining keys and values. Head groups can set it for each layer.",
       .required = true,
       .initial = Index{8},
       .illustrative_default = [](Index length) -> Value { return fraction_of_length(length, 4); },
       .limits = {.min = 1, .max = 1048576},
       .slider = {.min = 1, .max = 64}},
      {.key = "mode",
       .symbol = "",
       .label = "Mode",
       .help = "Reduction of keys and values.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("projection"),
       .choices = {"projection", "mean", "max", "convolution"}},
      {.key = "share",
       .symbol = "",
       .label = "Shared by",
       .help =
           "Sharing of projections, as in the paper: E and F for all heads of a layer (headwise), "
           "E = F for all heads of a layer (key-value), E = F for all layers (layerwise), or E "
           "and F for each head (none).",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("headwise"),
       .choices = {{"headwise", "heads (headwise)", false, {"layer"}},
                   {"none", "", false, {"head"}},
                   {"key_value", "heads, keys and values (key-value)"},
                   {"layerwise", "all layers (layerwise)"}}}};
  v.weights = {projection("lin.e", "Mixes the keys.", false),
               projection("lin.f", "Mixes the values.", true)};
  v.cost.columns = [](const Values& values, Index) { return row_count(values); };
  v.cost.bytes = [](const MemoryInput& in) { return sizeof(float) * linformer_numbers(in); };
  v.evaluate = evaluate_linformer;
  return v;
}

}  // namespace attnscope
