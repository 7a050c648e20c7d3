#include "app/window/model_selection.h"

#include "app/window/files.h"
#include "core/base/error.h"
#include "core/base/join_words.h"

namespace attnscope::window {
namespace {

// True if model and input have not changed after the last selection of a model.
bool has_model_changes(const State& state) {
  if (!state.selection.model_changes || state.selection.model_changes->is_for_b != state.edits_b())
    return false;
  const RunView &edited = state.edited(), &selected = state.selection.model_changes->selected;
  return edited.run.model == selected.run.model && edited.run.text == selected.run.text &&
         edited.run.ids == selected.run.ids && edited.run.target == selected.run.target &&
         edited.run.input == selected.run.input && edited.run.tensors == selected.run.tensors;
}

// Card of the edited model; empty if it cannot be read.
ModelCard read_card(const RunView& run_view) {
  try {
    return model_card(run_view.run.model);
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

void remember_input(State& state) {
  const RunView& run_view = state.edited();
  const ModelCard card = read_card(run_view);
  if (card.task.empty() || !run_view.run.has_input() || !run_view.run.tensors.file.empty()) return;
  state.selection.previous_inputs.insert_or_assign(reading_task(card), run_view);
}

namespace {

// False if the model is known to have no such layer or head.
bool may_have_head(const RunView& run_view, const ViewSettings& place) {
  const ModelCard card = read_card(run_view);
  return !card.config || (place.layer < card.config->layers && place.head < card.config->heads);
}

// The comparison stays on the same text and head: no other sample is selected for B. B returns to
// the head of A if it left that head because its previous model lacks it.
void keep_input(OpenedModel& opened, const RunView& current, const ViewSettings& of_a) {
  const std::string model = opened.viewed.run.model;
  opened.viewed.run = current.run;
  opened.viewed.run.model = model;
  ViewSettings& view = opened.viewed.view;
  const ViewSettings& place = may_have_head(current, of_a) ? current.view : of_a;
  view.layer = place.layer;
  view.head = place.head;
  view.pinned_query = current.view.pinned_query;
  view.pinned_key = current.view.pinned_key;
  opened.implied.clear();
}

}  // namespace

void choose_model(State& state, const std::string& model) {
  RunView& run_view = state.edit();
  if (model == run_view.run.model) return;
  remember_input(state);
  ImpliedChanges implied{.previous = run_view};
  implied.is_for_b = state.edits_b();
  RunView start = run_view;
  if (implied.is_for_b) start.view.id = "compare";  // B is shown in the view Compare
  OpenedModel opened = with_model(start, model, state.selection.previous_inputs);
  if (implied.is_for_b) {
    opened.viewed.view.id = run_view.view.id;
    if (!opened.input_kind_changed) keep_input(opened, run_view, state.session->view);
  }
  state.history.end_step();
  run_view = std::move(opened.viewed);
  implied.selected = run_view;
  implied.text = join_words(opened.implied);
  state.run.is_generating = false;
  state.selection.model_changes = std::move(implied);
  state.selection.has_checked_view = state.edits_b();
}

void choose_sample(State& state, const Sample& sample) {
  state.history.end_step();
  RunView& run_view = state.edit();
  use_sample(run_view.run, sample);
  run_view.view.pinned_query = run_view.view.pinned_key = -1;
  run_view.view.row = run_view.view.column = run_view.view.height = run_view.view.width = 0;
  state.text.is_edited = true;
}

void return_to_text(State& state) {
  RunView& run_view = state.edit();
  if (reading_task(read_card(run_view)) == "text") {
    state.history.end_step();
    run_view.run.input.clear();
    return;
  }
  const auto text = state.selection.previous_inputs.find("text");
  choose_model(state,
               text != state.selection.previous_inputs.end() ? text->second.run.model : "default");
}

std::string implied_model_changes(const State& state) {
  return has_model_changes(state) ? state.selection.model_changes->text : "";
}

void undo_model_selection(State& state) {
  if (!has_model_changes(state)) return;
  state.history.end_step();
  state.edit() = state.selection.model_changes->previous;
  state.selection.model_changes.reset();
}

void replace_empty_view(State& state) {
  if (state.selection.has_checked_view || state.run.trace == nullptr) return;
  if (!state.is_current()) return;
  state.selection.has_checked_view = true;
  const View& shown_view = view(state.session->view.id);
  const std::string initial = initial_view(*state.run.trace->config, state.session->run);
  const bool shows_only_start = shown_view.id == "map" && initial != "map";
  const std::string objection = shown_view.objection(*state.run.trace);
  if (objection.empty() && !shows_only_start) return;
  const std::string recommended =
      shows_only_start ? initial : recommended_view(read_card(*state.session));
  const View& next = view(recommended.empty() ? "map" : recommended);
  if (next.id == shown_view.id || (!next.objection(*state.run.trace).empty())) return;
  state.session.edit().view.id = next.id;
  state.history.amend(state.session.snapshot());
  if (!has_model_changes(state)) {  // the view was requested at the start or by a file
    if (!objection.empty()) {
      state.notify("Showing " + next.label + " instead of " + shown_view.label + ": " + objection);
    }
    return;
  }
  std::string& text = state.selection.model_changes->text;
  text += (text.empty() ? "the view " : ", the view ") + next.label;
}

bool offers_example(const State& state) {
  if (state.run.trace == nullptr) return false;
  const View& shown_view = view(state.session->view.id);
  return shown_view.content.example && !shown_view.objection(*state.pictured_trace()).empty();
}

void open_example(State& state) {
  remember_input(state);
  Session next = *state.session;
  view(next.view.id).content.example(next);
  if (next == *state.session) {
    state.report_error("The model of the example is not installed.");
    return;
  }
  set_session(state, share(std::move(next)));
}

}  // namespace attnscope::window
