#include "core/view/position/position_panels.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/encoded.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/position/encoding.h"
#include "core/position/offsets.h"
#include "core/position/sinusoid.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"

namespace attnscope {
Tensor transposed(const Tensor& m) {
  Tensor t({m.dim(1), m.dim(0)});
  for (Index i = 0; i < m.dim(0); ++i) {
    for (Index j = 0; j < m.dim(1); ++j) t(j, i) = m(i, j);
  }
  return t;
}

PositionPanel matrix_panel(std::string title, const std::string& x_label, double first,
                           Tensor cells, std::string row_label, std::string colour_label) {
  PositionPanel panel;
  panel.title = std::move(title);
  panel.x_label = x_label;
  panel.first = first;
  panel.last = first + static_cast<double>(cells.dim(1)) - 1;
  panel.cells = std::move(cells);
  panel.row_label = std::move(row_label);
  panel.colour_label = std::move(colour_label);
  return panel;
}

PositionPanel curve_panel(std::string title, const std::string& x_label, double first, double last,
                          std::string y_label) {
  PositionPanel panel;
  panel.title = std::move(title);
  panel.x_label = x_label;
  panel.first = first;
  panel.last = last;
  panel.y_label = std::move(y_label);
  return panel;
}

namespace {

constexpr const char* kPosition = "position";
constexpr const char* kOffset = "offset: query − key, in positions";

double dot(const float* a, const float* b, Index n) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// Cosine similarity of rows, 0 for zero rows.  [n, n]
Tensor cosines(const Tensor& rows) {
  const Index n = rows.dim(0), d = rows.dim(1);
  Tensor result({n, n});
  std::vector<double> lengths;
  for (Index i = 0; i < n; ++i) {
    lengths.push_back(std::sqrt(dot(rows.data() + i * d, rows.data() + i * d, d)));
  }
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const double product_of_lengths =
          lengths[static_cast<std::size_t>(i)] * lengths[static_cast<std::size_t>(j)];
      const double product = dot(rows.data() + i * d, rows.data() + j * d, d);
      result(i, j) = static_cast<float>(product_of_lengths > 0 ? product / product_of_lengths : 0);
    }
  }
  return result;
}

// Mean of a matrix of pairs at each offset row - column.
std::vector<Point> mean_by_offset(const Tensor& pairs) {
  const Index n = pairs.dim(0);
  std::vector<Point> points;
  for (Index offset = 1 - n; offset < n; ++offset) {
    double sum = 0;
    Index count = 0;
    for (Index i = std::max<Index>(0, offset); i < std::min(n, n + offset); ++i, ++count) {
      sum += static_cast<double>(pairs(i, i - offset));
    }
    points.push_back({static_cast<double>(offset), sum / static_cast<double>(count)});
  }
  return points;
}

// Adds panels of input encodings: vectors and their similarity.
void add_vectors(PositionPanels& result, const EncodingUse& use, Index layer) {
  const Tensor vectors = position_vectors(use, result.reach + 1);  // [positions, d]
  std::string title = "The vector added at each position";
  if (is_added_per_layer(use.encoding)) title += ", layer " + std::to_string(layer);
  if (const auto base = learned_base(use.weights)) title += "; learned base " + brief(*base);
  result.panels.push_back(
      matrix_panel(title, kPosition, 0, transposed(vectors), "component", "value"));
  const Tensor similarities = cosines(vectors);
  result.panels.push_back(matrix_panel("Similarity of two positions", kPosition, 0, similarities,
                                       "other position", "cosine"));
  const auto limit = static_cast<double>(result.reach);
  PositionPanel curve =
      curve_panel("Similarity by distance, mean over positions", kOffset, -limit, limit, "cosine");
  curve.curves.push_back({mean_by_offset(similarities)});
  result.panels.push_back(std::move(curve));
}

