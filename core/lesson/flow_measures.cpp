// Measures of what is added up: values by their weights, heads, and a token's vector.
#include "core/analysis/pair.h"
#include "core/base/error.h"
#include "core/lesson/measure.h"
#include "core/view/flow/flow_numbers.h"

namespace attnscope {
namespace {

double product(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (Index n = 0; n < a.size(); ++n) {
    sum += static_cast<double>(a[n]) * static_cast<double>(b[n]);
  }
  return sum;
}

// How much of `whole` lies in `part`, along it: the shares of all parts of a sum are 1 together.
double share_along(const Tensor& part, const Tensor& whole) {
  return product(part, whole) / product(whole, whole);
}

// With all keys that have a weight.
FlowSum whole_sum(const Trace& trace, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(trace, claim, &head);
  need(claim.query, tap.queries(), "query");
  if (!tap.result.output.defined()) {
    throw InputError("a claim is about what a head says, and the run keeps weights alone");
  }
  const FlowSum sum = flow_sum(trace, tap, head, claim.query, tap.keys());
  if (!sum.adds_values) {
    throw InputError("a claim is about a sum of values, and this head makes none");
  }
  return sum;
}

double sum_error(const Traces& traces, const Claim& claim) {
  const FlowSum sum = whole_sum(*traces.trace, claim);
  double most = 0, error = 0;
  for (Index n = 0; n < sum.output.size(); ++n) {
    const auto said = static_cast<double>(sum.output[n]);
    const double apart = std::abs(said - static_cast<double>(sum.sum[n]));
    if (std::isnan(apart)) return apart;
    most = std::max(most, std::abs(said));
    error = std::max(error, apart);
  }
  return most > 0 ? error / most : error;
}

double value_share(const Traces& traces, const Claim& claim) {
  const FlowSum sum = whole_sum(*traces.trace, claim);
  need(claim.key, sum.weights.size(), "key");
  for (std::size_t n = 0; n < sum.keys.size(); ++n) {
    if (sum.keys[n].column != claim.key) continue;
    const Tensor one = sum.weighted.slice(static_cast<Index>(n), 1).reshaped({sum.output.size()});
    return share_along(one, sum.output);
  }
  return 0;  // no weight
}

double head_share(const Traces& traces, const Claim& claim) {
  const AttentionTap& tap = tap_of(*traces.trace, claim);
  need(claim.query, tap.queries(), "query");
  const FlowHeads heads = flow_heads(*traces.trace, {}, tap, claim.query);
  if (!heads.adds.defined()) {
    throw InputError("a claim is about heads that are put together, and nothing joins them here");
  }
  need(claim.head, heads.adds.dim(0), "head");
  const Tensor one = heads.adds.slice(claim.head, 1).reshaped({heads.joined.size()});
  return share_along(one, heads.joined);
}

double attention_update(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const AttentionTap& tap = tap_of(trace, claim);
  need(claim.query, tap.queries(), "query");
  const Index token = trace.token_index(tap.query_rows, tap.queries(), claim.query);
  const auto layer = flow_layer(trace, {}, {claim.layer, claim.head, part_of(trace, claim)}, token);
  if (!layer || layer->terms.empty()) {
    throw InputError("a claim is about what attention adds, and there is nothing to add it to");
  }
  const Tensor &added = layer->terms.front().values, &before = layer->before.values;
  return std::sqrt(product(added, added) / product(before, before));
}

// The largest weight of the row that a softmax of the bare products q.k gives.
double unscaled_weight(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  need(claim.query, tap.queries(), "query");
  std::vector<double> products;
  const Pattern& pattern = *tap.result.pattern;
  for (const Run& run : pattern.row(pattern.heads() > 1 ? head : 0, claim.query)) {
    for (Index key = run.begin; key < run.end; key += run.step) {
      const auto score =
          tap.result.part ? pair_score(*tap.result.part, head, claim.query, key) : std::nullopt;
      if (!score) throw InputError("a claim is about products of q and k, and there are none");
      products.push_back(score->product);
    }
  }
  if (products.empty()) throw InputError("a claim is about a row that looks nowhere");
  const double most = std::ranges::max(products);
  double sum = 0;
  for (const double p : products) sum += std::exp(p - most);
  return 1 / sum;
}

}  // namespace

std::vector<Measure> flow_measures() {
  return {
      {"sum_error",
       "how far the values, each times its weight and added up, are from what the head says, as a "
       "share of its largest component",
       true, false, false, sum_error},
      {"value_share",
       "share of what the head says to the query that the key's value gives; those of all keys "
       "are 1 together",
       true, true, false, value_share},
      {"head_share",
       "share of what all heads together add to the query's token that comes from the head", true,
       false, false, head_share},
      {"attention_update",
       "how long what attention adds to the query's token is, beside its vector before the layer",
       true, false, false, attention_update},
      {"unscaled_weight",
       "the largest weight in the query's row if the products of q and k were not divided by the "
       "root of their size",
       true, false, false, unscaled_weight},
  };
}

}  // namespace attnscope
