// Building blocks of variants: convert an operation's input to a part, and run parts.
#pragma once

#include "core/attention/variant.h"

namespace attnscope {

Index query_count(const OperationInput& input);
Index key_count(const OperationInput& input);
Dimensions operation_dimensions(const OperationInput& input);

Index layer_heads(const OperationInput& input);

// Position of the first query.
Index first_position(const OperationInput& input);

// Default S_i: all keys, or the keys up to the query if causal.
Pattern plain_pattern(const OperationInput& input, bool causal);
// S_i according to Variant::pattern.
Pattern ruled_pattern(const OperationInput& input, const Variant& variant);

// Part with q, k, v, the requested or default scale, and S_i, but without the encoding.
Part plain_part(const OperationInput& input, Pattern pattern);
// Adds the ingredients of the pair encoding, if any.
void apply_encoding(Part& part, const OperationInput& input, bool causal);

// True if the encoding's only effect is a rotation of queries and keys.
bool has_rotation(const OperationInput& input);
// Rotate rows x [N, L, e] by absolute positions: those of the queries, or origin, origin + 1, ...
// for keys. Products of rotated vectors depend on distances alone, features of them do not.
Var rotate_queries(const OperationInput& input, const Var& x);
Var rotate_keys(const OperationInput& input, const Var& x);
// Rotates rows x [N, L, e] by these positions; empty: 0, 1, ...
Var rotate_rows(const OperationInput& input, const Var& x,
                const std::vector<std::int32_t>& positions);
// True if the operation is one weighting that reads nothing but q, k and v, and whose keys the
// encoding at most rotates: k and v may then have room after their L_k rows (core/part/part.h).
bool accepts_room(const OperationInput& input);
// Copy of `input`, with q and k rotated if has_rotation(), for variants that transform q and k
// before scoring.
OperationInput rotate_input(OperationInput input);

// w·x_i + b for each head, from the weights with names `w` [h, d] and `b` [h].  [B h, L]
Var head_logits(const OperationInput& input, const char* w, const char* b);

// Replaces requested device results by results in host memory, for the CPU backend.
ResultRequest with_host_results(ResultRequest wanted);

// Runs one part; on the CPU if the backend cannot compute it.
OperationResult run_part(Part part, Backend& backend, const ResultRequest& wanted);

// Returns a function that calls `run` for each item of the batch and concatenates the results, for
// patterns that depend on q and k. Extras, counts and patterns come from the first item.
using Evaluate = decltype(Variant::evaluate);
Evaluate item_by_item(Evaluate run);

// Repeats keys or values x [B h_kv, ...] for all heads that share them.  [B h, ...]
Var repeat_heads(const Var& x, Index heads, Index kv_heads);

}  // namespace attnscope
