// Matrix products of a forward pass, which end soon after a request to stop.
#pragma once

#include "core/autodiff/var.h"
#include "core/base/stop.h"
#include "core/model/model.h"

namespace attnscope {

// x w + bias: [n, in] x [in, out] -> [n, out]; bias [out] or undefined. Without gradients a large
// product is computed in blocks of rows with a look at `stop` between them (Stopped).
Var linear(const Var& x, const Var& w, const Var& bias, const Stop& stop);
Var linear(const Var& x, const NarrowMatrix& w, const Var& bias, const Stop& stop);

// x w^T with w [out, in].
Var linear_transposed(const Var& x, const Var& w, const Stop& stop);

// With the model's weights of these names; a model may lack the bias.
Var linear(const Model& model, const Var& x, const std::string& matrix, const std::string& bias,
           const Stop& stop);
Var activated(Activation activation, const Var& x);
Var embedded(const Model& model, const IntTensor& ids);                 // [B, L] -> [B, L, e]
Var output_logits(const Model& model, const Var& x, const Stop& stop);  // [n, d] -> [n, vocabulary]

// The model's norm of the last axis by the weights name.weight and, where there is one, name.bias.
Var normed(const Model& model, const Var& x, const std::string& name);

}  // namespace attnscope
