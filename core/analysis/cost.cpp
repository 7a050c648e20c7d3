#include "core/analysis/cost.h"

#include <algorithm>
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

// The pairs that a head may use, and whether no key of theirs is later than the query.
struct Pairs {
  double count = 0;
  bool causal = true;
};

Pairs pairs_of(const OperationResult& result, Index head) {
  const Pattern& pattern = *result.pattern;
  const Index queries = pattern.queries(), keys = pattern.keys(), before = keys - queries;
  Pairs pairs;
  pairs.causal = before >= 0 && queries > 1;
  if (result.mask.defined()) {
    const std::uint8_t* allowed = result.mask.data() + head * queries * keys;
    for (Index i = 0; i < queries; ++i) {
      for (Index c = 0; c < keys; ++c) {
        if (allowed[i * keys + c] == 0) continue;
        ++pairs.count;
        if (c > i + before) pairs.causal = false;
      }
    }
    return pairs;
  }
  for (Index i = 0; i < queries; ++i) {
    for (const Run& run : pattern.row(pattern.heads() == 1 ? 0 : head, i)) {
      pairs.count += static_cast<double>(run.count());
      const Index last = run.begin + (run.count() - 1) * run.step;
      if (run.count() > 0 && last > i + before) pairs.causal = false;
    }
  }
  return pairs;
}

// Columns that stand for no token each were made from tokens.
bool has_made_columns(const OperationResult& result) {
  return std::ranges::any_of(result.columns, [](const auto& run) {
    return run.first == KeyKind::Projected || run.first == KeyKind::Slot;
  });
}

}  // namespace

HeadCost head_cost(const AttentionTap& tap, Index head) {
  const OperationResult& result = tap.result;
  const Pairs pairs = pairs_of(result, head);
  const bool made = has_made_columns(result) && tap.k_plain.defined();
  const Index queries = tap.queries(), keys = made ? tap.k_plain.dim(1) : tap.keys();
  HeadCost cost;
  cost.causal = pairs.causal && !made;
  const Index later = cost.causal ? queries * (queries - 1) / 2 : 0;
  cost.full = static_cast<double>(queries * keys - later);
  cost.products = pairs.count;
  if (!tap.q_plain.defined() || !result.output.defined()) return cost;  // not computed here
  const Variant& v = variant(tap.variant.id);
  if (!v.head_cost) return cost;
  cost.products = v.head_cost({.values = tap.variant.values,
                               .result = result,
                               .head = head,
                               .queries = queries,
                               .keys = keys,
                               .key_size = tap.q_plain.dim(2),
                               .value_size = result.output.dim(2),
                               .pairs = pairs.count});
  return cost;
}

namespace {

// Of queries, keys, values and output.
double row_numbers(const AttentionTap& tap) {
  const Tensor output = tap.result.output.defined() ? tap.result.output.value() : Tensor();
  double numbers = 0;
  for (const Tensor& rows : {tap.q_plain, tap.k_plain, output}) {
    if (rows.defined()) numbers += static_cast<double>(rows.size());
  }
  if (tap.k_plain.defined() && output.defined()) {  // values are as many as keys
    numbers += static_cast<double>(tap.k_plain.dim(0) * tap.k_plain.dim(1) * output.dim(2));
  }
  return numbers;
}

}  // namespace

RunCost run_cost(const Trace& trace) {
  RunCost cost;
  Bytes bytes;
  for (const AttentionTap& tap : trace.attention) {
    bytes.add(tap.result);
    bytes.add(tap.q_plain);
    bytes.add(tap.k_plain);
    bytes.add(tap.v_plain);
    if (!tap.result.pattern) continue;
    const Index heads = static_cast<Index>(tap.heads.size());
    cost.pairs += tap.result.pattern->pair_count(heads);
    for (Index head = 0; head < heads; ++head) {
      const HeadCost of_head = head_cost(tap, head);
      cost.products += of_head.products;
      cost.full += of_head.full;
    }
    cost.attention_bytes += sizeof(float) * row_numbers(tap);
  }
  for (const auto& [name, tensor] : trace.taps) bytes.add(tensor);
  bytes.add(trace.logits);
  cost.attention_bytes += sizeof(float) * cost.products;
  cost.bytes = bytes.sum();
  return cost;
}

}  // namespace attnscope
