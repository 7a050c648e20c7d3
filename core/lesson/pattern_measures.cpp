// Measures of the attention pattern: the keys that each query can attend to.
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
  check_index(claim.query, pattern.queries(), "query");
  return static_cast<double>(pattern.row_size(std::min(head, pattern.heads() - 1), claim.query));
}

// Number of layers until each key reaches each query, [L, L]. Counts layers of the run or, if the
// pattern view has the parameter "layers", repetitions of one pattern.
Tensor reach_of(const Trace& trace, const Claim& claim) {
  const TracePart part = part_of(trace, claim);
  if (part.kind == AttentionKind::Cross) {
    throw InputError("the claim requires self-attention: cross-attention spans one layer only");
  }
  const Values settings = view_values(claim.view, "pattern");
  return reach_matrix(trace, part,
                      settings.has("layers")
                          ? settings.integer("layers")
                          : static_cast<Index>(trace.layer_sequence(part).size()));
}

double layers_between(const Tensor& reach, Index query, Index key) {
  const float count = reach(query, key);
  return std::isnan(count) ? INFINITY : static_cast<double>(count);
}

double layers_to_reach(const Traces& traces, const Claim& claim) {
  const Tensor reach = reach_of(*traces.trace, claim);
  check_index(claim.query, reach.dim(0), "query");
  check_index(claim.key, reach.dim(1), "key");
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

// Span mask of the pair. The view's span, if set, replaces the head's.
double pair_span_mask(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  check_index(claim.query, tap.queries(), "query");
  check_index(claim.key, tap.keys(), "key");
  const Values settings = view_values(claim.view, "span");
  const PartSettings* part = tap.settings();
  const bool is_learned = part != nullptr && part->normaliser == Normaliser::SpanSoftmax;
  if (!is_learned && !(settings.has("z") && settings.has("ramp"))) {
    throw InputError("the claim requires a span, found none");
  }
  const double z = settings.has("z") ? settings.real("z") : head_span(*part, head).at(claim.query);
  const double ramp = settings.has("ramp") ? settings.real("ramp") : part->span_ramp;
  const double distance = static_cast<double>(claim.query - claim.key);
  return is_learned && distance > part->max_span ? 0 : span_mask(z, ramp, distance);
}

}  // namespace

std::vector<Measure> pattern_measures() {
  return {
      {"density", "allowed pairs as a share of all pairs", false, false, false, density,
       MeasureUnit::Share},
      {"keys_of_query", "number of keys that the query can attend to", true, false, false,
       keys_of_query},
      {"layers_to_reach", "layers until the key reaches the query", true, true, false,
       layers_to_reach},
      {"layers_to_reach_all", "layers until every key reaches every query", false, false, false,
       layers_to_reach_all},
      {"layers_to_reach_earlier", "layers until every earlier key reaches every query", false,
       false, false, layers_to_reach_earlier},
      {"span_mask", "span mask of the query at the key, 0 to 1", true, true, false, pair_span_mask},
  };
}

}  // namespace attnscope
