#include "core/analysis/cost.h"

#include <set>

namespace attnscope {

namespace {

// Arrays may share their numbers: each block counts once.
class Bytes {
 public:
  template <class T>
  void add(const Array<T>& array) {
    if (!array.defined() || !seen_.insert(array.data()).second) return;
    sum_ += static_cast<std::size_t>(array.size()) * sizeof(T);
  }
  void add(const Var& var) {
    if (var.defined()) add(var.value());
  }
  void add(const OperationResult& result) {
    add(result.output);
    for (const Tensor* t : {&result.attention, &result.scores, &result.log_sum_exp}) add(*t);
    add(result.mask);
    if (result.device && seen_.insert(result.device.get()).second) {
      sum_ += static_cast<std::size_t>(element_count(result.device->shape())) * sizeof(float);
    }
    if (result.part) {
      for (const Var& var : ingredients(*result.part)) add(var);
    }
    for (const auto& [name, tensor] : result.extra) add(tensor);
    for (const auto& [name, tensor] : result.extra_counts) add(tensor);
  }
  std::size_t sum() const { return sum_; }

 private:
  std::set<const void*> seen_;
  std::size_t sum_ = 0;
};

bool is_causal(const Pattern& pattern) {
  for (Index a = 0; a < pattern.heads(); ++a) {
    for (Index i = 0; i < pattern.queries(); ++i) {
      for (const Run& run : pattern.row(a, i)) {
        if (run.end - 1 > i + pattern.keys() - pattern.queries()) return false;
      }
    }
  }
  return true;
}

}  // namespace

RunCost run_cost(const Trace& trace) {
  RunCost cost;
  Bytes bytes;
  for (const AttentionTap& tap : trace.attention) {
    bytes.add(tap.result);
    bytes.add(tap.q_plain);
    bytes.add(tap.k_plain);
    if (!tap.result.pattern) continue;
    const Pattern& pattern = *tap.result.pattern;
    const Index heads = static_cast<Index>(tap.heads.size());
    const Index queries = pattern.queries(), keys = pattern.keys();
    cost.pairs += pattern.pair_count(heads);
    const bool causal = keys >= queries && is_causal(pattern);
    cost.all_pairs += heads * (queries * keys - (causal ? queries * (queries - 1) / 2 : 0));
  }
  for (const auto& [name, tensor] : trace.taps) bytes.add(tensor);
  bytes.add(trace.logits);
  cost.bytes = bytes.sum();
  return cost;
}

}  // namespace attnscope
