#include "core/position/projected_rows.h"

#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {

Var projected_rows(const Var& vectors, const Var& projection, Index heads) {
  const Var rows = matmul(vectors, projection);                             // [n, h d_k]
  return split_heads(reshape(rows, {1, rows.dim(0), rows.dim(1)}), heads);  // [h, n, d_k]
}

WeightInfo position_projection(const char* name, const char* help) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values&) -> Shape {
            return {n.model, n.heads * n.key};
          },
          .initial = initial_projection()};
}

}  // namespace attnscope
