// Measures of positional encodings.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/analysis/encoded.h"
#include "core/analysis/pair.h"
#include "core/base/error.h"
#include "core/lesson/measure.h"
#include "core/model/config.h"
#include "core/position/encoding.h"
#include "core/position/rope.h"

namespace attnscope {
namespace {

// The vectors that the head's encoding adds to the input, in double precision's place: a table of
// as many positions as there are tokens.  [L, d]
Tensor position_vectors(const Trace& trace, const Claim& claim) {
  const Choice choice = encoding_of(tap_of(trace, claim));
  const Encoding& chosen = encoding(choice.id);
  const bool learned = !std::ranges::all_of(chosen.weights, &WeightInfo::optional);
  if (!chosen.embed || learned) {
    throw InputError("a claim is about the vectors that an encoding adds, and " + choice.id +
                     " adds none, or learned ones");
  }
  const Index length = static_cast<Index>(trace.tokens.size());
  std::vector<std::int32_t> positions;
  for (Index i = 0; i < length; ++i) positions.push_back(static_cast<std::int32_t>(i));
  const NamedVars none;
  const EncodingContext context{
      .values = choice.values, .weights = none, .dimensions = {}, .scale = {}};
  const Var zeros{Tensor::zeros({1, length, trace.config->width})};
  return chosen.embed(zeros, positions, context).value().reshaped({length, trace.config->width});
}

double similarity(const Tensor& vectors, Index i, Index j) {
  double sum = 0;
  for (Index n = 0; n < vectors.dim(1); ++n) {
    sum += static_cast<double>(vectors(i, n)) * static_cast<double>(vectors(j, n));
  }
  return sum / static_cast<double>(vectors.dim(1));
}

// How much the similarity of two position vectors depends on where the two lie, beyond how far
// they are apart.
double similarity_spread(const Traces& traces, const Claim& claim) {
  const Tensor vectors = position_vectors(*traces.trace, claim);
  return largest({vectors.dim(0), vectors.dim(0)}, [&](Index i, Index j) {
    return std::abs(similarity(vectors, i, j) - similarity(vectors, 0, std::abs(i - j)));
  });
}

double closest_positions(const Traces& traces, const Claim& claim) {
  const Tensor vectors = position_vectors(*traces.trace, claim);
  return largest({vectors.dim(0), vectors.dim(0)},
                 [&](Index i, Index j) { return i == j ? -INFINITY : similarity(vectors, i, j); });
}

double position_similarity(const Traces& traces, const Claim& claim) {
  const Tensor vectors = position_vectors(*traces.trace, claim);
  need(claim.query, vectors.dim(0), "query");
  need(claim.key, vectors.dim(0), "key");
  return similarity(vectors, claim.query, claim.key);
}

// One of the terms of a pair's score; nothing where the encoding has no such term.
std::optional<double> term_of(const Trace& trace, const Claim& claim, Index query, Index key,
                              Term term) {
  Index head = 0;
  const AttentionTap& tap = tap_of(trace, claim, &head);
  need(query, tap.queries(), "query");
  need(key, tap.keys(), "key");
  const auto score =
      tap.result.part ? pair_score(*tap.result.part, head, query, key) : std::nullopt;
  if (!score || !score->terms.contains(term)) return std::nullopt;
  return score->terms.at(term) + 0.0;  // no -0
}

// What the encoding adds to the score of a pair, beside the scale.
double bias(const Trace& trace, const Claim& claim, Index query, Index key) {
  const std::optional<double> value = term_of(trace, claim, query, key, Term::Bias);
  if (!value) throw InputError("a claim is about a bias, and the run has none");
  return *value;
}

double factor(const Traces& traces, const Claim& claim) {
  const std::optional<double> value =
      term_of(*traces.trace, claim, claim.query, claim.key, Term::Factor);
  if (!value) throw InputError("a claim is about a factor, and the run has none");
  return *value;
}

// Of what the terms of the query's scores amount to, regardless of sign.
double position_share(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  need(claim.query, tap.queries(), "query");
  double all = 0, of_positions = 0;
  const Pattern& pattern = *tap.result.pattern;
  for (const Run& run : pattern.row(pattern.heads() > 1 ? head : 0, claim.query)) {
    for (Index key = run.begin; key < run.end; key += run.step) {
      const auto score =
          tap.result.part ? pair_score(*tap.result.part, head, claim.query, key) : std::nullopt;
      if (!score || !score->terms.contains(Term::PositionPosition)) {
        throw InputError("a claim is about terms of positions, and the run has none");
      }
      for (const auto& [term, value] : score->terms) {
        all += std::abs(value);
        if (term != Term::Content) of_positions += std::abs(value);
      }
    }
  }
  return of_positions / all;
}

double bias_bend(const Traces& traces, const Claim& claim) {
  const Index last = tap_of(*traces.trace, claim).queries() - 1;
  const auto at = [&](Index distance) { return bias(*traces.trace, claim, last, last - distance); };
  double bend = 0;
  for (Index distance = 1; distance < last; ++distance) {
    bend = std::max(bend, std::abs(at(distance - 1) - 2 * at(distance) + at(distance + 1)));
  }
  return bend;
}

double biases_apart(const Traces& traces, const Claim& claim) {
  std::vector<double> biases;
  Claim one = claim;
  const Index heads = traces.trace->head_count(part_of(*traces.trace, claim), claim.layer);
  for (one.head = 0; one.head < heads; ++one.head) {
    biases.push_back(bias(*traces.trace, one, claim.query, claim.key));
  }
  std::ranges::sort(biases);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t n = 1; n < biases.size(); ++n) {
    least = std::min(least, biases[n] - biases[n - 1]);
  }
  return least;
}

double content(const AttentionTap& tap, Index head, Index query, Index key) {
  const auto score =
      tap.result.part ? pair_score(*tap.result.part, head, query, key) : std::nullopt;
  if (!score) throw InputError("a claim is about scores, and the run has no products");
  return score->terms.at(Term::Content);
}

double content_difference(const Traces& traces, const Claim& claim) {
  Index head = 0, other_head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  const AttentionTap& other = tap_of(*traces.reference(), claim, &other_head);
  if (tap.queries() != other.queries() || tap.keys() != other.keys()) {
    throw InputError("a claim compares maps of different sizes");
  }
  return largest({tap.queries(), tap.keys()}, [&](Index i, Index c) {
    return std::abs(content(tap, head, i, c) - content(other, other_head, i, c));
  });
}

// Radians from one position to the next, of the pair `which` picks.
double turn(const Trace& trace, const Claim& claim,
            const std::function<double(const std::vector<RotaryPair>&)>& which) {
  const Choice& choice = tap_of(trace, claim).encoding;
  const Encoding& chosen = encoding(choice.id);
  if (!chosen.planes) throw InputError("a claim is about turning pairs, and none turn");
  return which(chosen.planes(choice.values, trace.config->head_size));
}

}  // namespace

