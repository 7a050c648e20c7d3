// Measures of what is remembered, how often layers act, and gates.
#include <algorithm>
#include <cmath>

#include "core/analysis/gates.h"
#include "core/analysis/halting.h"
#include "core/analysis/memory_use.h"
#include "core/base/error.h"
#include "core/lesson/measure.h"

namespace attnscope {
namespace {

// Of the claim's head, the mean over queries of the weight on columns of this kind.
double share_on(const Traces& traces, const Claim& claim, KeyKind kind) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  return share_of({&tap, head}, kind);
}

double heard_back(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const AttentionTap& tap = tap_of(trace, claim);
  if (!reads_in_segments(trace)) throw InputError("a claim is about segments, and there are none");
  const Index last = trace.token_index(tap.query_rows, tap.queries(), tap.queries() - 1);
  const std::vector<Index> oldest = oldest_heard(trace, tap.address.segment);
  return static_cast<double>(last - oldest.at(static_cast<std::size_t>(tap.address.layer)));
}

// Products of queries and keys, as a share of those of attention to the whole text at once.
double segment_cost(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const AttentionTap& tap = tap_of(trace, claim);
  if (!reads_in_segments(trace)) throw InputError("a claim is about segments, and there are none");
  const auto length = static_cast<Index>(trace.tokens.size());
  return pairs_in_segments(tap.variant, trace.config->segment, length) / pairs_of_all(length);
}

HaltingRecord halting(const Traces& traces) {
  if (!halts(*traces.trace)) {
    throw InputError("a claim is about halting, and the run takes all steps for every token");
  }
  return halting_of(*traces.trace);
}

double steps_taken(const Traces& traces, const Claim& claim) {
  const HaltingRecord record = halting(traces);
  need(claim.query, record.length(), "query");
  return static_cast<double>(record.steps[static_cast<std::size_t>(claim.query)]);
}

double mean_steps(const Traces& traces, const Claim&) {
  return halting(traces).mean_steps();
}

double ponder_cost(const Traces& traces, const Claim&) {
  return halting(traces).ponder();
}

// The rows of one kind of gates that are the claim's layer's (and head's).
double gate_mean(const Traces& traces, const Claim& claim, const std::string& id) {
  const std::vector<GateSet> sets = gates_of(*traces.trace, part_of(*traces.trace, claim).stack);
  const auto set = std::ranges::find(sets, id, &GateSet::id);
  if (set == sets.end()) throw InputError("a claim is about gates that the run does not have");
  double sum = 0;
  Index count = 0;
  for (Index row = 0; row < static_cast<Index>(set->rows.size()); ++row) {
    const GateSet::Row& of = set->rows[static_cast<std::size_t>(row)];
    if (of.layer != claim.layer || (of.head >= 0 && of.head != claim.head)) continue;
    sum += set->row_mean(row);
    ++count;
  }
  if (count == 0) throw InputError("a claim is about gates of a layer or head that has none");
  return sum / static_cast<double>(count);
}

double retrieval_gate(const Traces& traces, const Claim& claim) {
  const auto gate = traces.trace->taps.find("retrieval.gate");
  if (gate == traces.trace->taps.end()) {
    throw InputError("a claim is about retrieval's gate, and there is none");
  }
  need(claim.query, gate->second.size(), "query");
  return static_cast<double>(gate->second[claim.query]);
}

std::function<double(const Traces&, const Claim&)> gate_of(const std::string& id) {
  return [id](const Traces& traces, const Claim& claim) { return gate_mean(traces, claim, id); };
}

std::function<double(const Traces&, const Claim&)> share_of_kind(KeyKind kind) {
  return [kind](const Traces& traces, const Claim& claim) { return share_on(traces, claim, kind); };
}

}  // namespace

std::vector<Measure> memory_measures() {
  return {
      {"memory_share", "mean over the queries of a head's weight on memory", false, false, false,
       share_of_kind(KeyKind::Memory)},
      {"compressed_share", "mean over the queries of a head's weight on compressed slots", false,
       false, false, share_of_kind(KeyKind::Compressed)},
      {"heard_back",
       "how many tokens back the last token of the segment hears through this layer and those "
       "below",
       false, false, false, heard_back},
      {"segment_cost",
       "products of queries and keys of one head, as a share of those of the whole text at once",
       false, false, false, segment_cost},
      {"steps_taken", "steps that the query's token takes", true, false, false, steps_taken},
      {"mean_steps", "mean number of steps of a token", false, false, false, mean_steps},
      {"ponder_cost", "mean over tokens of steps and remainder", false, false, false, ponder_cost},
      {"attention_gate", "mean of z where the layer's attention joins the state", false, false,
       false, gate_of("attention")},
      {"feed_forward_gate", "mean of z where the layer's feed-forward joins the state", false,
       false, false, gate_of("feed_forward")},
      {"memory_gate", "mean of g, the share of what the head looked up", false, false, false,
       gate_of("memory")},
      {"retrieval_gate", "g of the query: the share of the model's own state", true, false, false,
       retrieval_gate},
  };
}

}  // namespace attnscope
