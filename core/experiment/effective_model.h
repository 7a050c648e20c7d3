// Model and tokens of a run: the checkpoint with the choices of its RunSpec applied.
#pragma once

#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/experiment/run_spec.h"
#include "core/trace/trace.h"

namespace attnscope {

// Head groups of the checkpoint with the choices of `spec`; neighbouring heads with equal choices
// form a group. Throws InputError, e.g. "groups[1].heads: expected numbers from 0 to 5, found 7".
std::vector<std::vector<HeadGroup>> effective_groups(const ModelConfig& stored,
                                                     const RunSpec& spec);

// The model with the structure and head groups of `spec`, for `tokens` tokens (0: unknown).
// Throws InputError if the combination is invalid.
Model effective_model(const Model& stored, const RunSpec& spec, Index tokens = 0);

// Fills in parameters that variants derive from the text, such as sentences and brackets
// (VariantDefaults::from_text). Throws InputError if this changes parameters and the text is
// read in segments (`segment` tokens each; 0: none), because every segment would need others.
RunSpec with_text_parameters(RunSpec spec, const std::vector<TraceToken>& tokens,
                             Index segment = 0);

// Reason why a model with the sizes of the checkpoint cannot have the structure of `spec`; empty if
// it can.
std::string structure_refusal(const ModelConfig& stored, const RunSpec& spec);

// Tokens of the run: its ids or, without ids, its tokenised text. Throws InputError if the result
// is empty, or if the text is too long or the model has no tokenizer for it.
std::vector<TraceToken> tokenised_input(const Checkpoint& checkpoint, const RunSpec& spec);

// Trace entry of a token. is_generated: uses the tokenizer of generated tokens if the model has a
// separate one.
TraceToken trace_token(std::int32_t id, const Checkpoint& checkpoint, bool is_generated = false);

}  // namespace attnscope
