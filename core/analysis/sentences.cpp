#include "core/analysis/sentences.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope {
namespace {

// Sentence of the token in row `row` of `count`; -1: no token, or a special one that is ignored.
int sentence_of(const Trace& trace, const StreamRows& rows, Index count, Index row,
                bool skips_special) {
  const Index token_index = row < 0 || row >= count ? -1 : trace.token_index(rows, count, row);
  if (token_index < 0) return -1;
  const TraceToken& token = trace.tokens_of(rows)[static_cast<std::size_t>(token_index)];
  return skips_special && token.special ? -1 : token.sentence;
}

// States after the last layer.  [L, d]; undefined if missing or if they omit tokens
Tensor last_states(const Trace& trace) {
  Tensor states;
  for (Index layer = 0;; ++layer) {
    const auto it = trace.taps.find("layers." + std::to_string(layer) + ".residual");
    if (it == trace.taps.end()) break;
    states = it->second;
  }
  const bool is_complete = states.defined() && states.rank() == 2 &&
                           states.dim(0) == static_cast<Index>(trace.tokens.size());
  return is_complete ? states : Tensor();
}

}  // namespace

bool has_two_sentences(const Trace& trace) {
  return std::ranges::any_of(trace.tokens, [](const TraceToken& t) { return t.sentence > 0; });
}

std::optional<BlockWeights> block_weights(const Trace& trace, const HeadRef& ref,
                                          bool skips_special) {
  Index head = 0;
  const AttentionTap* tap = trace.find(ref, &head);
  if (!has_two_sentences(trace) || tap == nullptr || !tap->result.attention.defined()) return {};
  const Tensor weights = tap->attention(head);
  const Index first_token = tap->keys() - [&] {  // token columns come last
    if (tap->result.columns.empty()) return tap->keys();
    Index count = 0;
    for (const auto& [kind, n] : tap->result.columns) count += kind == KeyKind::Token ? n : 0;
    return count;
  }();
  BlockWeights blocks{};
  double rows[2] = {0, 0};
  for (Index i = 0; i < tap->queries(); ++i) {
    const int from = sentence_of(trace, tap->query_rows, tap->queries(), i, skips_special);
    if (from < 0 || from > 1) continue;
    ++rows[from];
    for (Index c = first_token; c < tap->keys(); ++c) {
      const int to = sentence_of(trace, tap->key_rows, tap->keys() - first_token, c - first_token,
                                 skips_special);
      if (to >= 0 && to <= 1) blocks.weights[from][to] += static_cast<double>(weights(i, c));
    }
  }
  if (!(rows[0] > 0) || !(rows[1] > 0)) return {};
  for (int from = 0; from < 2; ++from) {
    for (double& weight : blocks.weights[from]) weight /= rows[from];
  }
  return blocks;
}

std::vector<double> sentence_vector(const Trace& trace, SentenceVector pooling, int sentence) {
  const Tensor states = last_states(trace);
  if (!states.defined()) return {};
  std::vector<double> sum(static_cast<std::size_t>(states.dim(1)));
  double count = 0;
  for (Index row = 0; row < states.dim(0); ++row) {
    const int token_sentence = trace.tokens[static_cast<std::size_t>(row)].sentence;
    if (sentence >= 0 && token_sentence != sentence) continue;
    ++count;
    for (std::size_t c = 0; c < sum.size(); ++c) {
      sum[c] += static_cast<double>(states(row, static_cast<Index>(c)));
    }
    if (pooling == SentenceVector::First) break;
  }
  if (!(count > 0)) return {};
  for (double& x : sum) x /= count;
  return sum;
}

double cosine_similarity(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || a.size() != b.size()) return std::numeric_limits<double>::quiet_NaN();
  double product = 0, square_a = 0, square_b = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    product += a[n] * b[n];
    square_a += a[n] * a[n];
    square_b += b[n] * b[n];
  }
  return product / std::sqrt(square_a * square_b);
}

std::vector<double> state_similarities(const Trace& a, const Trace& b) {
  const Tensor first = last_states(a), second = last_states(b);
  if (!first.defined() || !second.defined() || first.shape() != second.shape()) return {};
  std::vector<double> similarities;
  for (Index row = 0; row < first.dim(0); ++row) {
    std::vector<double> x, y;
    for (Index c = 0; c < first.dim(1); ++c) {
      x.push_back(static_cast<double>(first(row, c)));
      y.push_back(static_cast<double>(second(row, c)));
    }
    similarities.push_back(cosine_similarity(x, y));
  }
  return similarities;
}

}  // namespace attnscope
