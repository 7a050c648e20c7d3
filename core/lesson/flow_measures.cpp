// Measures of contributions to sums: of values, of heads, and of blocks to the residual stream.
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

// Projection of `part` on `whole`, relative to `whole`. The fractions of a sum's parts add up to 1.
double projected_fraction(const Tensor& part, const Tensor& whole) {
  return product(part, whole) / product(whole, whole);
}

// Weighted sum of values over all keys.
FlowSum value_sum(const Trace& trace, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(trace, claim, &head);
  check_index(claim.query, tap.queries(), "query");
  if (tap.shapes().output.empty()) {
    throw InputError("the claim requires a head's output, but the run keeps weights only");
  }
  const FlowSum sum = flow_sum(trace, tap, head, claim.query, tap.keys());
  if (!sum.adds_values) {
    throw InputError("the claim requires a sum of values, which this head does not compute");
  }
  return sum;
}

double value_fraction(const Traces& traces, const Claim& claim) {
  const FlowSum sum = value_sum(*traces.trace, claim);
  check_index(claim.key, sum.weights.size(), "key");
  for (std::size_t n = 0; n < sum.keys.size(); ++n) {
    if (sum.keys[n].column != claim.key) continue;
    const Tensor value = sum.weighted.slice(static_cast<Index>(n), 1).reshaped({sum.output.size()});
    return projected_fraction(value, sum.output);
  }
  return 0;  // the query does not attend to the key
}

double head_fraction(const Traces& traces, const Claim& claim) {
  const AttentionTap& tap = tap_of(*traces.trace, claim);
  check_index(claim.query, tap.queries(), "query");
  const FlowHeads heads = flow_heads(*traces.trace, {}, tap, claim.query);
  if (!heads.adds.defined()) {
    throw InputError("the claim requires combined heads, which this model does not have");
  }
  check_index(claim.head, heads.adds.dim(0), "head");
  const Tensor update = heads.adds.slice(claim.head, 1).reshaped({heads.joined.size()});
  return projected_fraction(update, heads.joined);
}

double attention_update(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const AttentionTap& tap = tap_of(trace, claim);
  check_index(claim.query, tap.queries(), "query");
  const Index token = trace.token_index(tap.query_rows, tap.queries(), claim.query);
  const auto layer = flow_layer(trace, {}, {claim.layer, claim.head, part_of(trace, claim)}, token);
  if (!layer || layer->terms.empty()) {
    throw InputError("the claim requires a residual stream, which this model does not have");
  }
  const Tensor &added = layer->terms.front().values, &input = layer->input.values;
  return std::sqrt(product(added, added) / product(input, input));
}

}  // namespace

std::vector<Measure> flow_measures() {
  return {
      {"value_share",
       "share of the head's output for the query that comes from the key's value; the shares of "
       "all keys add up to 1",
       true, true, false, value_fraction, MeasureUnit::Share},
      {"head_share",
       "share of the attention block's update of the query's token that comes from the head", true,
       false, false, head_fraction, MeasureUnit::Share},
      {"attention_update",
       "norm of the attention block's update of the query's token, relative to its vector before "
       "the layer",
       true, false, false, attention_update},
  };
}

}  // namespace attnscope
