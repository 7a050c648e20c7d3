// Activation functions of feed-forwards, each with its gated form (spec-models.md, section 9).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/autodiff/var.h"
#include "core/part/info.h"

namespace attnscope {

// QuickGelu: x sigmoid(1.702 x), as in CLIP and gpt-oss. Linear: no activation.
enum class Activation {
  Relu,
  Gelu,
  GeluTanh,
  Silu,
  QuickGelu,
  SquaredRelu,
  Elu,
  Selu,
  Sigmoid,
  Softplus,
  Linear,
};

struct ActivationFunction : Info {
  Activation type = Activation::Relu;
  Var (*apply)(const Var& x) = nullptr;
  // Gated feed-forward, activation(x w_gate) * (x w_in): its id in config.json ("swiglu") and its
  // name ("SwiGLU"); empty if it has no common name.
  std::string gated_id, gated_label;
};

const std::vector<ActivationFunction>& activations();  // in the order of Activation
const ActivationFunction& activation(Activation type);

// "SwiGLU", "ReLU", or "SELU, gated" for a gated form without a name.
std::string activation_label(Activation type, bool gated);

// Activation that an id selects. gated: the id is that of a gated form ("glu").
struct ActivationChoice {
  Activation type = Activation::Silu;
  bool gated = false;
};
// Ids in the order of activations(), then those of gated forms.
std::vector<std::string> activation_ids();
ActivationChoice activation_choice(std::size_t index);  // of activation_ids()[index]

}  // namespace attnscope
