// Part: one normalised weighting of keys. An attention operation is a sum of parts.
//
// Nearly every variant is defined by four choices: scores, allowed keys, normaliser, and keys and
// values. A Part stores these choices as ingredients; the CPU kernel and the compute shader support
// all ingredients and know no variant or encoding by name. Ingredients are Vars, so that gradients
// exist per ingredient (on the CPU); without gradients the Vars are plain tensors.
//
// Shapes: B = batch, h = heads, h_kv = key-value heads. h is a multiple of h_kv; query head a uses
// key-value head a / (h / h_kv). Arrays with a batch have a first axis B h or B h_kv, batch-major.
// On the CPU, k and v may have more than L_k rows per head: the first L_k count, the others are
// room for later tokens.
// An allowed pair of query i and key column c, with offset o = pos_q[i] - pos_k[c], has the score
//
//   product  = q_i . k_c                                    (its ReLU if `relu`)
//   s_ic     = scale * (product + extra products + query rows + key rows + scaled biases) * factor
//            + bias
//
// If score_cap > 0, s_ic is then replaced by score_cap * tanh(s_ic / score_cap).
//
// If q or k is undefined, there is no product; q still multiplies query_rows, and k key_rows. The
// sources Additive and Logits replace the whole formula except the bias.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/autodiff/var.h"
#include "core/part/pattern.h"

namespace attnscope {

// Names of score terms, as `--terms` reports them (spec.md, section 3).
enum class Term { Content, ContentPosition, PositionContent, PositionPosition, Bias, Factor };
std::string_view to_string(Term term);  // "content_position"

// Maps an offset o to a column of a table: column[clamp(o, min, min + size - 1) - min]. Computed
// once per operation, in double precision where the rule requires it (T5 buckets).
struct OffsetIndex {
  Index min = 0;
  std::vector<std::int32_t> column;  // [number of distinct offsets]
  std::int32_t operator()(Index offset) const {
    const Index last = static_cast<Index>(column.size()) - 1;
    const Index entry = offset < min ? 0 : (offset - min > last ? last : offset - min);
    return column[static_cast<std::size_t>(entry)];
  }
};
using OffsetIndexPtr = std::shared_ptr<const OffsetIndex>;

struct OffsetTable {  // a number per head and index(o)
  Var table;          // [h or 1, n]
  OffsetIndexPtr index;
  Term term = Term::Bias;
};
struct RelativeRows {  // a vector per index(o)
  Var rows;            // [h or 1, n, d_k] (d_v for value_rows)
  OffsetIndexPtr index;
  Term term = Term::ContentPosition;
};
struct ExtraProduct {  // q'_i . k'_c
  Var q, k;            // [B h or h, L_q, e], [B h or h, L_k, e]
  Term term = Term::PositionPosition;
};

enum class Source {
  Product,   // q . k and the position ingredients
  Additive,  // additive_v . tanh(q_i additive_q + k_c additive_k), no scale
  Logits,    // `logits` (synthesizer, dynamic convolution)
};
enum class Normaliser {
  Softmax,       // softmax over the allowed keys of the row
  SpanSoftmax,   // softmax; each exponential is multiplied by m_z(o)
  FeatureRatio,  // phi(q).phi(k) / sum: q and k are features; v is the only other ingredient
  None,          // the scores themselves are the weights
};

// Projected vectors of an operation's heads.
template <class T>
struct HeadTensors {
  T q{};  // [B h, L_q, d_k]
  T k{};  // [B h_kv, L_k, d_k]
  T v{};  // [B h_kv, L_k, d_v]
};

HeadTensors<Tensor> values_of(const HeadTensors<Var>& vectors);

// Changes to the scores of a softmax.
struct ScoreChanges {
  float score_cap = 0;  // see the formula above; 0: none
  // [h]: exp(sink) is added to the normaliser of every row with an allowed key. A sink has no value
  // vector, so that the weights of a row sum to 1 - exp(sink - log_sum_exp).
  Var sinks{};
};

struct OperandSettings : ScoreChanges {
  Index batch = 1;  // B
  Index heads = 1;  // h
};

// Operands of an operation that its parts use unchanged.
struct HeadOperands : HeadTensors<Var>, OperandSettings {
  // For reports on absolute encodings: products by term, including Content; their sum is q . k.
  std::vector<ExtraProduct> split;
};

// Ingredients that are not computed from the vectors of the tokens.
struct PartRules {
  // Positions.
  std::vector<std::int32_t> pos_q;  // [L_q]; empty: 0, 1, ...
  std::vector<std::int32_t> pos_k;  // [L_k] or [h * L_k]; empty: 0, 1, ...

  // Scores.
  Source source = Source::Product;
  float scale = 1;
  bool relu = false;
  std::optional<RelativeRows> query_rows;  // q_i . rows[index(o)]
  std::vector<RelativeRows> key_rows;      // k_c . rows[index(o)]
  std::vector<OffsetTable> scaled_biases;  // multiplied by `scale`
  std::optional<OffsetTable> bias;         // not multiplied by `scale`
  std::optional<OffsetTable> factor;
  OffsetIndexPtr logits_index;  // index(o): the column of `logits` that a pair reads
  // For reports only: queries with separate projections, ascending. If any, q, k and v are twice as
  // wide: these queries use the second half, other queries the first; q is 0 in the unused half.
  std::vector<std::int32_t> global_rows;

  // Allowed keys, shared by the batch.
  std::shared_ptr<const Pattern> pattern;

  // Normaliser.
  Normaliser normaliser = Normaliser::Softmax;
  Var span;                            // SpanSoftmax: z, [h] or [B h, L_q]
  double span_ramp = 0, max_span = 0;  // R, S

  // Values.
  std::optional<RelativeRows> value_rows;  // output_i += sum_c a_ic rows[index(o)]

  Index queries() const { return pattern->queries(); }
  Index keys() const { return pattern->keys(); }
  bool is_global(Index query) const;
};

// All ingredients of one weighting. With RoPE, q and k are already rotated.
struct Part : HeadOperands, PartRules {
  std::vector<ExtraProduct> products;
  Var additive_q, additive_k, additive_v;  // Additive: [h, d_k, a], [h, d_k, a], [h, a]
  Var logits;  // Logits: [B h or h, L_q, L_k], or [B h or h, L_q, n] with logits_index

  Index kv_heads() const;  // h_kv by the shape of k or v; h if both are undefined
  // Range of the components of q, k or v that row `query` uses.
  struct Span {
    Index first = 0, count = 0;
  };
  Span numbers_of(const Var& vectors, Index query) const;
};

// A part without the ingredients that are computed from the vectors of the tokens.
struct PartSettings : OperandSettings, PartRules {};
PartSettings settings_of(const Part& part);

// Throws std::logic_error for inconsistent shapes or ingredients; user input is checked earlier.
void check(const Part& part);

// All defined Vars of the part, in a fixed order.
std::vector<Var> ingredients(const Part& part);

}  // namespace attnscope
