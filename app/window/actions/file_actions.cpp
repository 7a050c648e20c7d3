// The commands of the menus File and Edit.
#include "app/window/actions/action_lists.h"
#include "app/window/files.h"
#include "app/window/utf8.h"
#include "core/view/export/view_data.h"

namespace attnscope::window {

namespace {

void restore(State& s, const Experiment& experiment) {
  s.generating = false;
  s.experiment = experiment;
  s.text.edit.assign(s.edited().text);
  s.text.follow_cursor = true;
}

void copy_data(State& s) {
  try {
    s.wishes.clipboard = to_csv(view_data(*s.trace, s.shown_experiment(), s.findings));
    s.say("The picture's numbers are on the clipboard.");
  } catch (const std::exception& e) {
    s.complain(e.what());
  }
}

}  // namespace

void add_file_actions(std::vector<Action>& list) {
  list.push_back(
      {"open",
       "Open…",
       "Open a session, a lesson, a text, tensors of your own or a picture that attnscope wrote.",
       Menu::File,
       {{"O", true}},
       [](State& s) { browse(s, BrowsePurpose::OpenFile); }});
  list.push_back({"open_model",
                  "Open model folder…",
                  "Use a model of your own: a folder with config.json and weights.",
                  Menu::File,
                  {},
                  [](State& s) { browse(s, BrowsePurpose::OpenModel); }});
  list.push_back({"save",
                  "Save session",
                  "Write the text and all settings to a file.",
                  Menu::File,
                  {{"S", true}},
                  [](State& s) {
                    if (s.session.empty()) {
                      browse(s, BrowsePurpose::SaveSession);
                    } else {
                      save_to(s, s.session);
                    }
                  }});
  list.back().starts_group = true;
  list.push_back({"save_as",
                  "Save session as…",
                  "Write the session to a file of another name.",
                  Menu::File,
                  {{"S", true, true}},
                  [](State& s) { browse(s, BrowsePurpose::SaveSession); }});
  list.push_back(
      {"export",
       "Export picture…",
       "Write the picture as PNG, SVG or PDF, its numbers as CSV, NPY or safetensors, or a moving "
       "picture as GIF.",
       Menu::File,
       {{"E", true}},
       [](State& s) {
         s.exporting.open = true;
         s.exporting.problem.clear();
         if (!s.exporting.themed) s.exporting.picture.dark = s.settings.dark;
       },
       has_trace});
  list.back().starts_group = true;
  list.push_back({"copy_data",
                  "Copy data",
                  "Copy the picture's numbers as comma-separated text.",
                  Menu::File,
                  {{"C", true}},
                  copy_data,
                  has_trace});
  list.push_back({"quit",
                  "Quit",
                  "Close the window; the session is kept for the next start.",
                  Menu::File,
                  {{"Q", true}},
                  [](State& s) { s.wishes.close = true; }});
  list.back().starts_group = true;
}

void add_edit_actions(std::vector<Action>& list) {
  list.push_back({"undo",
                  "Undo",
                  "Take back the last change.",
                  Menu::Edit,
                  {{"Z", true}},
                  [](State& s) { restore(s, s.history.undo()); },
                  [](const State& s) { return s.history.can_undo(); }});
  list.push_back({"redo",
                  "Redo",
                  "Repeat the change that was taken back.",
                  Menu::Edit,
                  {{"Z", true, true}, {"Y", true}},
                  [](State& s) { restore(s, s.history.redo()); },
                  [](const State& s) { return s.history.can_redo(); }});
  list.push_back({"edit_text",
                  "Edit text",
                  "Put the cursor into the text.",
                  Menu::Edit,
                  {{"T", true}},
                  [](State& s) {
                    s.settings.panels = true;
                    s.text.focused = true;
                    s.text.edit.select_all();
                  }});
  list.back().starts_group = true;
  list.push_back({"cancel",
                  "Cancel run",
                  "Stop the computation that goes on.",
                  Menu::Edit,
                  {},
                  [](State& s) { s.wishes.cancel_run = true; },
                  [](const State& s) { return s.busy_seconds > 0 || !s.view.pending.empty(); }});
}

}  // namespace attnscope::window
