// Measures of early exits, learned spans and retrieval: what their views show.
#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/exit_study.h"
#include "core/experiment/found_contexts.h"
#include "core/lesson/measure.h"
#include "core/view/retrieval/retrieval_numbers.h"
#include "core/view/span/span_effect.h"

namespace attnscope {
namespace {

const ExitWork& exit_work(const Traces& traces) {
  const std::shared_ptr<const ExitWork> work = traces.findings.get(Findings::exit_work);
  if (!work) {
    throw InputError("a claim is about what exits save, and the view does not measure that");
  }
  return *work;  // the traces keep it
}

// The share of the tokens whose likeliest exit by q is the oracle's.
double oracle_agreement(const Traces& traces, const Claim&) {
  const std::shared_ptr<const ExitStudy> study = traces.findings.get(Findings::exits);
  if (!study || study->oracle.empty() || !study->distribution.defined()) {
    throw InputError("a claim is about an oracle of exits, and there is none");
  }
  const Tensor& q = study->distribution;  // [L, N]
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

// z of every head of the claim's part that has a span.
std::vector<double> spans_of(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  std::vector<double> spans;
  for (const HeadRef& at : trace.heads(part_of(trace, claim))) {
    Index head = 0;
    const AttentionTap* tap = trace.find(at, &head);
    if (!tap->result.part || tap->result.part->normaliser != Normaliser::SpanSoftmax) continue;
    spans.push_back(own_span(*tap->result.part, head).mean());
  }
  if (spans.empty()) throw InputError("a claim is about spans, and no head has one");
  return spans;
}

double mean_of(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x;
  return sum / static_cast<double>(numbers.size());
}

// Of all heads that have spans: the pairs that these reach, as a share of all with no later key.
double span_pairs(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  double within = 0, all = 0;
  for (const HeadRef& at : trace.heads(part_of(trace, claim))) {
    Index head = 0;
    const AttentionTap* tap = trace.find(at, &head);
    if (!tap->result.part || tap->result.part->normaliser != Normaliser::SpanSoftmax) continue;
    const HeadSpan span = own_span(*tap->result.part, head);
    for (Index i = 0; i < tap->queries(); ++i) {
      // Keys at a distance below z + R have a mask above 0.
      const double reach = std::min(std::ceil(span.at(i) + span.ramp), span.most + 1);
      within += std::min(reach, static_cast<double>(i + 1));
      all += static_cast<double>(i + 1);
    }
  }
  if (all == 0) throw InputError("a claim is about spans, and no head has one");
  return within / all;
}

// How z of one head moves over the text: 0 where the span is the same for all tokens.
double span_range(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  if (!tap.result.part || tap.result.part->normaliser != Normaliser::SpanSoftmax) {
    throw InputError("a claim is about the span of a head, which has none");
  }
  const HeadSpan span = own_span(*tap.result.part, head);
  const auto [least, most] = std::minmax_element(span.z.begin(), span.z.end());
  return static_cast<double>(*most) - static_cast<double>(*least);
}

// Bits a token that the run's retrieval saves over the model alone.
double retrieval_gain(const Traces& traces, const Claim&) {
  const Trace& trace = *traces.trace;
  if (!retrieves(trace) || !trace.token_bits.defined()) {
    throw InputError("a claim is about retrieval, and the run has none");
  }
  const auto length = static_cast<Index>(trace.tokens.size());
  const Tensor logs = trace.taps.at("log_probabilities");
  const Tensor alone = model_log_probabilities(trace);
  double sum = 0;
  for (Index i = 1; i < length; ++i) {
    const std::int32_t id = trace.tokens[static_cast<std::size_t>(i)].id;
    sum += static_cast<double>(logs(i - 1, id)) - static_cast<double>(alone(i - 1, id));
  }
  return sum / std::log(2.0) / static_cast<double>(std::max<Index>(length - 1, 1));
}

// The share of a token's attention that goes to what it fetched.
double fetched_share(const Traces& traces, const Claim& claim) {
  const Fetched found = fetched_by(*traces.trace, claim.layer, claim.head, claim.query);
  if (found.tap == nullptr) throw InputError("a claim is about what was fetched, and nothing was");
  return found.share;
}

}  // namespace

std::vector<Measure> depth_measures() {
  return {
      {"layers_passed", "the mean number of layers that a token really passed before it left",
       false, false, false,
       [](const Traces& traces, const Claim&) { return exit_work(traces).mean_layers(); }},
      {"work_saved", "the share of the multiply-adds that exits really save", false, false, false,
       [](const Traces& traces, const Claim&) {
         const ExitWork& work = exit_work(traces);
         return 1 - work.early.multiply_adds / work.all.multiply_adds;
       }},
      {"exit_agreement",
       "the share of tokens whose guess where they really left is the last layer's", false, false,
       false, [](const Traces& traces, const Claim&) { return exit_work(traces).agreement(); }},
      {"exit_bits", "the bits a token that leaving early costs, beside all layers", false, false,
       false,
       [](const Traces& traces, const Claim&) {
         const ExitWork& work = exit_work(traces);
         return work.early.bits - work.all.bits;
       }},
      {"oracle_agreement", "the share of tokens whose likeliest exit by q is the oracle's", false,
       false, false, oracle_agreement},
      {"mean_span", "the mean of z over the heads that have a span", false, false, false,
       [](const Traces& traces, const Claim& claim) { return mean_of(spans_of(traces, claim)); }},
      {"longest_span", "the largest z of a head", false, false, false,
       [](const Traces& traces, const Claim& claim) {
         return std::ranges::max(spans_of(traces, claim));
       }},
      {"span_range",
       "the difference between the longest and the shortest z of a head over the text", false,
       false, false, span_range},
      {"span_pairs", "pairs within the spans of the heads, as a share of those without spans",
       false, false, false, span_pairs},
      {"retrieval_gain", "the bits a token that retrieval saves over the model alone", false, false,
       false, retrieval_gain},
      {"fetched_share", "the share of the query's attention that goes to what it fetched", true,
       false, false, fetched_share},
  };
}

}  // namespace attnscope
