// learned: a trained vector for each position, added to the input. Gehring et al., 2017.
#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/position/list.h"
#include "core/position/positions.h"
#include "core/position/shown.h"

namespace attnscope {

namespace {

// A size that hangs on nothing, beside kFreeInner.
constexpr Index kFreeColumn = -8;

bool is_axial(const Values& values) {
  return values.integer("columns") > 0;
}

// Of a position's vector, how many numbers its row gives.
Index row_width(const Values& values, Index width) {
  const Index given = values.integer("row_width");
  return given > 0 ? given : width / 2;
}

// Vectors put together of those of a row and of a column (Ho et al., 2019; Kitaev et al., 2020).
Var axial_rows(const std::vector<std::int32_t>& positions, const EncodingContext& context) {
  const Var& rows = weight(context.weights, "pos.row");
  const Var& columns = weight(context.weights, "pos.column");
  std::vector<std::int32_t> row, column;
  for (const std::int32_t position : positions) {
    row.push_back(position / static_cast<std::int32_t>(columns.dim(0)));
    column.push_back(position % static_cast<std::int32_t>(columns.dim(0)));
  }
  return concat({rows_of_positions(rows, row), rows_of_positions(columns, column)}, 1);  // [L, d]
}

}  // namespace

Encoding learned_encoding() {
  Encoding e;
  e.id = "learned";
  e.label = "Learned";
  e.group = "Added to the input";
  e.equation = "xᵢ += E[i]";
  e.summary =
      "Each position has a vector of its own, trained like a word's and added to the token's "
      "vector. It can take any form, but there is none for positions beyond the longest one of "
      "training, and nothing ties neighbouring positions together but the data.";
  e.source =
      "Gehring et al., 2017, Convolutional sequence to sequence learning, arXiv:1705.03122; axial: "
      "Kitaev et al., 2020, arXiv:2001.04451";
  e.cost = "O(L·d), and L_max·d weights";
  e.absolute = true;
  e.parameters = {
      every_layer_parameter(),
      to_values_parameter(),
      {.key = "columns",
       .symbol = "c",
       .label = "Axial columns",
       .help =
           "Positions stand in rows of so many, and a position's vector is its row's beside its "
           "column's; 0: each position has its own.",
       .initial = Index{0},
       .slider_most = 64},
      {.key = "row_width",
       .symbol = "",
       .label = "Row's numbers",
       .help = "How many numbers of an axial vector are the row's; 0: half of them.",
       .initial = Index{0},
       .slider_most = 64}};
  e.weights = {{.name = "pos.embedding",
                .help = "The vector of each position.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.context, n.model};
                },
                .initial = initial_normal(0.02),
                // About as long as the vectors of tokens that a model has learned.
                .shown = shown_positions(0.1),
                .used = [](const Values& values) { return !is_axial(values); }},
               {.name = "pos.row",
                .help = "The vector of each row of positions.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  const Index columns = std::max<Index>(1, values.integer("columns"));
                  const Index rows =
                      n.context > 0 ? (n.context + columns - 1) / columns : n.context;
                  return {rows, n.model > 0 ? row_width(values, n.model) : kFreeInner};
                },
                .initial = initial_normal(0.02),
                .used = is_axial},
               {.name = "pos.column",
                .help = "The vector of each column of positions.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {values.integer("columns"),
                          n.model > 0 ? n.model - row_width(values, n.model) : kFreeColumn};
                },
                .initial = initial_normal(0.02),
                .used = is_axial}};
  e.objection = [](const Values& values, const Situation& at) -> std::string {
    const Index width = at.dimensions.model, given = values.integer("row_width");
    if (!is_axial(values)) {
      return given == 0 ? "" : "row_width: expected columns above 0, whose rows have it, found 0";
    }
    if (width <= 0 || given < width) return {};
    return "row_width: expected less than the model's width " + std::to_string(width) + ", found " +
           std::to_string(given);
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
