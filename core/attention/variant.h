// Attention variants (spec.md, section 4). Each variant has one file; variants() lists them.
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

Choice default_variant();   // full attention
Choice default_encoding();  // none

// Parses {"type": "local", "window": 4}. InputErrors begin with `path`: "variant.window: expected".
Choice variant_from_json(const Json& object, std::string_view path);
Choice encoding_from_json(const Json& object, std::string_view path);

struct AttentionMethod {
  Choice variant = default_variant();
  Choice encoding = default_encoding();
  bool causal = false;  // see also VariantCausality::by_definition
};

// Input of one attention operation. q, k and v are projected and split into heads. x is undefined
// if only q, k and v are known. Input encodings are already added to x, and so contained in q, k
// and v. Score caps and sinks require accepts_score_changes().
struct OperationInput : HeadOperands, AttentionMethod {
  Index kv_heads = 1;
  Index first_head = 0, layer_heads = 0;  // see Dimensions
  Var x, y;                               // [B, L_q, d], [B, L_k, d]; may be undefined
  NamedVars weights;                      // "pos.bias", "mem.k", "pattern.mask", ...
  std::optional<float> scale;             // empty: default of the encoding, mostly 1/sqrt(d_k)
  Index layer = 0;
  // Positions of the queries; empty: 0, 1, ... If not empty, they are consecutive, end at the last
  // key, and require an `incremental` variant; k and v then include cached rows of earlier tokens.
  std::vector<std::int32_t> positions;
  // Position of the first query and the first key for absolute encodings. Patterns count from 0.
  Index origin = 0;
};

// Kind of a key column of the attention map.
enum class KeyKind { Token, Memory, Compressed, Projected, Slot };

// Results of an operation that do not have a vector per token.
struct OperationRecord : AttentionMaps {
  std::string note;  // reason if the operation did not run on the requested device, else empty
  ByteTensor mask;   // allowed pairs; set only if `pattern` cannot express them
  std::shared_ptr<const Pattern> pattern;          // S_i over the columns of `attention`
  std::map<std::string, Tensor> extra;             // "exact", "implied", "sinkhorn.matching"
  std::map<std::string, IntTensor> extra_counts;   // "lsh.bucket", "hopfield.steps"
  std::vector<std::pair<KeyKind, Index>> columns;  // kinds, column counts; empty: all Token
  NamedVars quantities;                            // differentiable inputs of losses: "span.z"
  std::string leaks_future;  // reason why causal rows depend on later tokens; empty if they do not
  std::vector<std::string> remarks;  // "state: beyond the range of float32, left out"
};

struct OperationResult : OperationRecord {
  Var output;                        // [B h, L_q, d_v]
  std::shared_ptr<const Part> part;  // null for operations of several parts
};

// Input of a rule for S_i, the keys that query i may attend to.
struct PatternInput {
  const Values& values;
  const NamedVars& weights;
  Index heads = 1, queries = 0, keys = 0;
  Index first = 0;       // position of the first query; > 0 if earlier keys are cached
  Index first_head = 0;  // first head of the group within the layer
  Index layer = 0;       // index of the layer, for patterns that alternate between layers
  bool causal = false;
};

// Tensors that an operation uses besides the named weights. All others may be undefined.
struct Needs {
  bool queries = true, keys = true, values = true;
  bool input = false;  // x, the input of the projections
};

// Input of VariantCost::head.
struct CostInput {
  const Values& values;
  const OperationRecord& result;
  Index head = 0;                      // index within the operation
  Index queries = 0, keys = 0;         // L_q; number of key tokens before any reduction
  Index key_size = 0, value_size = 0;  // d_k, d_v
  double pairs = 0;                    // number of pairs that the head's pattern allows
};

// Input of VariantCost::bytes.
struct MemoryInput {
  const Values& values;
  Index batch = 1, heads = 1;
  Index queries = 0, keys = 0;  // L_q, L_k
  Index key_size = 0;           // d_k
  bool causal = false;
  bool maps = false;  // weights of all pairs are requested
};

