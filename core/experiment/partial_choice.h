// Choices of a variant or encoding with only some of their parameters, as on the command line.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/experiment/compatible_choice.h"
#include "core/trace/trace.h"

namespace attnscope {

// Model and tokens of a run.
struct RunTokens {
  std::shared_ptr<const Checkpoint> checkpoint;
  std::vector<TraceToken> tokens{};  // empty if only their number is known
  Index count = 0;
};
// Throws InputError if the model cannot be read or cannot read the input.
RunTokens read_tokens(const RunSpec& spec);

// Choices that the user made by name. Their values contain only the parameters that the user gave.
struct RequestedChoices {
  std::optional<Choice> variant, encoding;  // of all heads
  std::vector<GroupChoice> groups;          // replace RunSpec::groups if not empty
  bool has_direction = false;               // RunSpec::causal is the user's choice
  KeptSettings kept{};
  bool empty() const { return !variant && !encoding && groups.empty() && !has_direction; }
};

// Adds the requested choices to `current`, completed by illustrative values, with the implied
// changes of select_variant(), select_encoding() and select_direction(). Parameters that follow
// from the text, such as its number of sentences, do not get illustrative values. Choices for
// imported tensors imply no changes. Throws InputError if the input cannot be read.
CompatibleChoice select_requested(const RunView& current, const RequestedChoices& requested);
// As above, for other tokens than those of the run's input.
CompatibleChoice select_requested(const RunView& current, const RequestedChoices& requested,
                                  const RunTokens& input);

// True if a parameter without a default has no value yet.
bool has_unset_parameters(const RunSpec& spec);
void fill_unset_parameters(RunSpec& spec, Index tokens);
// As above, for the tokens of the run's input. Throws InputError if the model cannot be read, has
// no tokenizer for the text, or the tensors are invalid.
void fill_unset_parameters(RunSpec& spec);

}  // namespace attnscope
