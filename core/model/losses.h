// Losses common to all architectures: next-token loss and auxiliary losses (spec-models.md,
// section 8).
#pragma once

#include <string>
#include <vector>

#include "core/model/batch.h"

namespace attnscope {

class Pass;
class WeightList;
struct ModelConfig;

// Mean negative log-likelihood in nats over positions with a target; 0 without targets.
// logits: [n, vocabulary]; targets: n ids in any shape, -1: none.
Var language_model_loss(const Var& logits, const IntTensor& targets);

// Name of the matrix that predicts the target m positions after the next token, m = 1, 2, ...
std::string later_target_name(Index m);

// Output with these logits and, if the batch has targets, the language model loss.
Output language_model_output(const Pass& pass, const Var& logits, const Batch& batch);

// True if layers of a model add losses (span penalties), which need the tape of the layers.
bool layers_add_losses(const ModelConfig& config);

// Reason why a model cannot have its auxiliary losses ("auxiliary: ..."); empty if it can.
std::string auxiliary_refusal(const ModelConfig& config);
void add_auxiliary_weights(WeightList& list);
// states: x^1 .. x^N [n, d]; batch.targets: [B, L].
void add_auxiliary_losses(Pass& pass, const std::vector<Var>& states, const Batch& batch,
                          Output& output);

}  // namespace attnscope