// Growth of a head's cost with the length L, as in the paper: L^power, times log L if `logarithm`.
struct Growth {
  double power = 2;
  bool logarithm = false;
  // Sets the paper's values of parameters that grow with the length (a stride of √L), or for which
  // `Parameter::initial` is a much smaller value for short texts. May be empty.
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

// Property that depends on the parameter values.
using Predicate = std::function<bool(const Values&)>;
bool always(const Values&);
bool never(const Values&);

// Causal order.
struct VariantCausality {
  bool by_definition = false;  // causal even if not requested
  std::string refusal{};       // reason why causal order is refused; empty if it is allowed
  // True if keys and values can be cached: a causal row depends neither on later tokens nor on the
  // length of the text, and reads no query and no input of other rows.
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
  bool relative_only = false;        // rejects absolute encodings
  Predicate accepts_pairs = always;  // supports pair encodings
  // Reason why accepts_pairs() is false, without the subject: "never forms scores of pairs".
  std::string pairs_refusal{};
  bool uses_distances = false;  // weighs keys by distance: rejects encodings that recode positions
  // Supports encodings that only rotate queries and keys, even if accepts_pairs() is false.
  bool accepts_rotary = false;
};

struct VariantScores {
  Predicate has_terms = always;    // scores are sums of terms, see terms.h
  Predicate has_softmax = always;  // a row's weights are a softmax over the columns of `attention`
  bool caps_and_sinks = false;     // see accepts_score_changes()
  std::function<WeightsFrom(const Values&)> weights_from = [](const Values&) {
    return WeightsFrom::Pairs;
  };
};

struct VariantCost {
  Growth growth{};
  // Cost of a head. Unit: d_k + d_v multiply-adds, the cost of one pair in full attention. Empty:
  // the number of allowed pairs.
  std::function<double(const CostInput&)> head{};
  // Upper bound of an operation's additional memory in bytes, without gradients: features, logits,
  // random matrices, patterns with many runs per row. Excludes input, output, requested weights of
  // pairs, and patterns with a few runs per row. Empty: 0.
  std::function<double(const MemoryInput&)> bytes{};
  // Upper bound of the attention map's number of columns. Empty: the number of keys.
  std::function<Index(const Values&, Index keys)> columns{};
};

// Memory of earlier segments. remember() updates it after a segment; empty: no memory.
struct VariantMemory {
  std::function<void(const CompletedSegment&, Remembered&)> remember{};
  Predicate needs_attention = never;  // remember() reads CompletedSegment::attention
};

// Default settings that a variant suggests. Each function may be empty.
struct VariantDefaults {
  // True if a causal mask hides an essential property, such as global tokens that see all tokens.
  bool bidirectional = false;
  // Largest suitable number of tokens up to `length`: whole blocks, or whole rows of an image.
  std::function<Index(Index length)> length{};
  // Sets parameters that follow from the presence of weights. has(name): the weight exists.
  std::function<void(Values&, const std::function<bool(const std::string&)>& has)> from_weights{};
  // Sets parameters that follow from the sentences or brackets of the text.
  std::function<void(Values&, const TextStructure&)> from_text{};
};

// Required: Info, and `pattern` or `evaluate`. All other members have defaults.
struct Variant : Info {
  // Rule for S_i. Sufficient for a variant that is full attention over selected keys.
  std::function<Pattern(const PatternInput&)> pattern;
  // The whole operation, for all other variants.
  std::function<OperationResult(const OperationInput&, Backend&, const ResultRequest&)> evaluate;
  // Used if `pattern` and `evaluate` are set: true if the parameter values require `evaluate`.
  Predicate requires_evaluate = always;

  VariantCausality causality;
  VariantInputs inputs;
  VariantEncodings encodings;
  VariantScores scores;
  VariantCost cost;
  VariantMemory memory;
  VariantDefaults defaults;
  // Returns the constant weights after a training step with this input; for weights that the input
  // lacks, their initial values. May be empty.
  std::function<NamedVars(const OperationInput&)> update_constants;
};

const std::vector<Variant>& variants();       // in display order; "full" first
const Variant& variant(std::string_view id);  // throws InputError "variant.type: ..."
// True if the variant with these values is full attention over the keys of its pattern.
bool is_pattern_only(const Variant& variant, const Values& values);
// True if the variant supports score caps and sinks (ScoreChanges): a row's weights are one softmax
// over scores of single keys, as in full attention and pattern-only variants.
bool accepts_score_changes(const Variant& variant);

// Reason why this combination is not supported (spec.md), "position.type: ..."; empty if it is
// supported. Unknown sizes in `dimensions`, `queries` and `keys` are 0.
std::string refusal(const Choice& variant, const Choice& encoding, bool causal,
                    const Dimensions& dimensions, Index queries, Index keys);

// Runs the operation. Throws InputError if refusal() returns a reason. Falls back to the CPU if the
// backend cannot run the operation; OperationResult::note is the reason. If an input requires
// gradients, the output is differentiable; the backward pass runs on the CPU.
OperationResult evaluate(const OperationInput& input, Backend& backend,
                         const ResultRequest& wanted);

}  // namespace attnscope