std::vector<Measure> position_measures() {
  return {
      {"similarity_spread",
       "how much the similarity of two position vectors changes when both move together, at most",
       false, false, false, similarity_spread},
      {"position_similarity", "mean product of the components of two position vectors", true, true,
       false, position_similarity},
      {"closest_positions", "the similarity of the two position vectors that are most alike", false,
       false, false, closest_positions},
      {"bias", "what the encoding adds to the score of the pair", true, true, false,
       [](const Traces& t, const Claim& c) { return bias(*t.trace, c, c.query, c.key); }},
      {"factor", "what the encoding multiplies the score of the pair by", true, true, false,
       factor},
      {"position_share",
       "how much of what the query's scores are made of has to do with positions, from 0 to 1",
       true, false, false, position_share},
      {"bias_bend",
       "how far the bias by distance is from a straight line, at most, from one step "
       "to the next",
       false, false, false, bias_bend},
      {"biases_apart",
       "what the two heads of the layer whose biases of the pair are most alike "
       "differ by",
       true, true, false, biases_apart},
      {"content_difference",
       "the largest difference between the products of queries and keys of "
       "the two runs",
       false, false, true, content_difference},
      {"first_turn", "radians that RoPE turns the first pair by from one position to the next",
       false, false, false,
       [](const Traces& t, const Claim& c) {
         return turn(*t.trace, c, [](const auto& pairs) { return pairs.front().frequency; });
       }},
      {"last_turn", "radians that RoPE turns the last pair by from one position to the next", false,
       false, false,
       [](const Traces& t, const Claim& c) {
         return turn(*t.trace, c, [](const auto& pairs) { return pairs.back().frequency; });
       }},
  };
}

}  // namespace attnscope
