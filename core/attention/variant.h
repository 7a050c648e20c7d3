// Attention variants (spec.md, section 4). One file each; variants() is their ordered list.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/attention/backend.h"
#include "core/attention/remembered.h"
#include "core/part/choice.h"
#include "core/part/info.h"
#include "core/part/part.h"
#include "core/position/encoding.h"

namespace attnscope {

struct TextStructure;  // core/text/text_structure.h

Choice default_variant();   // full, dot
Choice default_encoding();  // none

// Parses {"type": "local", "window": 4}. InputErrors begin with `path`: "variant.window: expected".
Choice variant_from_json(const Json& object, std::string_view path);
Choice encoding_from_json(const Json& object, std::string_view path);

struct AttentionMethod {
  Choice variant = default_variant();
  Choice encoding = default_encoding();
  bool causal = false;  // some variants are causal by definition, too
};

// Input of one attention operation. q, k and v are projected and split into heads; x is defined
// only if the operation starts from x. Input encodings are already added to x, and thus contained
// in q, k and v. Score caps and sinks require accepts_score_changes().
struct OperationInput : HeadOperands, AttentionMethod {
  Index kv_heads = 1;
  Index first_head = 0, layer_heads = 0;  // see Dimensions
  Var x, y;                               // [B, L_q, d], [B, L_k, d]; may be undefined
  NamedVars weights;                      // "pos.bias", "mem.k", "pattern.mask", ...
  std::optional<float> scale;             // default: the encoding's, mostly 1/sqrt(d_k)
  Index layer = 0;
  // Positions of the queries; empty: 0, 1, ... Otherwise they are consecutive and end at the last
  // key, since k and v include cached rows of earlier tokens. Requires an `incremental` variant.
  std::vector<std::int32_t> positions;
  // Position of the first query and key for absolute encodings; patterns count from 0 regardless.
  Index origin = 0;
};

// Kind of a key column of the attention map.
enum class KeyKind { Token, Memory, Compressed, Projected, Slot };

struct OperationResult : AttentionMaps {
  Var output;        // [B h, L_q, d_v]
  std::string note;  // reason why it did not run on the requested device; empty if it did
  ByteTensor mask;   // allowed pairs; set only if `pattern` cannot express them
  std::shared_ptr<const Pattern> pattern;          // S_i over the columns of `attention`
  std::shared_ptr<const Part> part;                // for tiles and terms; null for several parts
  std::map<std::string, Tensor> extra;             // "exact", "implied", "sinkhorn.matching"
  std::map<std::string, IntTensor> extra_counts;   // "lsh.bucket", "hopfield.steps"
  std::vector<std::pair<KeyKind, Index>> columns;  // runs of column kinds; empty: all tokens
  NamedVars quantities;                            // differentiable, for losses: "span.z"
  std::string leaks_future;  // reason why causal rows depend on later tokens; empty if they do not
  std::vector<std::string> remarks;  // "state: beyond the range of float32, left out"
};

// Input of a rule for S_i.
struct PatternInput {
  const Values& values;
  const NamedVars& weights;
  Index heads = 1, queries = 0, keys = 0;
  Index first = 0;       // position of the first query; > 0 if earlier keys are cached
  Index first_head = 0;  // first head of the group within the layer
  Index layer = 0;       // for interleaved patterns
  bool causal = false;
};

// Tensors that an operation uses besides the named weights. All others may be undefined.
struct Needs {
  bool queries = true, keys = true, values = true;
  bool input = false;  // x, the input of the projections
};

// Input of a head's cost.
struct CostInput {
  const Values& values;
  const OperationResult& result;
  Index head = 0;                      // within the operation
  Index queries = 0, keys = 0;         // L_q, number of tokens from which keys are computed
  Index key_size = 0, value_size = 0;  // d_k, d_v
  double pairs = 0;                    // number of pairs that the head's pattern allows
};

// Input of an operation's memory estimate.
struct MemoryInput {
  const Values& values;
  Index batch = 1, heads = 1;
  Index queries = 0, keys = 0;  // L_q, L_k
  Index key_size = 0;           // d_k
  bool causal = false;
  bool maps = false;  // weights of all pairs are requested
};

// Growth of a head's cost with the length L in the paper: L^power, times log L if `logarithm`.
struct Growth {
  double power = 2;
  bool logarithm = false;
  // Sets the paper's values of parameters that grow with the length (a stride of √L) or are much
  // larger than `Parameter::initial`, which suits short texts. May be empty.
  std::function<void(Values&, Index length)> sizes{};

