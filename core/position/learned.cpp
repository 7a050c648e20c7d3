// learned: a trained vector for each position, added to the input. Gehring et al., 2017.
#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/position/list.h"
#include "core/position/positions.h"
#include "core/position/shown.h"

namespace attnscope {

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
  e.source = "Gehring et al., 2017, Convolutional sequence to sequence learning, arXiv:1705.03122";
  e.cost = "O(L·d), and L_max·d weights";
  e.absolute = true;
  e.parameters = {every_layer_parameter(), to_values_parameter()};
  e.weights = {{.name = "pos.embedding",
                .help = "The vector of each position.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.context, n.model};
                },
                .initial = initial_normal(0.02),
                // About as long as the vectors of tokens that a model has learned.
                .shown = shown_positions(0.1)}};
  e.embed = [](const Var& x, const std::vector<std::int32_t>& positions,
               const EncodingContext& context) {
    return add(x, rows_of_positions(weight(context.weights, "pos.embedding"), positions));
  };
  return e;
}

}  // namespace attnscope
