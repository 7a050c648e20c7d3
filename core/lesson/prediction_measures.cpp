// Measures of predictions.
#include "core/analysis/prediction.h"
#include "core/base/error.h"
#include "core/lesson/measure.h"
#include "core/model/logit_lens.h"

namespace attnscope {
namespace {

// Rank of the key's token in the prediction at the query; 1 is the most likely.
double next_rank(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const LazyTensor& logits = predictions(trace);  // [L, vocabulary]
  if (!logits.defined()) throw InputError("the claim requires predictions, found none");
  check_index(claim.query, logits.dim(0), "query");
  check_index(claim.key, static_cast<Index>(trace.tokens.size()), "key");
  const std::int32_t id = trace.tokens[static_cast<std::size_t>(claim.key)].id;
  const Tensor row = logits.row(claim.query);
  return static_cast<double>(
      1 + std::ranges::count_if(row, [logit = row[id]](float other) { return other > logit; }));
}

// Fraction of tokens, from the query to the end, that were the most likely prediction.
double predicted_fraction(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const Index length = static_cast<Index>(trace.tokens.size());
  check_index(claim.query - 1, length - 1, "token before");
  Claim pair_claim = claim;
  Index count = 0;
  for (pair_claim.key = claim.query; pair_claim.key < length; ++pair_claim.key) {
    pair_claim.query = pair_claim.key - 1;
    if (next_rank(traces, pair_claim) == 1) ++count;
  }
  return static_cast<double>(count) / static_cast<double>(length - claim.query);
}

// Mean bits per token, from the query to the end.
double bits_of(const Trace& trace, const Claim& claim) {
  if (!trace.token_bits.defined()) {
    throw InputError("the claim requires token probabilities, which the model does not predict");
  }
  check_index(claim.query - 1, trace.token_bits.dim(0) - 1, "token before");
  double sum = 0;
  for (Index i = claim.query; i < trace.token_bits.dim(0); ++i) {
    sum += static_cast<double>(trace.token_bits[i]);
  }
  return sum / static_cast<double>(trace.token_bits.dim(0) - claim.query);
}

// Token ids [layers, L] that the logit lens predicts.
IntTensor lens_predictions(const Traces& traces) {
  const std::shared_ptr<const LogitLens> lens = traces.findings.get(Findings::lens);
  if (!lens) throw InputError("the claim requires the logit lens, which the view does not compute");
  return lens->guess;
}

// First layer after which the prediction at the query no longer changes.
double settling_layer(const Traces& traces, const Claim& claim) {
  const IntTensor ids = lens_predictions(traces);
  check_index(claim.query, ids.dim(1), "query");
  Index layer = ids.dim(0) - 1;
  while (layer > 0 && ids(layer - 1, claim.query) == ids(layer, claim.query)) --layer;
  return static_cast<double>(layer);
}

// Fraction of positions whose prediction no longer changes after the claim's layer.
double settled_fraction(const Traces& traces, const Claim& claim) {
  const IntTensor ids = lens_predictions(traces);
  check_index(claim.layer, ids.dim(0), "layer");
  Index count = 0;
  for (Index i = 0; i < ids.dim(1); ++i) {
    bool is_settled = true;
    for (Index layer = claim.layer; layer < ids.dim(0); ++layer) {
      is_settled &= ids(layer, i) == ids(ids.dim(0) - 1, i);
    }
    count += is_settled ? 1 : 0;
  }
  return static_cast<double>(count) / static_cast<double>(ids.dim(1));
}

}  // namespace

std::vector<Measure> prediction_measures() {
  return {
      {"next_rank", "rank of the key's token in the prediction at the query; 1 is the most likely",
       true, true, false, next_rank},
      {"foreseen", "share of tokens from the query on that were the most likely prediction", true,
       false, false, predicted_fraction, MeasureUnit::Share},
      {"bits", "bits per token from the query on: mean of -log2 of the probability", true, false,
       false,
       [](const Traces& traces, const Claim& claim) { return bits_of(*traces.trace, claim); }},
      {"bits_change", "bits per token from the query on, minus those of run B", true, false, true,
       [](const Traces& traces, const Claim& claim) {
         return bits_of(*traces.trace, claim) - bits_of(*traces.reference(), claim);
       }},
      {"settled", "share of tokens with the last layer's prediction from this layer on", false,
       false, false, settled_fraction, MeasureUnit::Share},
      {"settles_at", "layer from which on the prediction at the query stays the same", true, false,
       false, settling_layer},
  };
}

}  // namespace attnscope