// Values of a table by pair of positions, [positions, positions]; NaN for later keys if causal.
Tensor pair_table(const Part& part, const OffsetTable& table, Index row, double scale,
                  bool causal) {
  const Index count = part.queries();
  const Tensor& numbers = table.table.value();  // [h or 1, n]
  Tensor cells({count, count});
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < count; ++j) {
      const Index offset = position_at(part.pos_q, i) - position_at(part.pos_k, j);
      const double number = scale * static_cast<double>(numbers(row, (*table.index)(offset)));
      cells(i, j) = causal && j > i ? NAN : static_cast<float>(number);
    }
  }
  return cells;
}

// Adds the selected head's values by offset in rows and columns of an image; NaN for later keys if
// causal.
void add_image_table(PositionPanels& result, const Part& part, const OffsetTable& table, Index head,
                     const std::string& colour_label, double scale, bool causal) {
  const Tensor& numbers = table.table.value();  // [h, side * side]
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(numbers.dim(1)))));
  const Index shown = std::min(side / 2, part.queries() - 1);
  Tensor cells({2 * shown + 1, 2 * shown + 1});
  for (Index row = -shown; row <= shown; ++row) {
    for (Index column = -shown; column <= shown; ++column) {
      const Index entry = (row + side / 2) * side + column + side / 2;
      const bool is_later = row > 0 || (row == 0 && column > 0);
      const double number = scale * static_cast<double>(numbers(head, entry));
      cells(row + shown, column + shown) = causal && is_later ? NAN : static_cast<float>(number);
    }
  }
  PositionPanel panel = matrix_panel("By offset in the image", "columns to the right of the query",
                                     -static_cast<double>(shown), std::move(cells),
                                     "rows below the query", colour_label);
  panel.first_row = -static_cast<double>(shown);
  panel.is_square = true;
  result.panels.push_back(std::move(panel));
}

// Adds curves by offset, one for each head if the table depends on heads.
void add_offset_curves(PositionPanels& result, const OffsetTable& table, const AttentionTap& tap,
                       Index selected_head, std::string title, std::string y_label, double scale) {
  const std::vector<Index>& heads = tap.heads;
  const auto limit = static_cast<double>(result.reach);
  PositionPanel panel = curve_panel(std::move(title), kOffset, -limit, limit, std::move(y_label));
  const Tensor& numbers = table.table.value();  // [h or 1, n]
  for (Index n = 0; n < numbers.dim(0); ++n) {
    PositionPanel::Curve curve;
    for (Index offset = -result.reach; offset <= result.reach; ++offset) {
      curve.points.push_back({static_cast<double>(offset),
                              scale * static_cast<double>(numbers(n, (*table.index)(offset)))});
    }
    if (numbers.dim(0) > 1) curve.head = heads[static_cast<std::size_t>(n)];
    panel.curves.push_back(std::move(curve));
  }
  if (numbers.dim(0) > 1) panel.selected_head = selected_head;
  result.panels.push_back(std::move(panel));
}

// Adds the values of a table by offset, and the selected head's matrix of pairs.
void add_table(PositionPanels& result, const Part& part, const OffsetTable& table,
               const AttentionTap& tap, Index head, const std::string& title,
               const std::string& label, double scale) {
  const bool by_head = table.table.dim(0) > 1;
  const Index head_number = tap.heads[static_cast<std::size_t>(head)];
  const bool is_image =
      std::ranges::any_of(encoding(tap.encoding.id).parameters,
                          [](const Parameter& p) { return p.scope.image == "width"; });
  if (is_image) {
    add_image_table(result, part, table, head, label, scale, tap.causal);
  } else {
    add_offset_curves(result, table, tap, head_number, title, label, scale);
  }
  PositionPanel matrix = matrix_panel(
      by_head ? "Between positions, head " + std::to_string(head_number) : "Between positions",
      "key's position", 0, pair_table(part, table, by_head ? head : 0, scale, tap.causal),
      "query's position", label);
  matrix.is_square = true;
  result.panels.push_back(std::move(matrix));
}