  double at(double length) const;
  std::string text() const;  // "L·√L"
};

// Source of a row of attention weights.
enum class WeightsFrom {
  Pairs,      // comparisons of the query with the keys
  Token,      // the query's token alone
  Positions,  // the query's position, regardless of the text
  Degrees,    // the number of neighbours
};

// A property that depends on the parameters.
using Predicate = std::function<bool(const Values&)>;
bool always(const Values&);
bool never(const Values&);

// Causal order.
struct VariantCausality {
  bool by_definition = false;  // causal even if not requested
  std::string refusal{};       // reason why causal order is refused; empty if it is allowed
  // True if keys and values can be cached: a causal row depends neither on later tokens nor on the
  // length of the text, and needs no query and input except its own.
  Predicate incremental = never;
  // Reason why a causal row depends on later tokens; empty if it does not.
  std::function<std::string(const Values&, const NamedVars& weights)> leaks_future{};
};

// Tensors that an operation uses.
struct VariantInputs {
  bool cross = false;  // L_q != L_k and y are allowed
  std::function<Needs(const Values&)> needs = [](const Values&) { return Needs{}; };
};

// Supported position encodings.
struct VariantEncodings {
  bool relative_only = false;        // keys have no absolute position
  Predicate accepts_pairs = always;  // supports pair encodings
  // Reason if it does not support them, as a predicate: "never forms scores of pairs".
  std::string pairs_refusal{};
  // Supports encodings that only rotate queries and keys, even without other pair encodings.
  bool accepts_rotary = false;
};

struct VariantScores {
  Predicate has_terms = always;    // scores are sums of terms, see terms.h
  Predicate has_softmax = always;  // over the columns of `attention`
  bool caps_and_sinks = false;     // see accepts_score_changes()
  std::function<WeightsFrom(const Values&)> weights_from = [](const Values&) {
    return WeightsFrom::Pairs;
  };
};

struct VariantCost {
  Growth growth{};
  // Cost of a head in products of a query and a key; if it computes none, in multiply-adds divided
  // by d_k + d_v, the multiply-adds per pair of full attention. Empty: a product per allowed pair.
  std::function<double(const CostInput&)> head{};
  // Upper bound of an operation's additional memory in bytes, without gradients: features, logits,
  // random matrices, runs of many keys. Excludes input, output, requested weights of pairs, and a
  // pattern with a few runs per row. Empty: 0.
  std::function<double(const MemoryInput&)> bytes{};
  // Upper bound of the number of columns of its map. Empty: the number of keys.
  std::function<Index(const Values&, Index keys)> columns{};
};

// Memory of earlier segments. `remember` is empty for most variants.
struct VariantMemory {
  std::function<void(const CompletedSegment&, Remembered&)> remember{};
  Predicate needs_attention = never;  // remember() reads CompletedSegment::attention
};

// Defaults of other settings. Each function may be empty.
struct VariantDefaults {
  // Bidirectional, as a causal mask hides the idea (global tokens that attend to later tokens).
  bool bidirectional = false;
  // Number of tokens of a good example, at most `length`: a multiple of a block or a row.
  std::function<Index(Index length)> length{};
  // Sets parameters that follow from the presence of tensors: has(name).
  std::function<void(Values&, const std::function<bool(const std::string&)>& has)> from_weights{};
  // Sets parameters that follow from the text: its sentences, its brackets.
  std::function<void(Values&, const TextStructure&)> from_text{};
};

// Required: Info, and `pattern` or `evaluate`. All other members have defaults.
struct Variant : Info {
  // S_i. Sufficient for a variant that is full attention over selected keys.
  std::function<Pattern(const PatternInput&)> pattern;
  // The whole operation, for all other variants.
  std::function<OperationResult(const OperationInput&, Backend&, const ResultRequest&)> evaluate;
  // If both are present: true if the parameter values require `evaluate`.
  Predicate requires_evaluate = always;

  VariantCausality causality;
  VariantInputs inputs;
  VariantEncodings encodings;
  VariantScores scores;
  VariantCost cost;
  VariantMemory memory;
  VariantDefaults defaults;
  // New values of constant weights after a training step, from the step's operation input; initial
  // values if the weights lack them. May be empty.
  std::function<NamedVars(const OperationInput&)> update_constants;
};

const std::vector<Variant>& variants();       // in display order; "full" first
const Variant& variant(std::string_view id);  // throws InputError "variant.type: ..."
// True if the variant with these values is full attention over the keys of its pattern.
bool is_pattern_only(const Variant& variant, const Values& values);
// True if score caps and sinks (Part) apply: the weights of a row are one softmax over scores of
// single keys, as in full attention and patterns.
bool accepts_score_changes(const Variant& variant);

// Reason why this combination is not supported (spec.md), for tooltips and the command line
// ("position.type: ..."); empty if it is. `dimensions`, `queries`, `keys`: 0 if unknown.
std::string refusal(const Choice& variant, const Choice& encoding, bool causal,
                    const Dimensions& dimensions, Index queries, Index keys);

// Runs the operation after checking refusal() (InputError). Falls back to the CPU if the backend
// cannot run it; the result's note gives the reason. If an input requires gradients, the operation
// is differentiable; its backward pass runs on the CPU.
OperationResult evaluate(const OperationInput& input, Backend& backend,
                         const ResultRequest& wanted);

}  // namespace attnscope
