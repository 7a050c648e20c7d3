// Recurrence over depth: a stack of layers applied repeatedly with the same weights, a fixed or a
// variable number of times per token. Dehghani et al., 2018, Universal transformers,
// arXiv:1807.03819.
#pragma once

#include <string>
#include <vector>

#include "core/model/pass.h"

namespace attnscope {

class WeightList;

struct DepthRecurrence {
  std::string stack{};  // "" or "encoder."
  const std::vector<std::vector<HeadGroup>>& groups;
  bool causal = true;
  Var source{};               // input of cross-attention, [B L_source, d]; undefined: none
  double begin = 0, end = 1;  // share of the run's progress
};

// Embeds the ids and applies the layers `steps` times, or until all positions halt. With halting,
// adds the loss "ponder" (of an encoder: "encoder_ponder"), the mean of Halting::ponder().
// Returns the states before the final norm.  [B, L] -> [n, d]
Var run_steps(Pass& pass, const IntTensor& ids, const DepthRecurrence& recurrence);

// Parameters of architectures with recurrence over depth: those of halting, and "transition", which
// selects the feed-forward of a layer or separable convolutions (separable_convolution.h).
std::vector<Parameter> recurrence_parameters();
// Reason why a model cannot have its transition ("architecture.transition: .."); empty if it can.
std::string transition_refusal(const ModelConfig& config);

}  // namespace attnscope
