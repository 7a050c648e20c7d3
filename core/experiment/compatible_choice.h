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

// Change to a setting other than the selected one.
struct SettingChange {
  enum class Setting { Encoding, Variant, Direction, Segment, Length };
  Setting setting = Setting::Encoding;
  std::string value;        // id of the encoding or variant, "true" (causal) or "false", or tokens
  std::string description;  // "no positions"
  Index group = -1;         // index in RunSpec::groups that the change is limited to; -1: all heads
  bool operator==(const SettingChange&) const = default;
};

struct CompatibleChoice {
  RunView viewed;                        // with the selection and its implied changes
  std::vector<SettingChange> implied{};  // changes made to other settings
  std::string refusal{};                 // why there is no compatible choice; empty on success
  std::string reason{};                  // why the implied changes were necessary; may be empty
  std::string conflict{};  // refusal of the selection without implied changes; empty if none
};

// "no positions, bidirectional"
std::string describe(const std::vector<SettingChange>& changes);

// Reason of a refusal, which its message has in parentheses at the end: "Linear never forms scores
// of pairs, so ALiBi has nothing to change". Errors about other settings are unchanged.
std::string refusal_sentence(const std::string& refusal);

// Setters of the variant and the encoding of some heads; an empty choice removes the override.
struct HeadScope {
  std::function<void(RunView&, std::optional<Choice>)> variant, encoding;
};
HeadScope for_all_heads();

// Settings that only a conflict changes. A selected variant also changes the others if they would
// hide its idea: causal order, a single segment, a number of tokens that leaves incomplete blocks.
struct KeptSettings {
  bool direction = false, segments = false, length = false;
};

// Sets the parameters that `given` contains.
void replace_values(Values& values, const Values& given);

// Selects a variant, encoding or direction, with the parameters `given` and otherwise illustrative
// ones for a text of `tokens` tokens (0: unknown) and the checkpoint's config `stored`. A selected
// variant may change encoding, direction, segments and text length; a selected encoding or
// direction may change the variant to full attention.
CompatibleChoice select_variant(const RunView& current, const HeadScope& heads,
                                const Variant& selected, const ModelConfig& stored, Index tokens,
                                const Values& given = {}, KeptSettings kept = {});
CompatibleChoice select_encoding(const RunView& current, const HeadScope& heads,
                                 const Encoding& selected, const ModelConfig& stored, Index tokens,
                                 const Values& given = {});
CompatibleChoice select_direction(const RunView& current, bool causal, const ModelConfig& stored,
                                  Index tokens);
// Selects `selected` with the parameters that it contains instead of illustrative ones.
CompatibleChoice select_variant(const RunView& current, const HeadScope& heads,
                                const Choice& selected, const ModelConfig& stored, Index tokens);
CompatibleChoice select_encoding(const RunView& current, const HeadScope& heads,
                                 const Choice& selected, const ModelConfig& stored, Index tokens);

// The compatible settings nearest to `current`: with other positions or another direction, or else
// with full attention. CompatibleChoice::conflict is empty if `current` itself is compatible.
CompatibleChoice nearest_compatible(const RunView& current, const ModelConfig& stored,
                                    Index tokens);
// As above, for the model and input of the run, if `error` refuses the run because its settings do
// not combine and other settings do; else nullopt.
std::optional<CompatibleChoice> offer_after(const std::string& error, const RunView& current);

}  // namespace attnscope
