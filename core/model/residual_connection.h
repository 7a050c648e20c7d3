// Residual connection types (spec-models.md, section 3). Each type has a file in
// residual_connections/.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/config.h"

namespace attnscope {

class Pass;
struct LayerStack;

// Result of a residual connection; z is the gate, [n, d], or undefined.
struct ResidualOutput {
  Var x, z;
};

struct ResidualConnection : Info {
  // Reason why a model cannot have this connection ("join: ..."); empty if it can.
  std::function<std::string(const ModelConfig&)> refusal;
  // Combines block input x and block output y, [n, d]; weights by the names of the Info.
  std::function<ResidualOutput(const Var& x, const Var& y, const NamedVars& weights)> apply;
  // Replaces apply(): runs all layers.  x [n, d] -> [n, state_width()]
  std::function<Var(Pass& pass, const LayerStack& stack, const Var& x)> run_layers;
};

// Width of the state after the last layer: d, or 2 d for reversible layers whose streams are
// concatenated.
Index state_width(const ModelConfig& config);

const std::vector<ResidualConnection>& residual_connections();       // "residual" first
const ResidualConnection& residual_connection(std::string_view id);  // InputError "join.type: ..."

ResidualConnection plain_residual_connection();
ResidualConnection gated_residual_connection();
ResidualConnection reversible_residual_connection();

}  // namespace attnscope
