// Measures of memory, adaptive halting and gates.
#include <algorithm>

#include "core/analysis/gates.h"
#include "core/analysis/halting.h"
#include "core/analysis/memory_use.h"
#include "core/base/error.h"
#include "core/lesson/measure.h"

namespace attnscope {
namespace {

// Mean over queries of the head's weight on keys of one kind.
double head_weight(const Traces& traces, const Claim& claim, KeyKind kind) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  return kind_weight({&tap, head}, kind);
}

double receptive_distance(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const AttentionTap& tap = tap_of(trace, claim);
  if (!reads_in_segments(trace)) throw InputError("the claim requires a segmented run");
  const Index last = trace.token_index(tap.query_rows, tap.queries(), tap.queries() - 1);
  const std::vector<Index> oldest = oldest_reachable(trace, tap.address.segment);
  return static_cast<double>(last - oldest.at(static_cast<std::size_t>(tap.address.layer)));
}

// Number of query-key products, relative to full attention over the whole text.
double segment_cost(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const AttentionTap& tap = tap_of(trace, claim);
  if (!reads_in_segments(trace)) throw InputError("the claim requires a segmented run");
  const auto length = static_cast<Index>(trace.tokens.size());
  return pairs_in_segments(tap.variant, trace.config->segment, length) / causal_pair_count(length);
}

HaltingRecord halting(const Traces& traces) {
  if (!halts(*traces.trace)) {
    throw InputError("the claim requires adaptive halting, which this run does not use");
  }
  return halting_of(*traces.trace);
}

double steps_taken(const Traces& traces, const Claim& claim) {
  const HaltingRecord record = halting(traces);
  check_index(claim.query, record.length(), "query");
  return static_cast<double>(record.steps[static_cast<std::size_t>(claim.query)]);
}

double mean_steps(const Traces& traces, const Claim&) {
  return halting(traces).mean_steps();
}

double ponder_cost(const Traces& traces, const Claim&) {
  return halting(traces).ponder();
}

// Mean of one kind of gate in the claim's layer, and in the claim's head if the gate is per head.
double gate_mean(const Traces& traces, const Claim& claim, const std::string& id) {
  const std::vector<GateSet> sets = gates_of(*traces.trace, part_of(*traces.trace, claim).stack);
  const auto set = std::ranges::find(sets, id, &GateSet::id);
  if (set == sets.end()) throw InputError("the claim requires gates that the run does not have");
  double sum = 0;
  Index count = 0;
  for (Index row = 0; row < static_cast<Index>(set->rows.size()); ++row) {
    const GateSet::Row& gates = set->rows[static_cast<std::size_t>(row)];
    if (gates.layer != claim.layer || (gates.head >= 0 && gates.head != claim.head)) continue;
    sum += set->row_mean(row);
    ++count;
  }
  if (count == 0) throw InputError("the claim requires gates that its layer or head does not have");
  return sum / static_cast<double>(count);
}

std::function<double(const Traces&, const Claim&)> gate_measure(const std::string& id) {
  return [id](const Traces& traces, const Claim& claim) { return gate_mean(traces, claim, id); };
}

std::function<double(const Traces&, const Claim&)> kind_weight_measure(KeyKind kind) {
  return
      [kind](const Traces& traces, const Claim& claim) { return head_weight(traces, claim, kind); };
}

}  // namespace

std::vector<Measure> memory_measures() {
  return {
      {"compressed_share", "mean over the queries of a head's weight on compressed slots", false,
       false, false, kind_weight_measure(KeyKind::Compressed), MeasureUnit::Share},
      {"heard_back",
       "receptive field: distance from the segment's last token to the oldest token that reaches "
       "it through this layer and those below",
       false, false, false, receptive_distance},
      {"segment_cost", "query-key products of one head, as a share of those of full attention",
       false, false, false, segment_cost, MeasureUnit::Share},
      {"steps_taken", "steps that the query's token uses", true, false, false, steps_taken},
      {"mean_steps", "mean number of steps of a token", false, false, false, mean_steps},
      {"ponder_cost", "mean over tokens of steps plus remainder", false, false, false, ponder_cost},
      {"attention_gate", "mean of z of the layer's attention gate", false, false, false,
       gate_measure("attention")},
      {"memory_gate", "mean of g, the share of retrieved memory in the head's output", false, false,
       false, gate_measure("memory"), MeasureUnit::Share},
  };
}

}  // namespace attnscope
