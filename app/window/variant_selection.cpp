#include "app/window/variant_selection.h"

#include <algorithm>
#include <functional>

#include "core/experiment/compatible_choice.h"

namespace attnscope::window {
namespace {

// Settings that a selection may change implicitly.
struct ImpliedSettings {
  std::optional<bool> causal;
  std::optional<Index> segment;
  Index max_tokens = 0;
  bool operator==(const ImpliedSettings&) const = default;
};

ImpliedSettings implied_settings(const RunView& e) {
  return {e.run.causal, e.run.structure.segment, e.run.max_tokens};
}

bool same_choices(const RunView& a, const RunView& b) {
  return a.run.variant == b.run.variant && a.run.encoding == b.run.encoding &&
         a.run.groups == b.run.groups && implied_settings(a) == implied_settings(b);
}

void copy_choices(RunView& to, const RunView& from) {
  to.run.variant = from.run.variant;
  to.run.encoding = from.run.encoding;
  to.run.groups = from.run.groups;
  to.run.causal = from.run.causal;
  to.run.structure.segment = from.run.structure.segment;
  to.run.max_tokens = from.run.max_tokens;
  to.view.part = from.view.part;
}

bool holds(const State& state) {
  return state.selection.implied && state.selection.implied->for_b == state.edits_other() &&
         same_choices(state.edited(), state.selection.implied->after);
}

// The session without the changes implied by the last selection.
RunView without_implied_changes(const State& state) {
  RunView e = state.edited();
  if (holds(state)) copy_choices(e, state.selection.implied->before);
  return e;
}

// Tokens of the whole text, even if only the first ones are read.
Index token_count(const State& state) {
  if (holds(state) && state.selection.implied->tokens > 0) return state.selection.implied->tokens;
  const Trace* trace = state.edited_trace();
  return trace != nullptr ? static_cast<Index>(trace->tokens.size()) : 0;
}

const ModelConfig* stored(const State& state) {
  const Trace* trace = state.edited_trace();
  return trace != nullptr && state.edited().run.tensors.file.empty() ? trace->trained.get()
                                                                     : nullptr;
}

HeadScope heads(const State& state) {
  const ChoiceScope scope = state.selection.scope;
  return {[scope](RunView& e, std::optional<Choice> choice) {
            choose_variant(e, scope, std::move(choice));
          },
          [scope](RunView& e, std::optional<Choice> choice) {
            choose_encoding(e, scope, std::move(choice));
          }};
}

CompatibleChoice compatible_variant(const State& state, const RunView& now, const Choice& choice,
                                    bool resets_parameters) {
  const ModelConfig& config = *stored(state);
  const Index tokens = token_count(state);
  return resets_parameters ? select_variant(now, heads(state), variant(choice.id), config, tokens)
                           : select_variant(now, heads(state), choice, config, tokens);
}

CompatibleChoice compatible_encoding(const State& state, const RunView& now, const Choice& choice,
                                     bool resets_parameters) {
  const ModelConfig& config = *stored(state);
  const Index tokens = token_count(state);
  return resets_parameters ? select_encoding(now, heads(state), encoding(choice.id), config, tokens)
                           : select_encoding(now, heads(state), choice, config, tokens);
}

// `keeps_implied`: earlier implied changes still count. `tokens`: of the whole text.
void apply_selection(State& state, const CompatibleChoice& suited, bool keeps_implied,
                     Index tokens) {
  std::string words;
  for (const std::string& word : suited.implied) words += (words.empty() ? "" : ", ") + word;
  const bool held = holds(state);
  const std::optional<Choice> choice = scoped_variant(suited.viewed, state.selection.scope);
  const bool fits = choice && variant(choice->id).defaults.length;
  if (words.empty() && !(keeps_implied && held) && !fits) {
    state.selection.implied.reset();
  } else {
    ImpliedChanges implied =
        held ? *state.selection.implied : ImpliedChanges{.before = state.edited()};
    implied.tokens = tokens;
    implied.scope = state.selection.scope;
    implied.for_b = state.edits_other();
    implied.after = suited.viewed;
    if (!keeps_implied || !held) implied.words.clear();
    if (!keeps_implied || !held || !suited.reason.empty()) implied.reason = suited.reason;
    implied.words += (implied.words.empty() || words.empty() ? "" : ", ") + words;
    state.selection.implied = std::move(implied);
  }
  copy_choices(state.edit(), suited.viewed);
}

// For tensors without a model, possibly of pixels.
Values illustrative_values_for_tensors(const State& state, const Info& info) {
  Values values = illustrative_values(info.parameters, token_count(state));
  const Trace* trace = state.edited_trace();
  if (trace != nullptr && trace->pixels) {
    set_image_sizes(values, info.parameters, trace->pixels->width, trace->pixels->height, true);
  }
  return values;
}

// Without a known model there are no implied changes.
void apply_alone(State& state, const std::optional<Choice>& choice,
                 void (*choose)(RunView&, ChoiceScope, std::optional<Choice>)) {
  RunView next = without_implied_changes(state);
  choose(next, state.selection.scope, choice);
  apply_selection(state, {std::move(next), {}, ""}, false, token_count(state));
}

}  // namespace

void select_variant(State& state, std::optional<Choice> choice, bool resets_parameters) {
  if (!choice || stored(state) == nullptr) {
    if (choice && resets_parameters)
      choice->values = illustrative_values_for_tensors(state, variant(choice->id));
    return apply_alone(state, choice, choose_variant);
  }
  const RunView now = resets_parameters ? without_implied_changes(state) : state.edited();
  apply_selection(state, compatible_variant(state, now, *choice, resets_parameters),
                  !resets_parameters, token_count(state));
  // A new variant starts with its default picture.
  auto& options = state.edit().view.options;
  if (const auto chosen = options.find("mechanism"); resets_parameters && chosen != options.end()) {
    chosen->second.erase("picture");
  }
}

void select_encoding(State& state, std::optional<Choice> choice, bool resets_parameters) {
  if (!choice || stored(state) == nullptr) return apply_alone(state, choice, choose_encoding);
  apply_selection(state, compatible_encoding(state, state.edited(), *choice, resets_parameters),
                  !resets_parameters, token_count(state));
}

void select_direction(State& state, std::optional<bool> causal) {
  if (causal && stored(state) != nullptr) {
    const Index tokens = token_count(state);
    return apply_selection(state, select_direction(state.edited(), *causal, *stored(state), tokens),
                           false, tokens);
  }
  RunView next = state.edited();
  next.run.causal = causal;
  apply_selection(state, {std::move(next), {}, ""}, false, token_count(state));
}

std::string variant_refusal(const State& state, const Choice& choice, bool resets_parameters) {
  const RunView now = resets_parameters ? without_implied_changes(state) : state.edited();
  return compatible_variant(state, now, choice, resets_parameters).refusal;
}

std::string encoding_refusal(const State& state, const Choice& choice, bool resets_parameters) {
  return compatible_encoding(state, state.edited(), choice, resets_parameters).refusal;
}

std::string direction_refusal(const State& state, bool causal) {
  return select_direction(state.edited(), causal, *stored(state), token_count(state)).refusal;
}

bool can_check_compatibility(const State& state) {
  return stored(state) != nullptr;
}

void adapt_to_text(State& state) {
  if (!holds(state) || state.selection.scope != state.selection.implied->scope ||
      stored(state) == nullptr)
    return;
  const RunView& edited = state.edited();
  if (edited.run.text == state.selection.implied->after.run.text || !edited.run.ids.empty()) return;
  const std::optional<Choice> choice = scoped_variant(edited, state.selection.scope);
  const std::shared_ptr<const Tokenizer> tokenizer = state.edited_trace()->tokenizer;
  if (!choice || !variant(choice->id).defaults.length || tokenizer == nullptr) return;
  const auto count = static_cast<Index>(tokenizer->encode(edited.run.text).size());
  const Index tokens = std::min(count, stored(state)->context);
  if (tokens == 0) return;
  RunView now = edited;
  copy_choices(now, state.selection.implied->before);
  const CompatibleChoice suited =
      select_variant(now, heads(state), variant(choice->id), *stored(state), tokens);
  apply_selection(state, suited, false, tokens);
}

std::string implied_changes(const State& state) {
  return holds(state) ? state.selection.implied->words : "";
}

std::string implied_changes_reason(const State& state) {
  return holds(state) ? state.selection.implied->reason : "";
}

void undo_implied_changes(State& state) {
  if (!holds(state)) return;
  copy_choices(state.edit(), state.selection.implied->before);
  state.selection.implied.reset();
}

}  // namespace attnscope::window
