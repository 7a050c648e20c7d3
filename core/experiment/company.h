// What goes together. A variant, an encoding or a direction that a person picks by itself may not
// suit what else is set: what stands in its way is set along with it, and said.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/model/config.h"

namespace attnscope {

struct Suited {
  Experiment experiment;
  std::vector<std::string> along;  // what else was set, in words: "no positions", "both directions"
  std::string refusal;             // why nothing of that helps; empty: it works
  std::string reason{};            // of `along`: why the pick alone does not work, in words
};

// A refusal as a person reads it, without the place that it begins with and the list of what was
// expected: "Linear never forms scores of pairs, so ALiBi has nothing to change". Other errors stay
// as they are.
std::string refusal_in_words(const std::string& refusal);

// Set choices for the heads that a person has in mind; nothing: as it was.
struct ForHeads {
  std::function<void(Experiment&, std::optional<Choice>)> variant, encoding;
};
ForHeads for_all_heads();

// A variant or encoding, with parameters that show what it does on so many tokens (0: not known),
// in a model whose checkpoint says `stored`. A variant may bring other positions, another
// direction, segments or fewer tokens along; an encoding or a direction full attention.
Suited with_variant(const Experiment& now, const ForHeads& heads, const Variant& picked,
                    const ModelConfig& stored, Index tokens);
Suited with_encoding(const Experiment& now, const ForHeads& heads, const Encoding& picked,
                     const ModelConfig& stored, Index tokens);
Suited with_direction(const Experiment& now, bool causal, const ModelConfig& stored, Index tokens);
// With the parameters as they are.
Suited with_variant(const Experiment& now, const ForHeads& heads, const Choice& picked,
                    const ModelConfig& stored, Index tokens);
Suited with_encoding(const Experiment& now, const ForHeads& heads, const Choice& picked,
                     const ModelConfig& stored, Index tokens);

// Whether parameters without a default were left out; these take values that suit so many tokens
// (0: not known).
bool has_open_choices(const Experiment& experiment);
void complete_choices(Experiment& experiment, Index tokens);
// The same for what the experiment reads. InputError where the model cannot be read, has no
// tokenizer for the text, or the tensors are none.
void complete_choices(Experiment& experiment);

}  // namespace attnscope
