// What the files of variants share: from an operation's input to a part, and from a part to a
// result.
#pragma once

#include "core/attention/variant.h"

namespace attnscope {

// Sizes of an operation.
Index query_count(const OperationInput& input);
Index key_count(const OperationInput& input);
Dimensions operation_dimensions(const OperationInput& input);

// Heads of the layer that the operation's heads belong to.
Index layer_heads(const OperationInput& input);

// Position of the first query.
Index first_position(const OperationInput& input);

// S_i where a variant has no rule of its own: all keys, or those up to the query.
Pattern plain_pattern(const OperationInput& input, bool causal);
// What the variant's rule says.
Pattern ruled_pattern(const OperationInput& input, const Variant& variant);

// q, k, v as they are, the default or given scale, S_i; no encoding yet.
Part plain_part(const OperationInput& input, Pattern pattern);
// Lets the encoding of pairs, if there is one, fill in its ingredients.
void apply_encoding(Part& part, const OperationInput& input, bool causal);

// The same for variants that make something else of q and k before scores: with q and k turned,
// where the encoding does that. Keys stand at 0, 1, ...
OperationInput with_turned(OperationInput input);

// w·x_i + b of each head from two weights, w: [h, d], b: [h].  [B h, L]
Var head_logits(const OperationInput& input, const char* w, const char* b);

// For the CPU in the place of a device: what was to stay there is kept in memory.
Wanted kept_in_memory(Wanted wanted);

// Carries out one part, on the CPU where gradients are wanted or the backend cannot.
OperationResult run_part(Part part, Backend& backend, const Wanted& wanted, const Stop& stop);

// For rules that look at q and k: each item of the batch has its own S_i. Evaluates `one` for each
// item and puts the results behind each other; extras, counts and patterns are the first's.
using Evaluate = decltype(Variant::evaluate);
Evaluate item_by_item(Evaluate one);

// For what a variant has at no setting: Variant::takes_pairs, has_terms, has_scores.
bool never(const Values& values);

// x: [B h_kv, ...] -> [B h, ...]: every head with keys of its own.
Var repeat_heads(const Var& x, Index heads, Index kv_heads);

}  // namespace attnscope
