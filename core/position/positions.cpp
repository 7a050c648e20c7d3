#include "core/position/positions.h"

#include <algorithm>
#include <numeric>

#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"

namespace attnscope {

Var rows_of_positions(const Var& embedding, const std::vector<std::int32_t>& positions) {
  const std::int32_t last = *std::max_element(positions.begin(), positions.end());
  if (last >= embedding.dim(0)) {
    throw InputError("pos.embedding: expected at least " + std::to_string(Index{last} + 1) +
                     " rows, one per position, found " + std::to_string(embedding.dim(0)));
  }
  return gather(embedding, IntTensor::from({static_cast<Index>(positions.size())}, positions));
}

std::vector<std::int32_t> first_positions(Index count) {
  std::vector<std::int32_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

Parameter every_layer_parameter() {
  return {.key = "every_layer",
          .symbol = "",
          .label = "In every layer",
          .help = "Adds the vectors to the input of every layer instead of once to the embeddings.",
          .kind = Parameter::Kind::Flag,
          .scope = {.models = true},
          .initial = false};
}

Parameter to_values_parameter() {
  return {.key = "values",
          .symbol = "",
          .label = "To values",
          .help = "Also adds positions to the input of values, not only of queries and keys.",
          .kind = Parameter::Kind::Flag,
          .scope = {.models = true},
          .initial = true};
}

}  // namespace attnscope
