// Option --strict, and selection of compatible choices on the command line.
#include "app/command/experiment_options.h"
#include "core/base/error.h"

namespace attnscope::command {
namespace {

// "--position none --no-causal": options that make the changes.
std::string options_text(const std::vector<SettingChange>& changes, const std::string& prefix) {
  std::string text;
  for (const SettingChange& change : changes) {
    text += text.empty() ? "" : " ";
    const std::string dashes = "--" + prefix;
    switch (change.setting) {
      case SettingChange::Setting::Encoding:
        text += change.group < 0 ? dashes + "position " + change.value
                                 : "position=" + change.value + " in --group";
        break;
      case SettingChange::Setting::Variant:
        text += change.group < 0 ? dashes + "variant " + change.value
                                 : "variant=" + change.value + " in --group";
        break;
      case SettingChange::Setting::Direction:
        text += dashes + (change.value == "true" ? "causal" : "no-causal");
        break;
      case SettingChange::Setting::Segment:
        text += dashes + "segment-length " + change.value;
        break;
      case SettingChange::Setting::Length:
        text += "--max-tokens " + change.value;
        break;
    }
  }
  return text;
}

}  // namespace

void CompatibleOptions::add_to(Command command) {
  command.flag(
      "--strict", strict_,
      "Refuse a variant or encoding that does not combine with the other settings, instead "
      "of changing positions, direction, segments or length and stating the change");
}

RequestedChoices CompatibleOptions::with_strictness(RequestedChoices requested) const {
  if (strict_) requested.kept = {.direction = true, .segments = true, .length = true};
  return requested;
}

void CompatibleOptions::apply(RunView& viewed, RequestedChoices requested,
                              std::vector<std::string>& notes, const std::string& prefix) const {
  accept(select_requested(viewed, with_strictness(std::move(requested))), viewed, notes, prefix);
  fill_unset_parameters(viewed.run);
}

void CompatibleOptions::apply(RunView& viewed, RequestedChoices requested, const RunTokens& input,
                              std::vector<std::string>& notes) const {
  accept(select_requested(viewed, with_strictness(std::move(requested)), input), viewed, notes, "");
}

void CompatibleOptions::accept(const CompatibleChoice& choice, RunView& viewed,
                               std::vector<std::string>& notes, const std::string& prefix) const {
  const std::string& refusal = strict_ ? choice.conflict : choice.refusal;
  if (!refusal.empty()) {
    const std::string offer = options_text(choice.implied, prefix);
    throw InputError(refusal + (offer.empty() ? "" : "; use " + offer));
  }
  viewed = choice.viewed;
  if (choice.implied.empty()) return;
  notes.push_back((prefix.empty() ? "also set: " : "B: also set: ") + describe(choice.implied) +
                  (choice.reason.empty() ? "" : " (" + choice.reason + ")"));
}

void with_offer(const RunView& viewed, const std::function<void()>& run) {
  try {
    run();
  } catch (const InputError& error) {
    const std::optional<CompatibleChoice> offer = offer_after(error.what(), viewed);
    if (!offer) throw;
    throw InputError(error.what() + ("; use " + options_text(offer->implied, "")));
  }
}

}  // namespace attnscope::command
