// What a recurrent reading of features carries along (Katharopoulos et al., 2020, section 3.4).
#include <Eigen/Core>
#include <cmath>

#include "core/attention/variants/shared/scaled_rows.h"
#include "core/base/parallel.h"

namespace attnscope {

void add_state(OperationResult& result, const OperationInput& input, const Features& k) {
  const ScaledRows rows(k);
  const Tensor& v = input.v.value();
  const Index size = v.dim(2), last = result.pattern->queries() - 1;
  const Index shared = input.heads / input.kv_heads;
  Tensor state({input.heads, rows.size, size});  // [h, D, d_v]
  parallel_for(input.heads, 1, [&](Index first, Index end) {
    for (Index head = first; head < end; ++head) {
      Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(rows.size, size);
      Eigen::VectorXd feature(rows.size), value(size);
      for (const Run& run : result.pattern->row(head, last)) {
        for (Index j = run.begin; j < run.end; j += run.step) {
          const Index key = head * rows.rows + j;
          for (Index t = 0; t < rows.size; ++t) {
            feature[t] = k.factor * rows.mantissa(key, t) * std::exp(rows.exponent(key, t));
          }
          const float* from = v.data() + (head / shared * v.dim(1) + j) * size;
          for (Index c = 0; c < size; ++c) value[c] = from[c];
          sum.noalias() += feature * value.transpose();
        }
      }
      for (Index t = 0; t < rows.size; ++t) {
        for (Index c = 0; c < size; ++c) state(head, t, c) = static_cast<float>(sum(t, c));
      }
    }
  });
  for (const float x : state) {
    if (std::isfinite(x)) continue;
    result.remarks.emplace_back("state: beyond the range of float32, left out");
    return;
  }
  result.extra["state"] = state;
}

}  // namespace attnscope
