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

// Matrix of a block, for its initial values.
struct BlockMatrix {
  std::string_view block;   // "attn", "cross" or "ffn"
  std::string_view letter;  // "q", "k", "v", "o" or "_gate", "_in", "_out"
  Index rows = 0;           // size of its input
};

struct ResidualConnection : Info {
  bool has_gate = false;   // `apply` returns a gate
  bool has_bypass = true;  // false: the block output replaces its input
  // Symbols of learned scalars in diagrams: added to the block input ("+ b"), factor of the block
  // output ("× α"); empty: none.
  std::string shift_symbol, scale_symbol;
  // Reason why a model cannot have this connection ("join: ..."); empty if it can.
  std::function<std::string(const ModelConfig&)> refusal;
  // Combines block input x and block output y, [n, d]; weights by the names of the Info.
  std::function<ResidualOutput(const Var& x, const Var& y, const NamedVars& weights)> apply;
  // Changes other settings of a model that is switched to this connection; empty: no changes.
  std::function<void(ModelConfig&)> adapt;
  // Scales the block output before it is recorded and combined; empty: unchanged.
  std::function<Var(const Var& y, const NamedVars& weights)> scale_output;
  // True if a block ("attn", "cross", "ffn") has the weight of this name; empty: all blocks have
  // it.
  std::function<bool(std::string_view block, std::string_view weight)> has_weight;
  // Standard deviation of a block's initial matrix; empty: that of GPT-2 (WeightList::matrix).
  std::function<double(const ModelConfig&, const BlockMatrix&)> deviation;
  // Replaces apply(): runs all layers.  x [n, d] -> [n, state_width()]
  std::function<Var(Pass& pass, const LayerStack& stack, const Var& x)> run_layers;
};

// Width of the state after the last layer: d, or 2 d for reversible layers whose streams are
// concatenated.
Index state_width(const ModelConfig& config);

const std::vector<ResidualConnection>& residual_connections();       // "residual" first
const ResidualConnection& residual_connection(std::string_view id);  // InputError "join.type: ..."

// x + y: ResidualConnection::apply of connections that only scale y.
ResidualOutput add_residual(const Var& x, const Var& y, const NamedVars& weights);

ResidualConnection plain_residual_connection();
ResidualConnection no_residual_connection();
ResidualConnection rezero_residual_connection();
ResidualConnection fixup_residual_connection();
ResidualConnection gated_residual_connection();
ResidualConnection reversible_residual_connection();

}  // namespace attnscope
