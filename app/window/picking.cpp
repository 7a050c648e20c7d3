#include "app/window/picking.h"

#include <algorithm>
#include <functional>

#include "core/experiment/company.h"

namespace attnscope::window {

namespace {

// What picks may set beside what was picked.
struct Beside {
  std::optional<bool> causal;
  std::optional<Index> segment;
  Index most_tokens = 0;
  bool operator==(const Beside&) const = default;
};

Beside beside(const Experiment& e) {
  return {e.causal, e.structure.segment, e.most_tokens};
}

bool same_choices(const Experiment& a, const Experiment& b) {
  return a.variant == b.variant && a.encoding == b.encoding && a.groups == b.groups &&
         beside(a) == beside(b);
}

void take_choices(Experiment& to, const Experiment& from) {
  to.variant = from.variant;
  to.encoding = from.encoding;
  to.groups = from.groups;
  to.causal = from.causal;
  to.structure.segment = from.structure.segment;
  to.most_tokens = from.most_tokens;
  to.view.part = from.view.part;
}

bool holds(const State& state) {
  return state.along && state.along->of_other == state.edits_other() &&
         same_choices(state.edited(), state.along->after);
}

// The experiment without what the last pick set along.
Experiment without_along(const State& state) {
  Experiment e = state.edited();
  if (holds(state)) take_choices(e, state.along->before);
  return e;
}

// Of the whole text, where only its first tokens are read now.
Index token_count(const State& state) {
  if (holds(state) && state.along->tokens > 0) return state.along->tokens;
  const Trace* trace = state.edited_trace();
  return trace != nullptr ? static_cast<Index>(trace->tokens.size()) : 0;
}

const ModelConfig* stored(const State& state) {
  const Trace* trace = state.edited_trace();
  return trace != nullptr && state.edited().tensors.file.empty() ? trace->trained.get() : nullptr;
}

ForHeads heads(const State& state) {
  const ChoiceScope scope = state.scope;
  return {[scope](Experiment& e, std::optional<Choice> choice) {
            choose_variant(e, scope, std::move(choice));
          },
          [scope](Experiment& e, std::optional<Choice> choice) {
            choose_encoding(e, scope, std::move(choice));
          }};
}

Suited suited_variant(const State& state, const Experiment& now, const Choice& choice, bool anew) {
  const ModelConfig& config = *stored(state);
  const Index tokens = token_count(state);
  return anew ? with_variant(now, heads(state), variant(choice.id), config, tokens)
              : with_variant(now, heads(state), choice, config, tokens);
}

Suited suited_encoding(const State& state, const Experiment& now, const Choice& choice, bool anew) {
  const ModelConfig& config = *stored(state);
  const Index tokens = token_count(state);
  return anew ? with_encoding(now, heads(state), encoding(choice.id), config, tokens)
              : with_encoding(now, heads(state), choice, config, tokens);
}

// `goes_on`: what was set along before still counts. `tokens`: of the whole text.
void take(State& state, const Suited& suited, bool goes_on, Index tokens) {
  std::string words;
  for (const std::string& word : suited.along) words += (words.empty() ? "" : ", ") + word;
  const bool held = holds(state);
  const std::optional<Choice> choice = scoped_variant(suited.experiment, state.scope);
  const bool fits = choice && variant(choice->id).fitting;
  if (words.empty() && !(goes_on && held) && !fits) {
    state.along.reset();
  } else {
    SetAlong along = held ? *state.along : SetAlong{.before = state.edited()};
    along.tokens = tokens;
    along.scope = state.scope;
    along.of_other = state.edits_other();
    along.after = suited.experiment;
    if (!goes_on || !held) along.words.clear();
    if (!goes_on || !held || !suited.reason.empty()) along.reason = suited.reason;
    along.words += (along.words.empty() || words.empty() ? "" : ", ") + words;
    along.before.others.clear();
    along.after.others.clear();
    state.along = std::move(along);
  }
  take_choices(state.edited(), suited.experiment);
}

// Where there are tensors in place of a model, maybe of pixels.
Values telling_of_tensors(const State& state, const Info& info) {
  Values values = telling_values(info.parameters, token_count(state));
  const Trace* trace = state.edited_trace();
  if (trace != nullptr && trace->pixels) {
    set_image_sizes(values, info.parameters, trace->pixels->width, trace->pixels->height, true);
  }
  return values;
}

// Where nothing is known of the model, or there is none: the choice alone.
void take_alone(State& state, const std::optional<Choice>& choice,
                void (*choose)(Experiment&, ChoiceScope, std::optional<Choice>)) {
  Experiment next = without_along(state);
  choose(next, state.scope, choice);
  take(state, {std::move(next), {}, ""}, false, token_count(state));
}

}  // namespace

void pick_variant(State& state, std::optional<Choice> choice, bool anew) {
  if (!choice || stored(state) == nullptr) {
    if (choice && anew) choice->values = telling_of_tensors(state, variant(choice->id));
    return take_alone(state, choice, choose_variant);
  }
  const Experiment now = anew ? without_along(state) : state.edited();
  take(state, suited_variant(state, now, *choice, anew), !anew, token_count(state));
  // Another method is met by its own picture.
  auto& options = state.edited().view.options;
  if (const auto chosen = options.find("mechanism"); anew && chosen != options.end()) {
    chosen->second.erase("picture");
  }
}

void pick_encoding(State& state, std::optional<Choice> choice, bool anew) {
  if (!choice || stored(state) == nullptr) return take_alone(state, choice, choose_encoding);
  take(state, suited_encoding(state, state.edited(), *choice, anew), !anew, token_count(state));
}

void pick_direction(State& state, std::optional<bool> causal) {
  if (causal && stored(state) != nullptr) {
    const Index tokens = token_count(state);
    return take(state, with_direction(state.edited(), *causal, *stored(state), tokens), false,
                tokens);
  }
  Experiment next = state.edited();
  next.causal = causal;
  take(state, {std::move(next), {}, ""}, false, token_count(state));
}

std::string variant_refusal(const State& state, const Choice& choice, bool anew) {
  const Experiment now = anew ? without_along(state) : state.edited();
  return suited_variant(state, now, choice, anew).refusal;
}

std::string encoding_refusal(const State& state, const Choice& choice, bool anew) {
  return suited_encoding(state, state.edited(), choice, anew).refusal;
}

std::string direction_refusal(const State& state, bool causal) {
  return with_direction(state.edited(), causal, *stored(state), token_count(state)).refusal;
}

bool knows_company(const State& state) {
  return stored(state) != nullptr;
}

void follow_text(State& state) {
  if (!holds(state) || state.scope != state.along->scope || stored(state) == nullptr) return;
  const Experiment& edited = state.edited();
  if (edited.text == state.along->after.text || !edited.ids.empty()) return;
  const std::optional<Choice> choice = scoped_variant(edited, state.scope);
  const std::shared_ptr<const Tokenizer> tokenizer = state.edited_trace()->tokenizer;
  if (!choice || !variant(choice->id).fitting || tokenizer == nullptr) return;
  const auto count = static_cast<Index>(tokenizer->encode(edited.text).size());
  const Index tokens = std::min(count, stored(state)->context);
  if (tokens == 0) return;
  Experiment now = edited;
  take_choices(now, state.along->before);
  const Suited suited =
      with_variant(now, heads(state), variant(choice->id), *stored(state), tokens);
  take(state, suited, false, tokens);
}

std::string set_along(const State& state) {
  return holds(state) ? state.along->words : "";
}

std::string set_along_reason(const State& state) {
  return holds(state) ? state.along->reason : "";
}

void undo_set_along(State& state) {
  if (!holds(state)) return;
  take_choices(state.edited(), state.along->before);
  state.along.reset();
}

}  // namespace attnscope::window
