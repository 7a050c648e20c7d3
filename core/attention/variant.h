// Attention variants: SPEC section 4. One file each; variants() is their ordered list.
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

struct TextShape;  // core/text/text_shape.h

Choice default_variant();   // full, dot
Choice default_encoding();  // none

// {"type": "local", "window": 4}. InputErrors begin with `path`: "variant.window: expected ...".
Choice variant_from_json(const Json& object, std::string_view path);
Choice encoding_from_json(const Json& object, std::string_view path);

// One attention operation to carry out: q, k, v are projected and split into heads; x is there in
// the `x` form only. The encoding of the input, if any, is already in x, q, k and v.
struct OperationInput {
  Index batch = 1, heads = 1, kv_heads = 1;
  Index first_head = 0, layer_heads = 0;  // see Dimensions
  Var x, y;                               // [B, L_q, d], [B, L_k, d]; may be undefined
  Var q, k, v;                            // [B h, L_q, d_k], [B h_kv, L_k, d_k], [.., d_v]
  std::vector<ExtraProduct> split;        // see Part::split
  NamedVars weights;                      // "pos.bias", "mem.k", "pattern.mask", ...
  Choice variant = default_variant();
  Choice encoding = default_encoding();
  bool causal = false;         // variants that are causal by definition do not ask
  std::optional<float> scale;  // default: the encoding's, mostly 1/sqrt(d_k)
  float score_cap = 0;         // see Part; for variants that take_score_changes()
  Var sinks;                   // [h]; likewise
  Index layer = 0;
  // Of the queries; empty: 0, 1, ... Otherwise consecutive, the last being that of the last key:
  // k and v hold the cached rows of earlier tokens too. For variants that are `incremental`.
  std::vector<std::int32_t> positions;
  // Where the first query and key stand, for encodings that are not of distances; patterns count
  // from 0 all the same.
  Index origin = 0;
};

// What a key column of the attention map stands for.
enum class KeyKind { Token, Memory, Compressed, Projected, Slot };

struct OperationResult {
  Var output;          // [B h, L_q, d_v]
  std::string note;    // why it did not run where it was asked to; empty: it did
  Tensor attention;    // [B h, L_q, L_k], where wanted
  Tensor scores;       // likewise
  Tensor log_sum_exp;  // [B h, L_q], where there is one softmax
  std::shared_ptr<const DeviceTensor> device;
  std::shared_ptr<const AttentionTiles> tiles;     // where wanted and there is one part
  ByteTensor mask;                                 // set only where the pattern does not say it
  std::shared_ptr<const Pattern> pattern;          // S_i over the columns of `attention`
  std::shared_ptr<const Part> part;                // for tiles and terms; null for several parts
  std::map<std::string, Tensor> extra;             // "exact", "implied", "sinkhorn.matching"
  std::map<std::string, IntTensor> extra_counts;   // "lsh.bucket", "hopfield.steps"
  std::vector<std::pair<KeyKind, Index>> columns;  // runs of column kinds; empty: all tokens
  NamedVars quantities;                            // what losses ask for, differentiable: "span.z"
  std::string looks_ahead;           // why rows hang on later tokens although causal; empty: no
  std::vector<std::string> remarks;  // "state: beyond the range of float32, left out"
};

// What a rule for S_i may look at.
struct PatternInput {
  const Values& values;
  const NamedVars& weights;
  Index heads = 1, queries = 0, keys = 0;
  Index first = 0;       // position of the first query; more than 0 when earlier keys are cached
  Index first_head = 0;  // of the group, within the layer
  Index layer = 0;       // for interleaved patterns
  bool causal = false;
};

// What an operation takes beside the named tensors; what it does not take need not be there.
struct Needs {
  bool queries = true, keys = true, values = true;
  bool input = false;  // x itself
};

// What the cost of a head may be counted from.
struct CostInput {
  const Values& values;
  const OperationResult& result;
  Index head = 0;                      // within the operation
  Index queries = 0, keys = 0;         // L_q, and the tokens that keys are made from
  Index key_size = 0, value_size = 0;  // d_k, d_v
  double pairs = 0;                    // that the head's pattern allows
};

// What the memory of an operation is counted from, before it begins.
struct MemoryInput {
  const Values& values;
  Index batch = 1, heads = 1;
  Index queries = 0, keys = 0;  // L_q, L_k
  Index key_size = 0;           // d_k
  bool causal = false;
  bool maps = false;  // weights of all pairs are wanted
};

// How what a head takes grows with the length L, by the variant's paper: L^power, or with the
// logarithm.
struct Growth {
  double power = 2;
  bool logarithm = false;
  // What parameters are at a length where the paper lets them follow it (a stride of √L), or has
  // them much larger than `Parameter::initial`, which is made for short texts. Empty: none.
  std::function<void(Values&, Index length)> sizes{};

  double at(double length) const;
  std::string text() const;  // "L·√L"
};

