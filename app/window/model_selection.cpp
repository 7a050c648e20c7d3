#include "app/window/model_selection.h"

#include "core/base/error.h"
#include "core/base/join_words.h"

namespace attnscope::window {
namespace {

// True if neither model nor input have changed since.
bool still_holds(const State& state) {
  if (!state.selection.model_changes || state.selection.model_changes->for_b != state.edits_other())
    return false;
  const RunView &now = state.edited(), &then = state.selection.model_changes->after;
  return now.run.model == then.run.model && now.run.text == then.run.text &&
         now.run.ids == then.run.ids && now.run.target == then.run.target &&
         now.run.input == then.run.input && now.run.tensors == then.run.tensors;
}

// Card of the edited model; empty if it cannot be read.
ModelCard card_of(const RunView& run_view) {
  try {
    return model_card(run_view.run.model);
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

void remember_input(State& state) {
  const RunView& e = state.edited();
  const ModelCard card = card_of(e);
  if (card.task.empty() || !e.run.has_input() || !e.run.tensors.file.empty()) return;
  state.selection.previous_inputs.insert_or_assign(reading_task(card), e);
}

void choose_model(State& state, const std::string& model) {
  RunView& e = state.edit();
  if (model == e.run.model) return;
  remember_input(state);
  ImpliedChanges implied{.before = e};
  implied.for_b = state.edits_other();
  RunView from = e;
  if (implied.for_b) from.view.id = "compare";  // its view matters, as A's does
  OpenedModel opened = with_model(from, model, state.selection.previous_inputs);
  if (implied.for_b) opened.viewed.view.id = e.view.id;
  state.history.end_step();
  e = std::move(opened.viewed);
  implied.after = e;
  implied.words = join_words(opened.implied);
  state.run.generating = false;
  state.selection.model_changes = std::move(implied);
  state.selection.has_checked_view = state.edits_other();
}

void choose_sample(State& state, const Sample& sample) {
  state.history.end_step();
  RunView& e = state.edit();
  use_sample(e.run, sample);
  e.view.pinned_query = e.view.pinned_key = -1;
  e.view.row = e.view.column = e.view.height = e.view.width = 0;
  state.text.changed = true;
}

void return_to_text(State& state) {
  RunView& e = state.edit();
  if (reading_task(card_of(e)) == "text") {
    state.history.end_step();
    e.run.input.clear();
    return;
  }
  const auto before = state.selection.previous_inputs.find("text");
  choose_model(state, before != state.selection.previous_inputs.end() ? before->second.run.model
                                                                      : "default");
}

std::string implied_model_changes(const State& state) {
  return still_holds(state) ? state.selection.model_changes->words : "";
}

void undo_model_selection(State& state) {
  if (!still_holds(state)) return;
  state.history.end_step();
  state.edit() = state.selection.model_changes->before;
  state.selection.model_changes.reset();
}

void replace_empty_view(State& state) {
  if (state.selection.has_checked_view || state.run.trace == nullptr) return;
  if (!state.is_current()) return;
  state.selection.has_checked_view = true;
  const View& shown = view(state.session->view.id);
  if (shown.objection(*state.run.trace).empty()) return;
  const std::string own = recommended_view(card_of(*state.session));
  const View& next = view(own.empty() ? "map" : own);
  if (next.id == shown.id || (!next.objection(*state.run.trace).empty())) return;
  state.session.edit().view.id = next.id;
  state.history.amend(state.session.snapshot());
  if (!still_holds(state)) return;
  std::string& words = state.selection.model_changes->words;
  words += (words.empty() ? "the view " : ", the view ") + next.label;
}

}  // namespace attnscope::window
