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

// Input of one attention operation: q, k, v are projected and split into heads; x is present in the
// `x` form only. An encoding of the input is already contained in x, q, k and v. Score changes
// require accepts_score_changes().
struct OperationInput : HeadOperands, AttentionMethod {
  Index kv_heads = 1;
  Index first_head = 0, layer_heads = 0;  // see Dimensions
  Var x, y;                               // [B, L_q, d], [B, L_k, d]; may be undefined
  NamedVars weights;                      // "pos.bias", "mem.k", "pattern.mask", ...
  std::optional<float> scale;             // default: the encoding's, mostly 1/sqrt(d_k)
  Index layer = 0;
  // Positions of the queries; empty: 0, 1, ... Otherwise consecutive, ending at the last key: k and
  // v include cached rows of earlier tokens. Requires an `incremental` variant.
  std::vector<std::int32_t> positions;
  // Position of the first query and key, for absolute encodings; patterns still count from 0.
  Index origin = 0;
};

// Kind of a key column of the attention map.
enum class KeyKind { Token, Memory, Compressed, Projected, Slot };

struct OperationResult : AttentionMaps {
  Var output;        // [B h, L_q, d_v]
  std::string note;  // why it did not run on the requested device; empty if it did
  ByteTensor mask;   // set only if the pattern does not express it
  std::shared_ptr<const Pattern> pattern;          // S_i over the columns of `attention`
  std::shared_ptr<const Part> part;                // for tiles and terms; null for several parts
  std::map<std::string, Tensor> extra;             // "exact", "implied", "sinkhorn.matching"
  std::map<std::string, IntTensor> extra_counts;   // "lsh.bucket", "hopfield.steps"
  std::vector<std::pair<KeyKind, Index>> columns;  // runs of column kinds; empty: all tokens
  NamedVars quantities;                            // differentiable, for losses: "span.z"
  std::string leaks_future;  // why rows depend on later tokens although causal; may be empty
  std::vector<std::string> remarks;  // "state: beyond the range of float32, left out"
};

// Input of a rule for S_i.
struct PatternInput {
  const Values& values;
  const NamedVars& weights;
  Index heads = 1, queries = 0, keys = 0;
  Index first = 0;       // position of the first query; > 0 if earlier keys are cached
  Index first_head = 0;  // of the group, within the layer
  Index layer = 0;       // for interleaved patterns
  bool causal = false;
};

// Tensors that an operation uses, beside the named weights. Others may be undefined.
struct Needs {
  bool queries = true, keys = true, values = true;
  bool input = false;  // x itself
};

