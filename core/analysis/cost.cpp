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
  void add(const AttentionVectors* kept) {
    if (kept == nullptr) return;
    for (const Tensor* t : {&kept->input.q, &kept->input.k, &kept->input.v, &kept->output}) add(*t);
    if (kept->part) {
      for (const Var& var : ingredients(*kept->part)) add(var);
    }
  }
  void add(const OperationRecord& result) {
    for (const Tensor* t : {&result.attention, &result.scores, &result.log_sum_exp}) add(*t);
    add(result.mask);
    if (result.device && counted_.insert(result.device.get()).second) {
      sum_ += static_cast<std::size_t>(element_count(result.device->shape())) * sizeof(float);
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

Pairs count_pairs(const OperationRecord& result, Index head) {
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
bool combines_tokens(const OperationRecord& result) {
  return std::ranges::any_of(result.columns, [](const auto& run) {
    return run.first == KeyKind::Projected || run.first == KeyKind::Slot;
  });
}

}  // namespace

HeadCost head_cost(const AttentionTap& tap, Index head) {
  const OperationRecord& result = tap.result;
  const Shape &q = tap.shapes().input.q, &k = tap.shapes().input.k, &output = tap.shapes().output;
  const Pairs pairs = count_pairs(result, head);
  const bool is_combined = combines_tokens(result) && !k.empty();
  const Index queries = tap.queries(), keys = is_combined ? k[1] : tap.keys();
  HeadCost cost;
  cost.causal = pairs.causal && !is_combined;
  const Index later_pairs = cost.causal ? queries * (queries - 1) / 2 : 0;
  cost.full = static_cast<double>(queries * keys - later_pairs);
  cost.products = pairs.count;
  if (q.empty() || output.empty()) return cost;  // imported
  const Variant& v = variant(tap.variant.id);
  if (!v.cost.head) return cost;
  cost.products = v.cost.head({.values = tap.variant.values,
                               .result = result,
                               .head = head,
                               .queries = queries,
                               .keys = keys,
                               .key_size = q[2],
                               .value_size = output[2],
                               .pairs = pairs.count});
  return cost;
}

namespace {

// Number of elements of queries, keys, values and outputs.
double count_row_elements(const AttentionTap& tap) {
  const Shape &k = tap.shapes().input.k, &output = tap.shapes().output;
  double numbers = 0;
  for (const Shape& rows : {tap.shapes().input.q, k, output}) {
    if (!rows.empty()) numbers += static_cast<double>(element_count(rows));
  }
  if (!k.empty() && !output.empty()) {  // one value per key
    numbers += static_cast<double>(k[0] * k[1] * output[2]);
  }
  return numbers;
}

}  // namespace

RunCost run_cost(const Trace& trace) {
  RunCost cost;
  ByteCounter bytes;
  for (const AttentionTap& tap : trace.attention) {
    bytes.add(tap.result);
    bytes.add(tap.vectors.kept());
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
  for (const auto& [name, tensor] : trace.taps) bytes.add(tensor.kept());
  bytes.add(trace.logits.kept());
  cost.attention_bytes += sizeof(float) * cost.products;
  cost.bytes = bytes.sum();
  return cost;
}

}  // namespace attnscope
