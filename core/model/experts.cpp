// Pass: mixture of experts.
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/stop.h"
#include "core/model/pass.h"
#include "core/model/rows.h"

namespace attnscope {
namespace {

// Experts with the largest logits of each row; ties: lowest index.  [n][per_row], ascending
std::vector<std::vector<Index>> select_experts(const Tensor& logits, Index per_row) {
  const Index count = logits.dim(1);
  std::vector<std::vector<Index>> selected;
  for (Index row = 0; row < logits.dim(0); ++row) {
    const float* scores = logits.data() + row * count;
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(order, [&](Index a, Index b) { return scores[a] > scores[b]; });
    order.resize(static_cast<std::size_t>(per_row));
    std::ranges::sort(order);
    selected.push_back(std::move(order));
  }
  return selected;
}

// Weight of each expert for each row, 0 for experts not chosen.  [n, experts]
Var expert_gates(const Var& logits, const std::vector<std::vector<Index>>& choice,
                 bool renormalised) {
  const float excluded = renormalised ? -std::numeric_limits<float>::infinity() : 0;
  Tensor mask = Tensor::full(logits.shape(), excluded);
  for (Index row = 0; row < logits.dim(0); ++row) {
    for (const Index e : choice[static_cast<std::size_t>(row)]) mask(row, e) = renormalised ? 0 : 1;
  }
  return renormalised ? softmax(add(logits, mask)) : multiply(softmax(logits), mask);
}

}  // namespace

Var Pass::mix_experts(const Site& site, const Var& x) {
  const Experts& experts = config().model_options.experts;
  const std::string prefix = site.prefix + "ffn.";
  const Var logits = linear(x, prefix + "router", prefix + "router_bias");  // [n, experts]
  const auto selected = select_experts(logits.value(), experts.chosen);
  const Var gates = expert_gates(logits, selected, experts.renormalised);  // [n, experts]
  if (recorder_.on()) recorder_.located_rows("gate.experts", site.address, gates.value());
  // Each expert processes the rows that chose it. Row output_rows[slot][row] of `concatenated` is
  // the output of the expert that `row` chose as number `slot`.
  std::vector<Var> outputs;  // outputs of the experts, [rows of the expert, d] each
  const Index rows = x.dim(0);
  std::vector<IntTensor> output_rows;
  for (Index slot = 0; slot < experts.chosen; ++slot) output_rows.emplace_back(Shape{rows});
  Index output_count = 0;
  for (Index e = 0; e < experts.count; ++e) {
    check_stop();
    std::vector<std::int32_t> expert_rows;
    for (Index row = 0; row < rows; ++row) {
      const std::vector<Index>& row_experts = selected[static_cast<std::size_t>(row)];
      const auto slot_entry = std::ranges::find(row_experts, e);
      if (slot_entry == row_experts.end()) continue;
      output_rows[static_cast<std::size_t>(slot_entry - row_experts.begin())][row] =
          static_cast<std::int32_t>(output_count + static_cast<Index>(expert_rows.size()));
      expert_rows.push_back(static_cast<std::int32_t>(row));
    }
    if (expert_rows.empty()) continue;
    output_count += static_cast<Index>(expert_rows.size());
    const Var out = apply_feed_forward(select_rows(x, expert_rows),
                                       prefix + "experts." + std::to_string(e), true);
    outputs.push_back(multiply(out, select_rows(slice(gates, 1, e, 1), expert_rows)));  // [rows, d]
  }
  const Var concatenated = outputs.size() == 1 ? outputs[0] : concat(outputs, 0);  // [n chosen, d]
  Var sum = gather(concatenated, output_rows[0]);
  for (std::size_t slot = 1; slot < output_rows.size(); ++slot)
    sum = add(sum, gather(concatenated, output_rows[slot]));
  if (experts.shared_hidden == 0) return sum;                              // [n, d]
  const Var shared_gate = sigmoid(linear(x, prefix + "shared_gate", ""));  // [n, 1]
  return add(sum, multiply(apply_feed_forward(x, prefix + "shared", true), shared_gate));
}

}  // namespace attnscope
