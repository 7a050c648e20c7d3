// Compatible selection of a variant, encoding or direction.
//
// A selection can conflict with other settings (ALiBi needs pair scores, which Linear never forms).
// select_*() resolves a conflict by changing other settings, and reports each change to the user.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment/session.h"
#include "core/model/config.h"

namespace attnscope {

struct CompatibleChoice {
  RunView viewed;                    // with the selection and its implied changes
  std::vector<std::string> implied;  // changes made to other settings: "no positions"
  std::string refusal;               // why there is no compatible choice; empty on success
  std::string reason{};              // why the implied changes were necessary; empty if none
};

// Reason of a refusal, which its message has in parentheses at the end: "Linear never forms scores
// of pairs, so ALiBi has nothing to change". Errors about other settings are unchanged.
std::string refusal_sentence(const std::string& refusal);

// Setters of the variant and the encoding of some heads; an empty choice removes the override.
struct HeadScope {
  std::function<void(RunView&, std::optional<Choice>)> variant, encoding;
};
HeadScope for_all_heads();

// Selects a variant, encoding or direction, with illustrative parameters for a text of `tokens`
// tokens (0: unknown) and the checkpoint's config `stored`. A selected variant may change encoding,
// direction, segments and text length; a selected encoding or direction may change the variant to
// full attention.
CompatibleChoice select_variant(const RunView& current, const HeadScope& heads,
                                const Variant& selected, const ModelConfig& stored, Index tokens);
CompatibleChoice select_encoding(const RunView& current, const HeadScope& heads,
                                 const Encoding& selected, const ModelConfig& stored, Index tokens);
CompatibleChoice select_direction(const RunView& current, bool causal, const ModelConfig& stored,
                                  Index tokens);
// Selects `selected` with the parameters that it contains instead of illustrative ones.
CompatibleChoice select_variant(const RunView& current, const HeadScope& heads,
                                const Choice& selected, const ModelConfig& stored, Index tokens);
CompatibleChoice select_encoding(const RunView& current, const HeadScope& heads,
                                 const Choice& selected, const ModelConfig& stored, Index tokens);

// True if a parameter without a default has no value yet.
bool has_unset_parameters(const RunSpec& spec);
void fill_unset_parameters(RunSpec& spec, Index tokens);
// As above, for the tokens of the run's input. Throws InputError if the model cannot be read, has
// no tokenizer for the text, or the tensors are invalid.
void fill_unset_parameters(RunSpec& spec);

}  // namespace attnscope
