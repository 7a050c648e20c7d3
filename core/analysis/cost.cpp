#include "core/analysis/cost.h"

#include <algorithm>
#include <set>

namespace attnscope {
namespace {

// Total size of arrays, counting shared storage once.
class ByteCounter {
 public:
  template <class T>
  void add(const Array<T>& array) {
    if (!array.defined() || !counted_.insert(array.data()).second) return;
    sum_ += static_cast<std::size_t>(array.size()) * sizeof(T);
  }
  void add(const Var& var) {
    if (var.defined()) add(var.value());
  }
  void add(const OperationResult& result) {
    add(result.output);
    for (const Tensor* t : {&result.attention, &result.scores, &result.log_sum_exp}) add(*t);
    add(result.mask);
    if (result.device && counted_.insert(result.device.get()).second) {
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
  std::set<const void*> counted_;
  std::size_t sum_ = 0;
};

// Allowed pairs of a head. `causal`: several queries, and no key is later than its query.
struct Pairs {
  double count = 0;
  bool causal = true;
};

Pairs count_pairs(const OperationResult& result, Index head) {
  const Pattern& pattern = *result.pattern;
  const Index queries = pattern.queries(), keys = pattern.keys(), columns_before = keys - queries;
  Pairs pairs;
  pairs.causal = columns_before >= 0 && queries > 1;
  if (result.mask.defined()) {
    const std::uint8_t* mask = result.mask.data() + head * queries * keys;
    for (Index i = 0; i < queries; ++i) {
      for (Index c = 0; c < keys; ++c) {
        if (mask[i * keys + c] == 0) continue;
        ++pairs.count;
        if (c > i + columns_before) pairs.causal = false;
      }
    }
    return pairs;
  }
  for (Index i = 0; i < queries; ++i) {
    for (const Run& run : pattern.row(pattern.heads() == 1 ? 0 : head, i)) {
      pairs.count += static_cast<double>(run.count());
      const Index last = run.begin + (run.count() - 1) * run.step;
      if (run.count() > 0 && last > i + columns_before) pairs.causal = false;
    }
  }
  return pairs;
}

// True if some columns are computed from several tokens (projections, slots).
bool combines_tokens(const OperationResult& result) {
  return std::ranges::any_of(result.columns, [](const auto& run) {
    return run.first == KeyKind::Projected || run.first == KeyKind::Slot;
  });
}

}  // namespace

HeadCost head_cost(const AttentionTap& tap, Index head) {
  const OperationResult& result = tap.result;
  const Pairs pairs = count_pairs(result, head);
  const bool is_combined = combines_tokens(result) && tap.input.k.defined();
  const Index queries = tap.queries(), keys = is_combined ? tap.input.k.dim(1) : tap.keys();
  HeadCost cost;
  cost.causal = pairs.causal && !is_combined;
  const Index later_pairs = cost.causal ? queries * (queries - 1) / 2 : 0;
  cost.full = static_cast<double>(queries * keys - later_pairs);
  cost.products = pairs.count;
  if (!tap.input.q.defined() || !result.output.defined()) return cost;  // imported
  const Variant& v = variant(tap.variant.id);
  if (!v.cost.head) return cost;
  cost.products = v.cost.head({.values = tap.variant.values,
                               .result = result,
                               .head = head,
                               .queries = queries,
                               .keys = keys,
                               .key_size = tap.input.q.dim(2),
                               .value_size = result.output.dim(2),
                               .pairs = pairs.count});
  return cost;
}

namespace {

// Number of elements of queries, keys, values and outputs.
double count_row_elements(const AttentionTap& tap) {
  const Tensor output = tap.result.output.defined() ? tap.result.output.value() : Tensor();
  double numbers = 0;
  for (const Tensor& rows : {tap.input.q, tap.input.k, output}) {
    if (rows.defined()) numbers += static_cast<double>(rows.size());
  }
  if (tap.input.k.defined() && output.defined()) {  // one value per key
    numbers += static_cast<double>(tap.input.k.dim(0) * tap.input.k.dim(1) * output.dim(2));
  }
  return numbers;
}

}  // namespace

RunCost run_cost(const Trace& trace) {
  RunCost cost;
  ByteCounter bytes;
  for (const AttentionTap& tap : trace.attention) {
    bytes.add(tap.result);
    bytes.add(tap.input.q);
    bytes.add(tap.input.k);
    bytes.add(tap.input.v);
    if (!tap.result.pattern) continue;
    const Index heads = static_cast<Index>(tap.heads.size());
    cost.pairs += tap.result.pattern->pair_count(heads);
    for (Index head = 0; head < heads; ++head) {
      const HeadCost head_total = head_cost(tap, head);
      cost.products += head_total.products;
      cost.full += head_total.full;
    }
    cost.attention_bytes += sizeof(float) * count_row_elements(tap);
  }
  for (const auto& [name, tensor] : trace.taps) bytes.add(tensor);
  bytes.add(trace.logits);
  cost.attention_bytes += sizeof(float) * cost.products;
  cost.bytes = bytes.sum();
  return cost;
}

}  // namespace attnscope
