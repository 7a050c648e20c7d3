// Measures of early exits, learned spans and retrieval.
#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/exit_study.h"
#include "core/lesson/measure.h"
#include "core/view/retrieval/retrieval_numbers.h"
#include "core/view/span/span_effect.h"

namespace attnscope {
namespace {

const ExitWork& exit_work(const Traces& traces) {
  const std::shared_ptr<const ExitWork> work = traces.findings.get(Findings::exit_work);
  if (!work) {
    throw InputError("the claim requires early-exit statistics, which the view does not compute");
  }
  return *work;  // the traces own the finding
}

// Fraction of tokens whose most likely exit, by the distribution q, is the oracle's exit.
double oracle_agreement(const Traces& traces, const Claim&) {
  const std::shared_ptr<const ExitStudy> study = traces.findings.get(Findings::exits);
  if (!study || study->oracle.empty() || !study->distribution.defined()) {
    throw InputError("the claim requires an exit oracle, which is missing");
  }
  const Tensor& q = study->distribution;  // [L, layers]
  Index count = 0, hits = 0;
  for (Index i = 0; i < study->length(); ++i) {
    const Index oracle = study->oracle[static_cast<std::size_t>(i)];
    if (oracle < 0) continue;
    const float* row = q.data() + i * study->layers();
    ++count;
    if (std::max_element(row, row + study->layers()) - row == oracle) ++hits;
  }
  return static_cast<double>(hits) / static_cast<double>(count);
}

// Mean learned span z of each head with a span in part_of(claim).
std::vector<double> head_spans(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  std::vector<double> spans;
  for (const HeadRef& ref : trace.heads(part_of(trace, claim))) {
    Index head = 0;
    const AttentionTap* tap = trace.find(ref, &head);
    if (tap->settings() == nullptr || tap->settings()->normaliser != Normaliser::SpanSoftmax)
      continue;
    spans.push_back(head_span(*tap->settings(), head).mean());
  }
  if (spans.empty()) throw InputError("the claim requires heads with spans, found none");
  return spans;
}

double mean_of(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x;
  return sum / static_cast<double>(numbers.size());
}

// Pairs within the spans of all heads, as a fraction of all causal pairs.
double span_pairs(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  double pairs_within = 0, total = 0;
  for (const HeadRef& ref : trace.heads(part_of(trace, claim))) {
    Index head = 0;
    const AttentionTap* tap = trace.find(ref, &head);
    if (tap->settings() == nullptr || tap->settings()->normaliser != Normaliser::SpanSoftmax)
      continue;
    const HeadSpan span = head_span(*tap->settings(), head);
    for (Index i = 0; i < tap->queries(); ++i) {
      // The mask is positive at distances below span + ramp.
      const double reach = std::min(std::ceil(span.at(i) + span.ramp), span.max_span + 1);
      pairs_within += std::min(reach, static_cast<double>(i + 1));
      total += static_cast<double>(i + 1);
    }
  }
  if (total == 0) throw InputError("the claim requires heads with spans, found none");
  return pairs_within / total;
}

// Difference between the largest and the smallest span of one head over the text.
double span_range(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  if (tap.settings() == nullptr || tap.settings()->normaliser != Normaliser::SpanSoftmax) {
    throw InputError("the claim requires a head with a span");
  }
  const HeadSpan span = head_span(*tap.settings(), head);
  const auto [min, max] = std::minmax_element(span.z.begin(), span.z.end());
  return static_cast<double>(*max) - static_cast<double>(*min);
}

// Bits per token that retrieval saves compared with the model alone.
double retrieval_gain(const Traces& traces, const Claim&) {
  const Trace& trace = *traces.trace;
  if (!retrieves(trace) || !trace.token_bits.defined()) {
    throw InputError("the claim requires a run with retrieval");
  }
  const auto length = static_cast<Index>(trace.tokens.size());
  const Tensor logs = trace.taps.at("log_probabilities");
  const Tensor model_logs = model_log_probabilities(trace);
  double sum = 0;
  for (Index i = 1; i < length; ++i) {
    const std::int32_t id = trace.tokens[static_cast<std::size_t>(i)].id;
    sum += static_cast<double>(logs(i - 1, id)) - static_cast<double>(model_logs(i - 1, id));
  }
  return sum / std::log(2.0) / static_cast<double>(std::max<Index>(length - 1, 1));
}

// Fraction of the query's attention on retrieved tokens.
double retrieved_fraction(const Traces& traces, const Claim& claim) {
  const RetrievedKeys found = retrieved_keys(*traces.trace, claim.layer, claim.head, claim.query);
  if (found.tap == nullptr) throw InputError("the claim requires retrieved tokens, found none");
  return found.memory_fraction;
}

}  // namespace

std::vector<Measure> depth_measures() {
  return {
      {"layers_passed", "mean number of layers that a token passed before its exit", false, false,
       false, [](const Traces& traces, const Claim&) { return exit_work(traces).mean_layers(); }},
      {"work_saved", "share of the multiply-adds that early exits save", false, false, false,
       [](const Traces& traces, const Claim&) {
         const ExitWork& work = exit_work(traces);
         return 1 - work.early.multiply_adds / work.all.multiply_adds;
       },
       MeasureUnit::Share},
      {"exit_agreement", "share of tokens whose prediction at their exit is the last layer's",
       false, false, false,
       [](const Traces& traces, const Claim&) { return exit_work(traces).agreement(); },
       MeasureUnit::Share},
      {"exit_bits", "bits per token that early exits cost compared with all layers", false, false,
       false,
       [](const Traces& traces, const Claim&) {
         const ExitWork& work = exit_work(traces);
         return work.early.bits - work.all.bits;
       }},
      {"oracle_agreement", "share of tokens whose most likely exit by q is the oracle's", false,
       false, false, oracle_agreement, MeasureUnit::Share},
      {"mean_span", "mean of z over the heads with a span", false, false, false,
       [](const Traces& traces, const Claim& claim) { return mean_of(head_spans(traces, claim)); }},
      {"longest_span", "largest z of a head", false, false, false,
       [](const Traces& traces, const Claim& claim) {
         return std::ranges::max(head_spans(traces, claim));
       }},
      {"span_range", "difference between the largest and smallest z of a head over the text", false,
       false, false, span_range},
      {"span_pairs", "pairs within the spans of the heads, as a share of all causal pairs", false,
       false, false, span_pairs, MeasureUnit::Share},
      {"retrieval_gain", "bits per token that retrieval saves compared with the model alone", false,
       false, false, retrieval_gain},
      {"fetched_share", "share of the query's attention on retrieved tokens", true, false, false,
       retrieved_fraction, MeasureUnit::Share},
  };
}

}  // namespace attnscope
