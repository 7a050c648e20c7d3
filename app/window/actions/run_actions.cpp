// Actions that change the run: comparisons, interventions, generation.
#include "app/window/actions/action_lists.h"
#include "app/window/actions/navigation.h"
#include "app/window/error_text.h"
#include "app/window/files.h"
#include "app/window/jobs/generation.h"
#include "core/checkpoint/model_store.h"

namespace attnscope::window {
namespace {

bool has_b(const State& s) {
  return s.session->b.has_value();
}

// Reason why the text cannot become a chat turn; empty: none.
std::string chat_refusal(const State& s) {
  if (!s.is_current() || s.session->run.text.empty()) return "Needs a text and a finished run.";
  const RunSpec& run = s.session->run;
  if (!run.ids.empty() || !run.input.empty() || !run.tensors.file.empty()) return "Needs a text.";
  try {  // the checkpoint is loaded: the run has used it
    const bool has_none = model_store()->checkpoint(run.model)->chat_template.empty();
    return has_none ? "This model has no chat template." : "";
  } catch (const std::exception& e) {  // the model's files changed after the run
    return e.what();
  }
}

void frame_as_chat_turn(State& s) {
  try {
    const RunSpec& run = s.session->run;
    std::string turn = chat_turn(*model_store()->checkpoint(run.model), run.text);
    s.session.edit().run.text = std::move(turn);
    s.text.edit.assign(s.session->run.text);
  } catch (const std::exception& e) {
    s.report_error(error_text(e));
  }
}

}  // namespace

void add_compare_actions(std::vector<Action>& list) {
  list.push_back({"compare",
                  "Compare with this",
                  "Keep the current settings as B and compare them with later changes; holding "
                  "Shift shows B in any view.",
                  Menu::Edit,
                  {{"B"}},
                  [](State& s) {
                    s.session.edit().b = *s.session;
                    s.session.edit().view.id = "compare";
                    s.editing_b = false;
                  },
                  has_trace});
  list.back().starts_group = true;
  list.back().view = "compare";
  list.push_back({"compare_swap",
                  "Swap A and B",
                  "Exchange A and B.",
                  Menu::Edit,
                  {{"X"}},
                  [](State& s) {
                    RunView a = *s.session;
                    const RunView b = *std::exchange(s.session.edit().b, a);
                    s.session.edit().run = b.run;  // A's view changes only layer, head and part
                    s.session.edit().view.layer = b.view.layer;
                    s.session.edit().view.head = b.view.head;
                    s.session.edit().view.part = b.view.part;
                  },
                  has_b});
  list.back().view = "compare";
  list.push_back({"compare_edit",
                  "Edit B",
                  "Edit B instead of A with the panels on the left.",
                  Menu::Edit,
                  {},
                  [](State& s) { s.editing_b = !s.editing_b; },
                  has_b,
                  [](const State& s) { return s.edits_b(); }});
  list.push_back({"compare_stop",
                  "Clear B",
                  "Remove B and stop comparing.",
                  Menu::Edit,
                  {},
                  [](State& s) {
                    s.session.edit().b.reset();
                    s.editing_b = false;
                  },
                  has_b});
  list.back().view = "compare";
}

void add_intervene_actions(std::vector<Action>& list) {
  list.push_back({"intervene_reset",
                  "Undo all interventions",
                  "Restore the unmodified model.",
                  Menu::Edit,
                  {},
                  [](State& s) { s.session.edit().run.interventions.clear(); },
                  [](const State& s) { return !s.session->run.interventions.empty(); }});
  list.back().starts_group = true;
  list.back().view = "intervene";
  list.push_back({"cost",
                  "Cost by length…",
                  "Measure time, operations and memory of variants at increasing lengths, with the "
                  "growth stated in their papers.",
                  Menu::Edit,
                  {{"K"}},
                  [](State& s) { s.dialogs.cost.open = true; }});
  list.back().view = "compare";
  list.push_back({"lengths",
                  "Bits per byte by length…",
                  "Evaluate models on a text at increasing window lengths, up to and beyond the "
                  "length of their training.",
                  Menu::Edit,
                  {},
                  open_extrapolation_dialog});
  list.back().view = "position";
  list.push_back({"experiment",
                  "Experiment…",
                  "Check a claim of an article by runs over one or two parameters, or sweep a "
                  "parameter of this session.",
                  Menu::Edit,
                  {},
                  open_study_dialog});
  list.push_back({"train",
                  "Train a model…",
                  "Train a small model on a task in the background; all views follow its weights.",
                  Menu::Edit,
                  {},
                  open_training_dialog});
  list.push_back({"calibrate",
                  "Calibrate the exit threshold…",
                  "Choose the early-exit confidence threshold on a text such that the loss stays "
                  "within a tolerance.",
                  Menu::Edit,
                  {},
                  [](State& s) { s.dialogs.calibration.open = true; }});
  list.back().view = "depth";
}

void add_stop_generating_action(std::vector<Action>& list) {
  list.push_back({"next_stop",
                  "Stop generating",
                  "Generate no further tokens; tokens generated so far stay in the text.",
                  Menu::Edit,
                  {{"Escape"}, {"Escape", false, false, Shortcut::When::Presenting}},
                  [](State& s) { s.run.is_generating = false; },
                  [](const State& s) { return s.run.is_generating; }});
  list.back().in_menu = false;
}

void add_next_actions(std::vector<Action>& list) {
  list.push_back({"next_step",
                  "Next token",
                  "Sample a token with the settings of the view Next and append it to the text.",
                  Menu::Edit,
                  {{"S"}},
                  [](State& s) {
                    s.run.is_generating = false;
                    s.run.is_first_token = true;
                    generate_token(s);
                  },
                  can_generate});
  list.back().starts_group = true;
  list.back().view = "next";
  list.push_back(
      {"next_run",
       "Generate",
       "Generate tokens until the model ends the text, this is chosen again, or Escape is "
       "pressed.",
       Menu::Edit,
       {{"W"}},
       [](State& s) {
         s.run.is_generating = !s.run.is_generating;
         if (!s.run.is_generating) return;
         s.run.is_first_token = true;
         s.text.is_focused = false;  // so that keys can stop the generation
         generate_token(s);
       },
       can_generate,
       [](const State& s) { return s.run.is_generating; }});
  list.back().view = "next";
  list.push_back({"chat_turn",
                  "Text as a chat turn",
                  "Frame the text as a user's turn by the model's chat template, so that the model "
                  "continues with its reply; Ctrl+Z undoes it.",
                  Menu::Edit,
                  {},
                  frame_as_chat_turn,
                  [](const State& s) { return chat_refusal(s).empty(); }});
  list.back().refusal = chat_refusal;
}

}  // namespace attnscope::window