// Adds the vectors by offset and, unless `factor` [d] is null, their products with it.
void add_rows(PositionPanels& result, const RelativeRows& rows, Index head,
              const std::string& title, const float* factor, double scale,
              const std::string& curve_title) {
  const Tensor& table = rows.rows.value();  // [h or 1, n, d]
  const Index plane = table.dim(0) == 1 ? 0 : head, d = table.dim(2);
  const Index count = 2 * result.reach + 1;
  const auto limit = static_cast<double>(result.reach);
  Tensor cells({d, count});
  PositionPanel curve = curve_panel(curve_title, kOffset, -limit, limit, "part of the score");
  curve.curves.emplace_back();
  for (Index n = 0; n < count; ++n) {
    const float* row = table.data() + (plane * table.dim(1) + (*rows.index)(n - result.reach)) * d;
    for (Index c = 0; c < d; ++c) cells(c, n) = row[c];
    if (factor) {
      curve.curves.back().points.push_back(
          {static_cast<double>(n - result.reach), scale * dot(row, factor, d)});
    }
  }
  const bool has_offsets = table.dim(1) > 1;
  if (has_offsets) {
    result.panels.push_back(
        matrix_panel(title, kOffset, -limit, std::move(cells), "component", "value"));
  }
  if (factor) result.panels.push_back(std::move(curve));
}

// Adds products of positions, independent of the tokens.
void add_product(PositionPanels& result, const ExtraProduct& product, Index head, double scale) {
  const Tensor &q = product.q.value(), &k = product.k.value();  // [h, L, e]
  const Index n = q.dim(1), e = q.dim(2);
  Tensor pairs({n, n});
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      pairs(i, j) = static_cast<float>(
          scale * dot(q.data() + (head * n + i) * e, k.data() + (head * n + j) * e, e));
    }
  }
  result.panels.push_back(matrix_panel("Contribution of two positions to the score",
                                       "key's position", 0, pairs, "query's position",
                                       "added to the score"));
  const auto limit = static_cast<double>(result.reach);
  PositionPanel curve = curve_panel("The same by distance, mean over positions", kOffset, -limit,
                                    limit, "added to the score");
  curve.curves.push_back({mean_by_offset(pairs)});
  result.panels.push_back(std::move(curve));
}

// Adds panels of rotary encodings: a vector rotated to each position, and products of two of them.
void add_rotation(PositionPanels& result, const EncodingUse& use, Index d) {
  const Index count = result.reach + 1;
  const Tensor ones = Tensor::full({1, count, d}, 1.0F / std::sqrt(static_cast<float>(d)));
  const Part part = encoded_part(use, ones, ones, {}, {});
  const Tensor rotated = part.q.value().reshaped({count, d});
  result.panels.push_back(matrix_panel("A constant vector rotated to each position", kPosition, 0,
                                       transposed(rotated), "component", "value"));
  const auto limit = static_cast<double>(result.reach);
  PositionPanel curve = curve_panel("Its product with itself at another position", kOffset, -limit,
                                    limit, "share of the product at offset 0");
  curve.curves.push_back({mean_by_offset(cosines(rotated))});
  result.panels.push_back(std::move(curve));
}