// What a row of weights is made from.
enum class WeightsFrom {
  Pairs,      // the query's token and those of the keys, compared
  Token,      // the query's own token alone
  Positions,  // where the query stands, whatever the text says
  Degrees,    // the number of neighbours
};

struct Variant : Info {
  Growth growth;
  bool causal_by_definition = false;
  std::string causal_refusal;  // why `causal` cannot be; empty: it can
  // Causal order hides its idea: global tokens gather what comes after them.
  bool shown_both_ways = false;
  // With `causal`, a row depends on the tokens up to its own and not on where the text ends, and is
  // computed from its own query and input and the keys and values so far: these can be cached.
  bool incremental = false;
  std::function<bool(const Values&)> incremental_with;  // whether with these values; empty: yes
  bool caps_and_sinks = false;                          // see takes_score_changes()
  bool cross = false;                                   // L_q != L_k and y are allowed
  bool relative_only = false;  // keys without an absolute position: no absolute encodings
  std::function<Needs(const Values&)> needs;  // empty: q, k and v
  // Encodings that turn queries and keys and do nothing else act before anything is made of them,
  // although others have no meaning.
  bool takes_turning = false;
  // Empty: yes.
  std::function<bool(const Values&)> takes_pairs;  // whether encodings of pairs have a meaning
  std::string without_pairs;  // where not, what it does: "never forms scores of pairs"
  std::function<bool(const Values&)> has_terms;   // whether score terms can be told apart
  std::function<bool(const Values&)> has_scores;  // a softmax over the columns of `attention`
  std::function<WeightsFrom(const Values&)> weights_from;  // empty: Pairs
  // What its head groups keep of a segment for those to come; empty: nothing.
  std::function<void(const SegmentRead&, Remembered&)> remember;
  // Whether that depends on the attention of the segment.
  std::function<bool(const Values&)> remembers_attention;
  // Why a causal row hangs on tokens after it all the same: "the clusters are ..."; empty where it
  // does not, or no function: never.
  std::function<std::string(const Values&, const NamedVars& weights)> looks_ahead;
  // What a head takes, in products of a query and a key; where it makes none, in multiply-adds
  // divided by those that a pair of full attention takes, d_k + d_v. Empty: a product for each pair
  // that the pattern allows.
  std::function<double(const CostInput&)> head_cost;
  // How many bytes an operation has in memory at most beside its input, its output, the weights of
  // pairs where these are wanted, and a pattern of a few runs a row: features, logits, drawn
  // matrices, runs of many keys. Without gradients. Empty: none, whatever its parameters are.
  std::function<double(const MemoryInput&)> memory;
  // How many columns its map has, where these are not the keys; at most. Empty: the keys.
  std::function<Index(const Values&, Index keys)> columns;
  // Sets parameters that follow from which tensors are there, where these decide. Empty: none do.
  std::function<void(Values&, const std::function<bool(const std::string&)>& holds)> settle;
  // Sets parameters that follow from the text that is read: its sentences, its brackets. Empty:
  // none do.
  std::function<void(Values&, const TextShape&)> read_text;
  // New values of constant weights that training moves after a step, by what the step saw, with
  // the operation's input as evaluate() had it; or first values, where the weights lack them.
  std::function<NamedVars(const OperationInput&)> adapted;
  // How many of so many tokens make a picture of it: lengths that cannot be cut into blocks or
  // rows do not. Empty: all.
  std::function<Index(Index length)> fitting;
  // S_i, for a variant that is a choice of keys and nothing else ...
  std::function<Pattern(const PatternInput&)> pattern;
  // ... otherwise the whole operation.
  std::function<OperationResult(const OperationInput&, Backend&, const Wanted&, const Stop&)>
      evaluate;
  // Where both are there: with which values it is more than a choice of keys. Empty: with all.
  std::function<bool(const Values&)> evaluates_with;
};

const std::vector<Variant>& variants();       // ordered as lists show them; "full" first
const Variant& variant(std::string_view id);  // InputError "variant.type: no such variant ..."
Needs needs(const Variant& variant, const Values& values);
bool is_incremental(const Variant& variant, const Values& values);
// Whether it is a choice of keys and nothing else.
bool is_pattern_alone(const Variant& variant, const Values& values);
// Whether its weights are one softmax over the scores of single keys, so that caps and sinks
// (Part) have a meaning: full attention and patterns.
bool takes_score_changes(const Variant& variant);

// Why this combination has no meaning (SPEC), for the window's tooltips and the command line's
// error line ("position.type: ..."); empty when it works. `dimensions`, `queries`, `keys` as far
// as known, else 0.
std::string refusal(const Choice& variant, const Choice& encoding, bool causal,
                    const Dimensions& dimensions, Index queries, Index keys);

// Runs the operation (checked by refusal() first: InputError). What the backend cannot do, or
// fails to do, runs on the CPU and the result's note says why. Differentiable when an input wants
// gradients, and then always on the CPU.
OperationResult evaluate(const OperationInput& input, Backend& backend, const Wanted& wanted,
                         const Stop& stop);

}  // namespace attnscope
