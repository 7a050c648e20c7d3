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

// Experts with the largest logits of each row; ties: lowest index.  [n][chosen], ascending
std::vector<std::vector<Index>> select_experts(const Tensor& logits, Index chosen) {
  const Index count = logits.dim(1);
  std::vector<std::vector<Index>> all;
  for (Index row = 0; row < logits.dim(0); ++row) {
    const float* of_row = logits.data() + row * count;
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(order, [&](Index a, Index b) { return of_row[a] > of_row[b]; });
    order.resize(static_cast<std::size_t>(chosen));
    std::ranges::sort(order);
    all.push_back(std::move(order));
  }
  return all;
}

// Weight of each expert for each row, 0 for those not chosen.  [n, experts]
Var expert_gates(const Var& logits, const std::vector<std::vector<Index>>& chosen,
                 bool renormalised) {
  const float left_out = renormalised ? -std::numeric_limits<float>::infinity() : 0;
  Tensor mask = Tensor::full(logits.shape(), left_out);
  for (Index row = 0; row < logits.dim(0); ++row) {
    for (const Index e : chosen[static_cast<std::size_t>(row)]) mask(row, e) = renormalised ? 0 : 1;
  }
  return renormalised ? softmax(add(logits, mask)) : multiply(softmax(logits), mask);
}

}  // namespace

Var Pass::mix_experts(const Site& site, const Var& x) {
  const Experts& experts = config().model_options.experts;
  const std::string at = site.prefix + "ffn.";
  const Var logits = linear(x, at + "router", at + "router_bias");  // [n, experts]
  const auto chosen = select_experts(logits.value(), experts.chosen);
  const Var gates = expert_gates(logits, chosen, experts.renormalised);  // [n, experts]
  if (recorder_.on()) recorder_.located_rows("gate.experts", site.at, gates.value());
  // Each expert processes the rows that chose it. place[slot][row]: index of the row's output
  // among the outputs of all experts.
  std::vector<Var> outputs;  // [rows, d] each
  const Index rows = x.dim(0);
  std::vector<IntTensor> place;
  for (Index slot = 0; slot < experts.chosen; ++slot) place.emplace_back(Shape{rows});
  Index done = 0;
  for (Index e = 0; e < experts.count; ++e) {
    check_stop();
    std::vector<std::int32_t> own;
    for (Index row = 0; row < rows; ++row) {
      const std::vector<Index>& of_row = chosen[static_cast<std::size_t>(row)];
      const auto found = std::ranges::find(of_row, e);
      if (found == of_row.end()) continue;
      place[static_cast<std::size_t>(found - of_row.begin())][row] =
          static_cast<std::int32_t>(done + static_cast<Index>(own.size()));
      own.push_back(static_cast<std::int32_t>(row));
    }
    if (own.empty()) continue;
    done += static_cast<Index>(own.size());
    const Var out =
        apply_feed_forward(select_rows(x, own), at + "experts." + std::to_string(e) + ".");
    outputs.push_back(multiply(out, select_rows(slice(gates, 1, e, 1), own)));  // [rows, d]
  }
  const Var all = outputs.size() == 1 ? outputs[0] : concat(outputs, 0);  // [n chosen, d]
  Var sum = gather(all, place[0]);
  for (std::size_t slot = 1; slot < place.size(); ++slot) sum = add(sum, gather(all, place[slot]));
  return sum;  // [n, d]
}

}  // namespace attnscope
