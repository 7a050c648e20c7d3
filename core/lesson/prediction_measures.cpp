// Measures of what the model foresees.
#include "core/analysis/prediction.h"
#include "core/base/error.h"
#include "core/lesson/measure.h"
#include "core/model/logit_lens.h"

namespace attnscope {
namespace {

// The key's token among all that may come after the query, the likeliest first: 1, 2, ...
double next_rank(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const Tensor& logits = predictions(trace);  // [L, vocabulary]
  if (!logits.defined()) throw InputError("a claim is about a prediction, and there is none");
  need(claim.query, logits.dim(0), "query");
  need(claim.key, static_cast<Index>(trace.tokens.size()), "key");
  const std::int32_t id = trace.tokens[static_cast<std::size_t>(claim.key)].id;
  const float own = logits(claim.query, id);
  Index rank = 1;
  for (Index other = 0; other < logits.dim(1); ++other) {
    if (logits(claim.query, other) > own) ++rank;
  }
  return static_cast<double>(rank);
}

// The share of tokens from the query on that were the likeliest where they came.
double foreseen(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const Index length = static_cast<Index>(trace.tokens.size());
  need(claim.query - 1, length - 1, "token before");
  Claim one = claim;
  Index count = 0;
  for (one.key = claim.query; one.key < length; ++one.key) {
    one.query = one.key - 1;
    if (next_rank(traces, one) == 1) ++count;
  }
  return static_cast<double>(count) / static_cast<double>(length - claim.query);
}

// What the tokens from the query on cost, in the mean.
double bits_of(const Trace& trace, const Claim& claim) {
  if (!trace.token_bits.defined()) {
    throw InputError("a claim is about what tokens cost, and nothing foretells them");
  }
  need(claim.query - 1, trace.token_bits.dim(0) - 1, "token before");
  double sum = 0;
  for (Index i = claim.query; i < trace.token_bits.dim(0); ++i) {
    sum += static_cast<double>(trace.token_bits[i]);
  }
  return sum / static_cast<double>(trace.token_bits.dim(0) - claim.query);
}

// What each layer guesses.  [layers, L]
IntTensor guesses_of(const Traces& traces) {
  const std::shared_ptr<const LogitLens> lens = traces.findings.get(Findings::lens);
  if (!lens) throw InputError("a claim is about what layers guess, and the view does not ask them");
  return lens->guess;
}

// The first layer from which on the guess at the query stays.
double settles_at(const Traces& traces, const Claim& claim) {
  const IntTensor guess = guesses_of(traces);
  need(claim.query, guess.dim(1), "query");
  Index layer = guess.dim(0) - 1;
  while (layer > 0 && guess(layer - 1, claim.query) == guess(layer, claim.query)) --layer;
  return static_cast<double>(layer);
}

// The share of positions whose guess is the last layer's from the claim's layer on.
double settled(const Traces& traces, const Claim& claim) {
  const IntTensor guess = guesses_of(traces);
  need(claim.layer, guess.dim(0), "layer");
  Index count = 0;
  for (Index i = 0; i < guess.dim(1); ++i) {
    bool same = true;
    for (Index layer = claim.layer; layer < guess.dim(0); ++layer) {
      same &= guess(layer, i) == guess(guess.dim(0) - 1, i);
    }
    count += same ? 1 : 0;
  }
  return static_cast<double>(count) / static_cast<double>(guess.dim(1));
}

}  // namespace

std::vector<Measure> prediction_measures() {
  return {
      {"next_rank",
       "the place of the key's token among what may come after the query, the likeliest being 1",
       true, true, false, next_rank},
      {"foreseen", "share of the tokens from the query on that the model thought the likeliest",
       true, false, false, foreseen},
      {"bits", "bits that a token from the query on costs: -log2 of its probability, their mean",
       true, false, false,
       [](const Traces& traces, const Claim& claim) { return bits_of(*traces.trace, claim); }},
      {"bits_change", "bits that a token from the query on costs, less those of the other run",
       true, false, true,
       [](const Traces& traces, const Claim& claim) {
         return bits_of(*traces.trace, claim) - bits_of(*traces.reference(), claim);
       }},
      {"settled", "share of tokens whose guess is the last layer's from this layer on", false,
       false, false, settled},
      {"settles_at", "the layer from which on the guess at the query stays what it is", true, false,
       false, settles_at},
  };
}

}  // namespace attnscope
