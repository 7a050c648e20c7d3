// Measures of which keys queries may see.
#include <algorithm>
#include <cmath>

#include "core/attention/span.h"
#include "core/base/error.h"
#include "core/lesson/measure.h"
#include "core/view/pattern/reach.h"
#include "core/view/span/span_effect.h"
#include "core/view/view.h"

namespace attnscope {
namespace {

double density(const Traces& traces, const Claim& claim) {
  const Pattern& pattern = *tap_of(*traces.trace, claim).result.pattern;
  return static_cast<double>(pattern.pair_count(pattern.heads())) /
         static_cast<double>(pattern.heads() * pattern.queries() * pattern.keys());
}

double keys_of_query(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const Pattern& pattern = *tap_of(*traces.trace, claim, &head).result.pattern;
  need(claim.query, pattern.queries(), "query");
  return static_cast<double>(pattern.row_count(std::min(head, pattern.heads() - 1), claim.query));
}

// As the picture of the reach has it: through the run's layers, or through as many as the step's
// view says, from the first again. A picture's pixels attend in one layer: what they hear in two is
// asked for with the pattern's "layers".
Tensor reach_of(const Trace& trace, const Claim& claim) {
  const TracePart part = part_of(trace, claim);
  if (part.kind == AttentionKind::Cross) {
    throw InputError("a claim is about the reach of cross-attention, which ends after one layer");
  }
  const Values drawn = view_values(claim.view, "pattern");
  return reach_matrix(trace, part,
                      drawn.has("layers") ? drawn.integer("layers")
                                          : static_cast<Index>(trace.layers_passed(part).size()));
}

double layers_between(const Tensor& reach, Index query, Index key) {
  const float count = reach(query, key);
  return std::isnan(count) ? INFINITY : static_cast<double>(count);
}

double layers_to_reach(const Traces& traces, const Claim& claim) {
  const Tensor reach = reach_of(*traces.trace, claim);
  need(claim.query, reach.dim(0), "query");
  need(claim.key, reach.dim(1), "key");
  return layers_between(reach, claim.query, claim.key);
}

double layers_to_reach_all(const Traces& traces, const Claim& claim) {
  const Tensor reach = reach_of(*traces.trace, claim);
  return largest(reach.shape(), [&](Index i, Index c) { return layers_between(reach, i, c); });
}

double layers_to_reach_earlier(const Traces& traces, const Claim& claim) {
  const Tensor reach = reach_of(*traces.trace, claim);
  return largest(reach.shape(),
                 [&](Index i, Index c) { return c <= i ? layers_between(reach, i, c) : 0.0; });
}

// Of the span that the step's view draws: its own where it has one, else the head's.
double span_at(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  need(claim.query, tap.queries(), "query");
  need(claim.key, tap.keys(), "key");
  const Values drawn = view_values(claim.view, "span");
  const Part* part = tap.result.part.get();
  const bool learned = part != nullptr && part->normaliser == Normaliser::SpanSoftmax;
  if (!learned && !(drawn.has("z") && drawn.has("ramp"))) {
    throw InputError("a claim is about a span, and there is none");
  }
  const double z = drawn.has("z") ? drawn.real("z") : own_span(*part, head).at(claim.query);
  const double ramp = drawn.has("ramp") ? drawn.real("ramp") : part->span_ramp;
  const double distance = static_cast<double>(claim.query - claim.key);
  return learned && distance > part->span_most ? 0 : span_mask(z, ramp, distance);
}

}  // namespace

std::vector<Measure> pattern_measures() {
  return {
      {"density", "allowed pairs as a share of all pairs", false, false, false, density},
      {"keys_of_query", "how many keys the query may see", true, false, false, keys_of_query},
      {"layers_to_reach", "layers until the query hears from the key", true, true, false,
       layers_to_reach},
      {"layers_to_reach_all", "layers until every query hears from every key", false, false, false,
       layers_to_reach_all},
      {"layers_to_reach_earlier", "layers until every query hears from every earlier key", false,
       false, false, layers_to_reach_earlier},
      {"span_mask", "how much the span lets the query see of the key, 0 to 1", true, true, false,
       span_at},
  };
}

}  // namespace attnscope
