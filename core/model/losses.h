// Losses that belong to no architecture: the next token, and the auxiliary ones (SPEC-MODELS
// section 8).
#pragma once

#include <vector>

#include "core/model/batch.h"

namespace attnscope {

class Pass;
class WeightList;
struct ModelConfig;

// Mean negative log-likelihood in nats over positions with a target; 0 where none has.
// logits: [n, vocabulary], targets: n of them.
Var language_model_loss(const Var& logits, const IntTensor& targets);

// The logits of all rows as those of the pass's items, and their loss where there are targets.
Output language_model_output(const Pass& pass, const Var& logits, const Batch& batch);

// Why a model cannot have its auxiliary losses: "auxiliary: ..."; empty: it can.
std::string auxiliary_refusal(const ModelConfig& config);
void add_auxiliary_weights(WeightList& list);
// states: x^1 .. x^N [n, d]; targets [B, L].
void add_auxiliary_losses(Pass& pass, const std::vector<Var>& states, const Batch& batch,
                          Output& output);

}  // namespace attnscope
