// The commands of the menus File and Edit.
#include "app/window/actions/action_lists.h"
#include "app/window/files.h"
#include "app/window/surprise.h"
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

// A name alone is put where the last picture went.
void begin_in_last_folder(State& s) {
  std::error_code failed;
  const std::filesystem::path path(s.exporting.path);
  const std::filesystem::path folder(s.settings.export_folder);
  if (path.has_parent_path() || folder.empty()) return;
  if (std::filesystem::is_directory(folder, failed)) s.exporting.path = (folder / path).string();
}

void start_afresh(State& s) {
  if (s.lesson.lesson != nullptr) leave_lesson(s);
  Experiment fresh;
  if (!samples().empty()) read_sample(fresh, samples().front());
  set_experiment(s, fresh);
  s.fresh = fresh;
  s.session.clear();
  s.scope = ChoiceScope::All;
  if (s.trace != nullptr && same_run(s.shown, fresh)) {  // it is there already
    s.fresh.reset();
    open_striking(s);
  }
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
  list.push_back(
      {"afresh",
       "Start afresh",
       "The first sample and the default model again, where something memorable happens, "
       "as at the first start; Ctrl+Z takes it back.",
       Menu::File,
       {{"N", true}},
       start_afresh});
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
         begin_in_last_folder(s);
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
}

void add_quit_action(std::vector<Action>& list) {
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
                  "Stop the computation that goes on; so does Escape.",
                  Menu::Edit,
                  {},
                  [](State& s) { s.wishes.cancel_run = true; },
                  [](const State& s) { return s.busy_seconds > 0 || !s.view.pending.empty(); }});
}

}  // namespace attnscope::window