// Adds panels for each term that a pair encoding defines.
void add_pairs(PositionPanels& result, const ViewInput& input, const AttentionTap& tap, Index head,
               const EncodingUse& use) {
  const Index heads = use.dimensions.heads, kv_heads = use.dimensions.kv_heads;
  const Index d = use.dimensions.key, count = result.reach + 1;
  const Tensor q = Tensor::zeros({heads, count, d}), k = Tensor::zeros({kv_heads, count, d});
  const Part part = encoded_part(use, q, k, {}, {});
  const auto scale = static_cast<double>(tap.settings() ? tap.settings()->scale : part.scale);
  const Pair focus = focus_of(input, tap, head);
  const Index kv = head / (heads / kv_heads);
  const HeadTensors<Tensor> vectors = tap.input();
  const float* query = vectors.q.data() + (head * vectors.q.dim(1) + focus.query) * d;
  const bool has_key = focus.key < vectors.k.dim(1);
  const float* key = has_key ? vectors.k.data() + (kv * vectors.k.dim(1) + focus.key) * d : nullptr;
  if (part.q.value().data() != q.data()) add_rotation(result, use, d);
  if (part.bias) {
    add_table(result, part, *part.bias, tap, head, "The bias of each distance",
              "added to the score", 1);
  }
  if (part.factor) {
    add_table(result, part, *part.factor, tap, head, "The factor of each distance",
              "factor on the content score", 1);
  }
  const std::string at_query = "“" + query_label(input.trace, tap, focus.query) + "”";
  const std::string at_key = "“" + key_label(input.trace, tap, focus.key) + "”";
  if (part.query_rows) {
    add_rows(result, *part.query_rows, head, "Relative-position vectors for queries", query, scale,
             "Score by distance for the query " + at_query);
  }
  for (const RelativeRows& rows : part.key_rows) {
    if (rows.rows.dim(1) == 1) continue;  // constant: no curve
    add_rows(result, rows, head, "Relative-position vectors for keys", key, scale,
             "Score by distance for the key " + at_key);
  }
  for (const OffsetTable& table : part.scaled_biases) {
    add_table(result, part, table, tap, head,
              "Contribution of each distance, independent of the tokens", "added to the score",
              scale);
  }
  if (part.value_rows) {
    add_rows(result, *part.value_rows, head, "Relative-position vectors added to values", nullptr,
             0, "");
  }
  for (const ExtraProduct& product : part.products) add_product(result, product, head, scale);
}

}  // namespace

Index position_limit(const ViewInput& input, const AttentionTap& tap, Index reach) {
  const Encoding& method = encoding(tap.encoding.id);
  // Trained vectors end at the model's context length.
  const bool is_trained =
      std::any_of(method.weights.begin(), method.weights.end(), [&](const WeightInfo& w) {
        return !w.training.constant && tap.encoding_weights.count(w.name) > 0;
      });
  const Index context = input.trace.config->context;
  return is_trained && method.absolute && context > 0 ? std::min(reach, context - 1) : reach;
}

PositionPanels position_panels(const ViewInput& input, const AttentionTap& tap, Index head,
                               Index reach) {
  PositionPanels result;
  if (input.trace.is_imported) {
    result.headline = "The encoding of these tensors is unknown";
    result.advice = kImportedAttentionAdvice;
    return result;
  }
  const Encoding& method = encoding(tap.encoding.id);
  result.reach = reach;
  if (!method.embed && !method.apply) {
    const auto limit = static_cast<double>(reach);
    PositionPanel panel = curve_panel("No encoding: distance does not affect the score", kOffset,
                                      -limit, limit, "added to the score");
    panel.curves.emplace_back();
    for (Index offset = -reach; offset <= reach; ++offset) {
      panel.curves.back().points.push_back({static_cast<double>(offset), 0});
    }
    result.panels.push_back(std::move(panel));
    return result;
  }
  const EncodingUse use = encoding_use(tap, *input.trace.config);
  if (method.apply && (use.dimensions.key == 0 || use.dimensions.kv_heads == 0)) {
    result.headline = "Nothing to encode";
    result.advice = "The variant " + variant(tap.variant.id).label +
                    " has no queries and keys, which this encoding modifies.";
    return result;
  }
  result.reach = position_limit(input, tap, reach);
  if (method.embed) {
    add_vectors(result, use, tap.address.layer);
    return result;
  }
  add_pairs(result, input, tap, head, use);
  for (PositionPanel& panel : result.panels)
    panel.is_causal = tap.causal && panel.x_label == kOffset;
  return result;
}

}  // namespace attnscope
