#include "app/window/variant_selection.h"

#include <algorithm>
#include <functional>

#include "core/experiment/compatible_choice.h"

namespace attnscope::window {
namespace {

struct ImpliedSettings {
  std::optional<bool> causal;
  std::optional<Index> segment;
  Index max_tokens = 0;
  bool operator==(const ImpliedSettings&) const = default;
};

ImpliedSettings implied_settings(const RunView& run_view) {
  return {run_view.run.causal, run_view.run.structure.segment, run_view.run.max_tokens};
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

bool has_implied_changes(const State& state) {
  return state.selection.implied && state.selection.implied->is_for_b == state.edits_b() &&
         same_choices(state.edited(), state.selection.implied->selected);
}

RunView without_implied_changes(const State& state) {
  RunView run_view = state.edited();
  if (has_implied_changes(state)) copy_choices(run_view, state.selection.implied->previous);
  return run_view;
}

// Number of tokens of the whole text, even if the model reads only the first ones.
Index token_count(const State& state) {
  if (has_implied_changes(state) && state.selection.implied->tokens > 0)
    return state.selection.implied->tokens;
  const Trace* trace = state.edited_trace();
  return trace != nullptr ? static_cast<Index>(trace->tokens.size()) : 0;
}

const ModelConfig* model_config(const State& state) {
  const Trace* trace = state.edited_trace();
  return trace != nullptr && state.edited().run.tensors.file.empty() ? trace->trained.get()
                                                                     : nullptr;
}

HeadScope head_scope(const State& state) {
  const ChoiceScope scope = state.selection.scope;
  return {[scope](RunView& run_view, std::optional<Choice> choice) {
            choose_variant(run_view, scope, std::move(choice));
          },
          [scope](RunView& run_view, std::optional<Choice> choice) {
            choose_encoding(run_view, scope, std::move(choice));
          }};
}

CompatibleChoice compatible_variant(const State& state, const RunView& start, const Choice& choice,
                                    bool resets_parameters) {
  const ModelConfig& config = *model_config(state);
  const Index tokens = token_count(state);
  return resets_parameters
             ? select_variant(start, head_scope(state), variant(choice.id), config, tokens)
             : select_variant(start, head_scope(state), choice, config, tokens);
}

CompatibleChoice compatible_encoding(const State& state, const RunView& start, const Choice& choice,
                                     bool resets_parameters) {
  const ModelConfig& config = *model_config(state);
  const Index tokens = token_count(state);
  return resets_parameters
             ? select_encoding(start, head_scope(state), encoding(choice.id), config, tokens)
             : select_encoding(start, head_scope(state), choice, config, tokens);
}

// keeps_implied: keeps earlier implied changes. tokens: number of tokens of the whole text.
void apply_selection(State& state, const CompatibleChoice& compatible, bool keeps_implied,
                     Index tokens) {
  const std::string text = describe(compatible.implied);
  const bool had_changes = has_implied_changes(state);
  const std::optional<Choice> choice = scoped_variant(compatible.viewed, state.selection.scope);
  const bool adapts_to_length = choice && variant(choice->id).defaults.length;
  if (text.empty() && !(keeps_implied && had_changes) && !adapts_to_length) {
    state.selection.implied.reset();
  } else {
    ImpliedChanges implied =
        had_changes ? *state.selection.implied : ImpliedChanges{.previous = state.edited()};
    implied.tokens = tokens;
    implied.scope = state.selection.scope;
    implied.is_for_b = state.edits_b();
    implied.selected = compatible.viewed;
    if (!keeps_implied || !had_changes) implied.text.clear();
    if (!keeps_implied || !had_changes || !compatible.reason.empty())
      implied.reason = compatible.reason;
    implied.text += (implied.text.empty() || text.empty() ? "" : ", ") + text;
    state.selection.implied = std::move(implied);
  }
  copy_choices(state.edit(), compatible.viewed);
}

// Illustrative values for tensors without a model, possibly of pixels.
Values illustrative_values_for_tensors(const State& state, const Info& info) {
  Values values = illustrative_values(info.parameters, token_count(state));
  const Trace* trace = state.edited_trace();
  if (trace != nullptr && trace->pixels) {
    set_image_sizes(values, info.parameters, trace->pixels->width, trace->pixels->height, true);
  }
  return values;
}

// Applies a choice without implied changes, which would require a known model.
void apply_alone(State& state, const std::optional<Choice>& choice,
                 void (*choose)(RunView&, ChoiceScope, std::optional<Choice>)) {
  RunView next = without_implied_changes(state);
  choose(next, state.selection.scope, choice);
  apply_selection(state, {std::move(next), {}, ""}, false, token_count(state));
}

}  // namespace

void select_variant(State& state, std::optional<Choice> choice, bool resets_parameters) {
  if (!choice || model_config(state) == nullptr) {
    if (choice && resets_parameters)
      choice->values = illustrative_values_for_tensors(state, variant(choice->id));
    return apply_alone(state, choice, choose_variant);
  }
  const RunView start = resets_parameters ? without_implied_changes(state) : state.edited();
  apply_selection(state, compatible_variant(state, start, *choice, resets_parameters),
                  !resets_parameters, token_count(state));
  // A new variant starts with its default picture.
  auto& options = state.edit().view.options;
  if (const auto it = options.find("mechanism"); resets_parameters && it != options.end()) {
    it->second.erase("picture");
  }
}

void select_encoding(State& state, std::optional<Choice> choice, bool resets_parameters) {
  if (!choice || model_config(state) == nullptr) return apply_alone(state, choice, choose_encoding);
  apply_selection(state, compatible_encoding(state, state.edited(), *choice, resets_parameters),
                  !resets_parameters, token_count(state));
}

void select_direction(State& state, std::optional<bool> causal) {
  if (causal && model_config(state) != nullptr) {
    const Index tokens = token_count(state);
    return apply_selection(state,
                           select_direction(state.edited(), *causal, *model_config(state), tokens),
                           false, tokens);
  }
  RunView next = state.edited();
  next.run.causal = causal;
  apply_selection(state, {std::move(next), {}, ""}, false, token_count(state));
}

std::string variant_refusal(const State& state, const Choice& choice, bool resets_parameters) {
  const RunView start = resets_parameters ? without_implied_changes(state) : state.edited();
  return compatible_variant(state, start, choice, resets_parameters).refusal;
}

std::string encoding_refusal(const State& state, const Choice& choice, bool resets_parameters) {
  return compatible_encoding(state, state.edited(), choice, resets_parameters).refusal;
}

std::string direction_refusal(const State& state, bool causal) {
  return select_direction(state.edited(), causal, *model_config(state), token_count(state)).refusal;
}

bool can_check_compatibility(const State& state) {
  return model_config(state) != nullptr;
}

void adapt_parameters_to_text(State& state) {
  if (!has_implied_changes(state) || state.selection.scope != state.selection.implied->scope ||
      model_config(state) == nullptr)
    return;
  const RunView& edited = state.edited();
  if (edited.run.text == state.selection.implied->selected.run.text || !edited.run.ids.empty())
    return;
  const std::optional<Choice> choice = scoped_variant(edited, state.selection.scope);
  const std::shared_ptr<const Tokenizer> tokenizer = state.edited_trace()->tokenizer;
  if (!choice || !variant(choice->id).defaults.length || tokenizer == nullptr) return;
  const auto count = static_cast<Index>(tokenizer->encode(edited.run.text).size());
  const Index tokens = std::min(count, model_config(state)->context);
  if (tokens == 0) return;
  RunView start = edited;
  copy_choices(start, state.selection.implied->previous);
  const CompatibleChoice compatible =
      select_variant(start, head_scope(state), variant(choice->id), *model_config(state), tokens);
  apply_selection(state, compatible, false, tokens);
}

std::string implied_changes(const State& state) {
  return has_implied_changes(state) ? state.selection.implied->text : "";
}

std::string implied_changes_reason(const State& state) {
  return has_implied_changes(state) ? state.selection.implied->reason : "";
}

void accept_offer(State& state) {
  const RunSpec& offered = state.run.offer->viewed.run;
  RunSpec& run = state.session.edit().run;
  run.variant = offered.variant;
  run.encoding = offered.encoding;
  run.groups = offered.groups;
  run.causal = offered.causal;
}

void undo_implied_changes(State& state) {
  if (!has_implied_changes(state)) return;
  copy_choices(state.edit(), state.selection.implied->previous);
  state.selection.implied.reset();
}

}  // namespace attnscope::window
