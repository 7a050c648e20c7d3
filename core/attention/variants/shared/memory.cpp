#include "core/attention/variants/shared/memory.h"

#include <numeric>

#include "core/autodiff/operations_shape.h"

namespace attnscope {

Var memory_rows(const OperationInput& input, const char* name, Index size) {
  const Var* stored = find_weight(input.weights, name);
  return stored ? *stored : Var(Tensor::zeros({input.batch * input.kv_heads, 0, size}));
}

WeightInfo memory_weight(const char* name, const char* help, Index Dimensions::*rows,
                         Index Dimensions::*size) {
  return {.name = name,
          .help = help,
          .shape = [rows, size](const Dimensions& n, const Values&) -> Shape {
            return {n.batch * n.kv_heads, n.*rows, n.*size};
          },
          .file = {.optional = true, .state = true}};
}

std::vector<std::int32_t> positions_from(Index first, Index count) {
  std::vector<std::int32_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), static_cast<std::int32_t>(first));
  return positions;
}

Var prepend_rows(const Var& rows, const Var& x) {
  return rows.dim(1) == 0 ? x : concat({rows, x}, 1);
}

}  // namespace attnscope
