// From an experiment to what is run: the model as chosen, the text as tokens.
#pragma once

#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/experiment/experiment.h"
#include "core/trace/trace.h"

namespace attnscope {

// The head groups that the experiment asks for in place of the checkpoint's: neighbouring heads
// with equal choices make a group. InputError "groups[1].heads: expected numbers from 0 to 5,
// found 7".
std::vector<std::vector<HeadGroup>> chosen_groups(const ModelConfig& stored,
                                                  const Experiment& experiment);

// The model with the structure and the groups, for so many tokens (0: not known). InputError where
// the combination cannot work.
Model chosen_model(const Model& stored, const Experiment& experiment, Index tokens = 0);

// With what variants read from the text set in them: sentences, brackets (Variant::read_text).
// InputError where there is such a variant and the model reads in segments of so many tokens: each
// would need its own.
Experiment with_text_read(Experiment experiment, const std::vector<TraceToken>& tokens,
                          Index segment = 0);

// Why a model of these sizes, before a person's choices, cannot be what the experiment asks for;
// empty: it can.
std::string structure_refusal(const ModelConfig& stored, const Experiment& experiment);

// The experiment's ids, or its text as the tokenizer cuts it. InputError where there is nothing to
// attend to, or no tokenizer for the text.
std::vector<TraceToken> chosen_tokens(const Checkpoint& checkpoint, const Experiment& experiment);

// How a token appears in a trace; `written`: one that the model writes, where it has a tokenizer of
// its own for these.
TraceToken trace_token(std::int32_t id, const Checkpoint& checkpoint, bool written = false);

}  // namespace attnscope
