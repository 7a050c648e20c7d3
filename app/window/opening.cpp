#include "app/window/opening.h"

#include "core/base/error.h"
#include "core/base/joined.h"

namespace attnscope::window {

namespace {

// Whether nobody chose another model or another thing to read since.
bool still_holds(const State& state) {
  if (!state.opened || state.opened->of_other != state.edits_other()) return false;
  const Experiment &now = state.edited(), &then = state.opened->after;
  return now.model == then.model && now.text == then.text && now.ids == then.ids &&
         now.target == then.target && now.input == then.input && now.tensors == then.tensors;
}

// Of the edited model; of one that cannot be read nothing.
ModelCard card_of(const Experiment& experiment) {
  try {
    return model_card(experiment.model);
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

void remember_reading(State& state) {
  const Experiment& e = state.edited();
  const ModelCard card = card_of(e);
  if (card.task.empty() || !e.has_input() || !e.tensors.file.empty()) return;
  Experiment kept = e;
  kept.others.clear();
  state.read_before.insert_or_assign(reading_task(card), std::move(kept));
}

void choose_model(State& state, const std::string& model) {
  Experiment& e = state.edited();
  if (model == e.model) return;
  remember_reading(state);
  SetAlong along{.before = e};
  along.before.others.clear();
  along.of_other = state.edits_other();
  Experiment from = e;
  if (along.of_other) from.view.id = "compare";  // what A is looked through counts
  OpenedModel opened = with_model(from, model, state.read_before);
  if (along.of_other) opened.experiment.view.id = e.view.id;
  state.history.end_step();
  e = std::move(opened.experiment);
  along.after = e;
  along.after.others.clear();
  along.words = joined(opened.along);
  state.generating = false;
  state.opened = std::move(along);
  state.view_settled = state.edits_other();
}

void choose_sample(State& state, const Sample& sample) {
  state.history.end_step();
  Experiment& e = state.edited();
  read_sample(e, sample);
  e.view.pinned_query = e.view.pinned_key = -1;
  e.view.row = e.view.column = e.view.height = e.view.width = 0;
  state.text.changed = true;
}

void back_to_text(State& state) {
  Experiment& e = state.edited();
  if (reading_task(card_of(e)) == "text") {
    state.history.end_step();
    e.input.clear();
    return;
  }
  const auto before = state.read_before.find("text");
  choose_model(state, before != state.read_before.end() ? before->second.model : "default");
}

std::string opened_along(const State& state) {
  return still_holds(state) ? state.opened->words : "";
}

void undo_opened(State& state) {
  if (!still_holds(state)) return;
  state.history.end_step();
  std::vector<Experiment> others = std::move(state.edited().others);
  state.edited() = state.opened->before;
  state.edited().others = std::move(others);
  state.opened.reset();
}

void settle_view(State& state) {
  if (state.view_settled || state.trace == nullptr) return;
  if (!same_run(state.shown, state.experiment)) return;
  state.view_settled = true;
  ViewSettings& settings = state.experiment.view;
  const View& shown = view(settings.id);
  if (!shown.objection || shown.objection(*state.trace).empty()) return;
  const std::string own = own_view(card_of(state.experiment));
  const View& next = view(own.empty() ? "map" : own);
  if (next.id == shown.id || (next.objection && !next.objection(*state.trace).empty())) return;
  settings.id = next.id;
  state.history.amend(state.experiment);
  if (!still_holds(state)) return;
  std::string& words = state.opened->words;
  words += (words.empty() ? "the view " : ", the view ") + next.label;
}

}  // namespace attnscope::window
