// How what a block computes joins what enters it (SPEC-MODELS section 3). One file each in joins/;
// joins() is their ordered list.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/config.h"

namespace attnscope {

class Pass;
struct LayerStack;

// What joined two streams: z is the gate, [n, d], or undefined.
struct Joined {
  Var x, z;
};

struct Join : Info {
  // Why a model cannot have it: "join: ..."; empty: it can.
  std::function<std::string(const ModelConfig&)> refusal;
  // x, y: [n, d]; weights by the names of the Info.
  std::function<Joined(const Var& x, const Var& y, const NamedVars& weights)> apply;
  // In place of all that: runs the layers itself. x: [n, d] -> [n, d]
  std::function<Var(Pass& pass, const LayerStack& stack, const Var& x)> run_layers;
};

// The width of the state that leaves the last layer: d, or of reversible layers whose streams stay
// apart 2 d.
Index state_width(const ModelConfig& config);

const std::vector<Join>& joins();       // "residual" first
const Join& join(std::string_view id);  // InputError "join.type: ..."

Join residual_join();
Join gru_join();
Join reversible_join();

}  // namespace attnscope
