// Cancellable matrix products of a forward pass.
#pragma once

#include "core/autodiff/var.h"
#include "core/model/model.h"

namespace attnscope {

// x w + bias: [n, in] x [in, out] -> [n, out]; bias [out] or undefined. Throws Stopped within
// milliseconds of a request, since matrix products poll is_stopping().
Var linear(const Var& x, const Var& w, const Var& bias);
Var linear(const Var& x, const NarrowMatrix& w, const Var& bias);

// x w^T with w [out, in].
Var linear_transposed(const Var& x, const Var& w);

// x w + bias with the weights of these names; no bias is added without a weight of that name.
Var linear(const Model& model, const Var& x, const std::string& matrix, const std::string& bias);
// x table^T with a table [vocabulary, d] of token vectors.
Var table_logits(const Model& model, const Var& x, const std::string& table);
Var embed_tokens(const Model& model, const IntTensor& ids);  // [B, L] -> [B, L, e]
Var output_logits(const Model& model, const Var& x);         // [n, d] -> [n, vocabulary]

// Norm over the last axis with the weights name.weight and, if present, name.bias; x itself in
// models without norms.
Var apply_norm(const Model& model, const Var& x, const std::string& name);

}  // namespace attnscope
