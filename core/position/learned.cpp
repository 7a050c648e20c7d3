// learned: trained position vectors added to the input. Gehring et al., 2017.
#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_shape.h"
#include "core/position/illustrative_weights.h"
#include "core/position/list.h"
#include "core/position/positions.h"

namespace attnscope {
namespace {

// Free size of column vectors. It may differ from kFreeInner, the free size of row vectors.
constexpr Index kFreeColumn = -8;

bool is_axial(const Values& values) {
  return values.integer("columns") > 0;
}

// Number of components of a position vector that belong to the row vector.
Index row_width(const Values& values, Index width) {
  const Index configured = values.integer("row_width");
  return configured > 0 ? configured : width / 2;
}

// Row and column vector of each position, concatenated (Ho et al., 2019; Kitaev et al., 2020).
Var axial_rows(const std::vector<std::int32_t>& positions, const EncodingContext& context) {
  const Var& rows = weight(context.weights, "pos.row");
  const Var& columns = weight(context.weights, "pos.column");
  std::vector<std::int32_t> row, column;
  for (const std::int32_t position : positions) {
    row.push_back(position / static_cast<std::int32_t>(columns.dim(0)));
    column.push_back(position % static_cast<std::int32_t>(columns.dim(0)));
  }
  return concat({rows_of_positions(rows, row), rows_of_positions(columns, column)},
                1);  // [L, d]
}

}  // namespace

Encoding learned_encoding() {
  Encoding e;
  e.id = "learned";
  e.label = "Learned";
  e.group = "Added to the input";
  e.equation = "xᵢ += E[i]";
  e.summary =
      "Each position has its own vector, trained like a word embedding and added to the token's "
      "vector. It can express any dependence on position, but positions beyond the training length "
      "have no vector, and vectors of neighbouring positions are related only by training.";
  e.source =
      "Gehring et al., 2017, Convolutional sequence to sequence learning, arXiv:1705.03122; axial: "
      "Kitaev et al., 2020, arXiv:2001.04451";
  e.complexity = "O(L·d), and L_max·d weights";
  e.absolute = true;
  e.parameters = {
      every_layer_parameter(),
      to_values_parameter(),
      {.key = "columns",
       .symbol = "c",
       .label = "Axial columns",
       .help =
           "Columns of the grid of positions: a position's vector is a row vector followed by a "
           "column vector; 0: each position has its own vector.",
       .initial = Index{0},
       .slider = {.max = 64}},
      {.key = "row_width",
       .symbol = "",
       .label = "Row width",
       .help = "Number of components of an axial vector that come from the row; 0: half of them.",
       .initial = Index{0},
       .slider = {.max = 64}}};
  e.weights = {{.name = "pos.embedding",
                .help = "Position vectors.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.context, n.model};
                },
                .initial = initial_normal(0.02),
                // The vectors' norm is similar to the norm of trained token embeddings.
                .illustrative = illustrative_positions(0.1),
                .used = [](const Values& values) { return !is_axial(values); }},
               {.name = "pos.row",
                .help = "Vectors of the rows of positions.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  const Index columns = std::max<Index>(1, values.integer("columns"));
                  const Index rows =
                      n.context > 0 ? (n.context + columns - 1) / columns : n.context;
                  return {rows, n.model > 0 ? row_width(values, n.model) : kFreeInner};
                },
                .initial = initial_normal(0.02),
                .used = is_axial},
               {.name = "pos.column",
                .help = "Vectors of the columns of positions.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {values.integer("columns"),
                          n.model > 0 ? n.model - row_width(values, n.model) : kFreeColumn};
                },
                .initial = initial_normal(0.02),
                .used = is_axial}};
  e.objection = [](const Values& values, const Situation& situation) -> std::string {
    const Index width = situation.dimensions.model, row_size = values.integer("row_width");
    if (!is_axial(values)) {
      return row_size == 0 ? "" : "columns: expected above 0 with a row_width, found 0";
    }
    if (width <= 0 || row_size < width) return {};
    return "row_width: expected less than the model's width " + std::to_string(width) + ", found " +
           std::to_string(row_size);
  };
  e.embed = [](const Var& x, const std::vector<std::int32_t>& positions,
               const EncodingContext& context) {
    const Var vectors =
        is_axial(context.values)
            ? axial_rows(positions, context)
            : rows_of_positions(weight(context.weights, "pos.embedding"), positions);
    return add(x, vectors);  // [B, L, d]
  };
  return e;
}

}  // namespace attnscope
