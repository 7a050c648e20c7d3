// Capabilities of models that commands, options and findings require, in one table.
#pragma once

#include <string>
#include <string_view>

#include "core/model/config.h"

namespace attnscope {

// True for models of trajectories with continuous actions, whose outputs are numbers instead of
// logits.
bool has_continuous_actions(const ModelConfig& config);

enum class Capability {
  Logits,     // has an output head
  NextToken,  // predicts the next token, pixel or action from those before it
  Text,       // reads text (tokens), not an image or a trajectory
  Image,      // reads an image pixel by pixel
  Exits,      // has early exits
};

// Reason why the model named `model` lacks a capability, "expected a model with an output head,
// found MODEL, which ..."; empty if it has it.
std::string capability_refusal(Capability capability, const ModelConfig& config,
                               std::string_view model);

// Throws InputError "PLACE: REASON" if the model lacks the capability.
void require(Capability capability, const ModelConfig& config, std::string_view model,
             std::string_view place);

}  // namespace attnscope