// Input of a head's cost.
struct CostInput {
  const Values& values;
  const OperationResult& result;
  Index head = 0;                      // within the operation
  Index queries = 0, keys = 0;         // L_q, tokens that keys are computed from
  Index key_size = 0, value_size = 0;  // d_k, d_v
  double pairs = 0;                    // allowed by the head's pattern
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

// Growth of a head's cost with the length L, according to the paper: L^power, or with a logarithm.
struct Growth {
  double power = 2;
  bool logarithm = false;
  // Sets parameters that grow with the length in the paper (a stride of √L), or are much larger
  // there than `Parameter::initial`, which suits short texts. May be empty.
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
  bool by_definition = false;  // causal even if not asked for
  std::string refusal{};       // why `causal` is refused; empty: it is allowed
  // With `causal`, a row depends on the tokens up to its own and not on the length of the text, and
  // is computed from its own query and input and the keys and values so far: these can be cached.
  Predicate incremental = never;
  // Reason why a causal row depends on later tokens; empty if it does not.
  std::function<std::string(const Values&, const NamedVars& weights)> leaks_future{};
};

// Tensors that an operation uses.
struct VariantInputs {
  bool cross = false;  // L_q != L_k and y are allowed
  std::function<Needs(const Values&)> needs = [](const Values&) { return Needs{}; };
};

// Position encodings that have a meaning, beside those of the input.
struct VariantEncodings {
  bool relative_only = false;  // keys have no absolute position
  Predicate accepts_pairs = always;
  // Unless pairs are accepted: "never forms scores of pairs".
  std::string pairs_refusal{};
  // Encodings that rotate queries and keys and do nothing else are accepted even where others of
  // pairs are not.
  bool accepts_rotary = false;
};

struct VariantScores {
  Predicate has_terms = always;    // score terms can be told apart
  Predicate has_softmax = always;  // over the columns of `attention`
  bool caps_and_sinks = false;     // see accepts_score_changes()
  std::function<WeightsFrom(const Values&)> weights_from = [](const Values&) {
    return WeightsFrom::Pairs;
  };
};

struct VariantCost {
  Growth growth{};
  // Cost of a head in products of a query and a key; where it makes none, in multiply-adds divided
  // by those of a pair of full attention, d_k + d_v. Empty: a product for each pair that the
  // pattern allows.
  std::function<double(const CostInput&)> head{};
  // Upper bound of the memory of an operation, in bytes, beside its input, its output, the weights
  // of pairs where these are wanted, and a pattern of a few runs a row: features, logits, drawn
  // matrices, runs of many keys. Without gradients. Empty: 0.
  std::function<double(const MemoryInput&)> bytes{};
  // Upper bound of the columns of its map. Empty: the keys.
  std::function<Index(const Values&, Index keys)> columns{};
};

// Memory of earlier segments; empty for most variants.
struct VariantMemory {
  std::function<void(const SegmentRead&, Remembered&)> remember{};
  Predicate needs_attention = never;  // of the segment
};

// Choices made for the user. Each may be empty.
struct VariantDefaults {
  // Causal order hides the idea: global tokens gather later tokens.
  bool bidirectional = false;
  // Number of tokens, at most `length`, that make a good example: a multiple of a block or a row.
  std::function<Index(Index length)> length{};
  // Sets parameters that follow from the tensors that are present.
  std::function<void(Values&, const std::function<bool(const std::string&)>& holds)> from_weights{};
  // Sets parameters that follow from the text: its sentences, its brackets.
  std::function<void(Values&, const TextStructure&)> from_text{};
};

// Required: Info, and `pattern` or `evaluate`. The rest has defaults.
struct Variant : Info {
  // S_i, for a variant that is a choice of keys and nothing else ...
  std::function<Pattern(const PatternInput&)> pattern;
  // ... otherwise the whole operation.
  std::function<OperationResult(const OperationInput&, Backend&, const Wanted&)> evaluate;
  // If both are present: true if the values make it more than a choice of keys.
  Predicate evaluates_with = always;

  VariantCausality causality;
  VariantInputs inputs;
  VariantEncodings encodings;
  VariantScores scores;
  VariantCost cost;
  VariantMemory memory;
  VariantDefaults defaults;
  // New values of constant weights that training moves after a step, from the step's operation
  // input; or first values, if the weights lack them. May be empty.
  std::function<NamedVars(const OperationInput&)> updated_constants;
};

const std::vector<Variant>& variants();       // ordered as lists show them; "full" first
const Variant& variant(std::string_view id);  // InputError "variant.type: no such variant ..."
// True if it is a choice of keys and nothing else.
bool is_pattern_alone(const Variant& variant, const Values& values);
// True if its weights are one softmax over the scores of single keys, so that caps and sinks (Part)
// apply: full attention and patterns.
bool accepts_score_changes(const Variant& variant);

// Reason why this combination is not supported (spec.md), for tooltips and the command line
// ("position.type: ..."); empty if it is. `dimensions`, `queries`, `keys`: 0 if unknown.
std::string refusal(const Choice& variant, const Choice& encoding, bool causal,
                    const Dimensions& dimensions, Index queries, Index keys);

// Runs the operation after checking refusal() (InputError). Falls back to the CPU if the backend
// cannot run it; the result's note gives the reason. If an input requires gradients, it is
// differentiable and runs on the CPU.
OperationResult evaluate(const OperationInput& input, Backend& backend, const Wanted& wanted);

}  // namespace attnscope
