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

// Additive position vectors [L, d] of the head's encoding.
Tensor position_vectors(const Trace& trace, const Claim& claim) {
  const Choice choice = encoding_of(tap_of(trace, claim));
  const Encoding& info = encoding(choice.id);
  const bool is_learned = std::ranges::any_of(info.weights, [&](const WeightInfo& weight) {
    return !weight.file.optional && (!weight.used || weight.used(choice.values));
  });
  if (!info.embed || is_learned) {
    throw InputError("the claim requires fixed additive position vectors, which " + choice.id +
                     " does not have");
  }
  const Index length = static_cast<Index>(trace.tokens.size());
  std::vector<std::int32_t> positions;
  for (Index i = 0; i < length; ++i) positions.push_back(static_cast<std::int32_t>(i));
  const NamedVars no_weights;
  const EncodingContext context{
      .values = choice.values, .weights = no_weights, .dimensions = {}, .scale = {}};
  const Index width = table_width(*trace.config);
  const Var zeros{Tensor::zeros({1, length, width})};
  return info.embed(zeros, positions, context).value().reshaped({length, width});
}

double similarity(const Tensor& vectors, Index i, Index j) {
  double sum = 0;
  for (Index n = 0; n < vectors.dim(1); ++n) {
    sum += static_cast<double>(vectors(i, n)) * static_cast<double>(vectors(j, n));
  }
  return sum / static_cast<double>(vectors.dim(1));
}

// Largest deviation of the similarity of positions i and j from that of positions 0 and |i - j|.
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
  check_index(claim.query, vectors.dim(0), "query");
  check_index(claim.key, vectors.dim(0), "key");
  return similarity(vectors, claim.query, claim.key);
}

// A term of a pair's score; nullopt if the encoding has no such term.
std::optional<double> term_of(const Trace& trace, const Claim& claim, Index query, Index key,
                              Term term) {
  Index head = 0;
  const AttentionTap& tap = tap_of(trace, claim, &head);
  check_index(query, tap.queries(), "query");
  check_index(key, tap.keys(), "key");
  const auto score = tap.settings() ? pair_score(*tap.part(), head, query, key) : std::nullopt;
  if (!score || !score->terms.contains(term)) return std::nullopt;
  return score->terms.at(term) + 0.0;  // converts -0 to 0
}

// Bias of the encoding, added to the scaled score of a pair.
double bias(const Trace& trace, const Claim& claim, Index query, Index key) {
  const std::optional<double> value = term_of(trace, claim, query, key, Term::Bias);
  if (!value) throw InputError("the claim requires a position bias, which the run does not have");
  return *value;
}

double factor(const Traces& traces, const Claim& claim) {
  const std::optional<double> value =
      term_of(*traces.trace, claim, claim.query, claim.key, Term::Factor);
  if (!value) throw InputError("the claim requires a distance factor, which the run does not have");
  return *value;
}

// Sum of the magnitudes of position terms in the query's scores, relative to the sum of all terms.
double position_share(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  check_index(claim.query, tap.queries(), "query");
  double total = 0, position_sum = 0;
  const Pattern& pattern = *tap.result.pattern;
  const std::shared_ptr<const Part> part = tap.part();
  for (const Run& run : pattern.row(pattern.heads() > 1 ? head : 0, claim.query)) {
    for (Index key = run.begin; key < run.end; key += run.step) {
      const auto score = part ? pair_score(*part, head, claim.query, key) : std::nullopt;
      if (!score || !score->terms.contains(Term::PositionPosition)) {
        throw InputError("the claim requires position terms, which the run does not have");
      }
      for (const auto& [term, value] : score->terms) {
        total += std::abs(value);
        if (term != Term::Content) position_sum += std::abs(value);
      }
    }
  }
  return position_sum / total;
}

double bias_bend(const Traces& traces, const Claim& claim) {
  const Index last = tap_of(*traces.trace, claim).queries() - 1;
  const auto b = [&](Index distance) { return bias(*traces.trace, claim, last, last - distance); };
  double bend = 0;
  for (Index distance = 1; distance < last; ++distance) {
    bend = std::max(bend, std::abs(b(distance - 1) - 2 * b(distance) + b(distance + 1)));
  }
  return bend;
}

double biases_apart(const Traces& traces, const Claim& claim) {
  std::vector<double> biases;
  Claim head_claim = claim;
  const Index heads = traces.trace->head_count(part_of(*traces.trace, claim), claim.layer);
  for (head_claim.head = 0; head_claim.head < heads; ++head_claim.head) {
    biases.push_back(bias(*traces.trace, head_claim, claim.query, claim.key));
  }
  std::ranges::sort(biases);
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t n = 1; n < biases.size(); ++n) {
    smallest = std::min(smallest, biases[n] - biases[n - 1]);
  }
  return smallest;
}

double content(const AttentionTap& tap, Index head, Index query, Index key) {
  const auto score = tap.settings() ? pair_score(*tap.part(), head, query, key) : std::nullopt;
  if (!score) throw InputError("the claim requires scores, which the run does not have");
  return score->terms.at(Term::Content);
}

double content_difference(const Traces& traces, const Claim& claim) {
  Index head = 0, reference_head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  const AttentionTap& reference_tap = tap_of(*traces.reference(), claim, &reference_head);
  if (tap.queries() != reference_tap.queries() || tap.keys() != reference_tap.keys()) {
    throw InputError("the claim compares maps of different sizes");
  }
  return largest({tap.queries(), tap.keys()}, [&](Index i, Index c) {
    return std::abs(content(tap, head, i, c) - content(reference_tap, reference_head, i, c));
  });
}

// Rotation that `select` computes from the rotary pairs, in radians per position.
double rotation(const Trace& trace, const Claim& claim,
                const std::function<double(const std::vector<RotaryPair>&)>& select) {
  const Choice& choice = tap_of(trace, claim).encoding;
  const Encoding& info = encoding(choice.id);
  if (!info.planes) throw InputError("the claim requires a rotary encoding");
  return select(info.planes(choice.values, trace.config->head_size));
}

}  // namespace

std::vector<Measure> position_measures() {
  return {
      {"similarity_spread",
       "largest change of the similarity of two position vectors when both positions shift equally",
       false, false, false, similarity_spread},
      {"position_similarity", "mean product of the components of two position vectors", true, true,
       false, position_similarity},
      {"closest_positions", "similarity of the two most similar position vectors", false, false,
       false, closest_positions},
      {"bias", "position bias of the pair's score", true, true, false,
       [](const Traces& t, const Claim& c) { return bias(*t.trace, c, c.query, c.key); }},
      {"factor", "distance factor of the pair's score", true, true, false, factor},
      {"position_share", "share of the position terms in the query's scores, 0 to 1", true, false,
       false, position_share, MeasureUnit::Share},
      {"bias_bend", "largest second difference of the bias by distance; 0 for a straight line",
       false, false, false, bias_bend},
      {"biases_apart", "smallest difference between the biases of two heads of the layer", true,
       true, false, biases_apart},
      {"content_difference", "largest difference between the query-key products of the two runs",
       false, false, true, content_difference},
      {"first_turn", "rotation of the first RoPE pair per position, in radians", false, false,
       false,
       [](const Traces& t, const Claim& c) {
         return rotation(*t.trace, c, [](const auto& pairs) { return pairs.front().frequency; });
       }},
      {"last_turn", "rotation of the last RoPE pair per position, in radians", false, false, false,
       [](const Traces& t, const Claim& c) {
         return rotation(*t.trace, c, [](const auto& pairs) { return pairs.back().frequency; });
       }},
  };
}

}  // namespace attnscope
