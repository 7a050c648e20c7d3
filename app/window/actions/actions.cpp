#include "app/window/actions/actions.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "app/window/actions/action_lists.h"
#include "core/base/lower_case.h"

namespace attnscope::window {
namespace {

bool is_same_letter(char32_t typed, const std::string& key) {
  if (key.size() != 1) return false;
  if (typed > 0x7F) return false;
  return lower_case(static_cast<char>(typed)) == lower_case(key[0]);
}

}  // namespace

bool Shortcut::matches(const KeyStroke& stroke) const {
  if (key.size() == 1 && !control) return is_same_letter(stroke.character, key);
  if (stroke.character != 0 || stroke.control != control || stroke.alt) return false;
  // Ignores Shift for symbols: most keyboards need it to type "+".
  const bool shift_matters = key.size() > 1 || std::isalnum(static_cast<unsigned char>(key[0]));
  if (shift_matters && stroke.shift != shift) return false;
  return lower_case(stroke.key) == lower_case(key);
}

std::string key_name(const Shortcut& shortcut) {
  return std::string(shortcut.control ? "Ctrl+" : "") + (shortcut.shift ? "Shift+" : "") +
         (shortcut.key == " " ? "Space" : shortcut.key);
}

std::string to_string(const Shortcut& shortcut) {
  const bool always = shortcut.when == Shortcut::When::Always;
  return key_name(shortcut) + (always ? "" : " while presenting");
}

std::string_view to_string(Menu menu) {
  switch (menu) {
    case Menu::File:
      return "File";
    case Menu::Edit:
      return "Edit";
    case Menu::View:
      return "View";
    case Menu::Window:
      return "Window";
    case Menu::Help:
      return "Help";
  }
  return "";
}

const std::vector<Action>& actions() {
  static const std::vector<Action> list = [] {
    std::vector<Action> table;
    add_stop_generating_action(table);  // before all other uses of Escape
    add_file_actions(table);
    add_autosave_actions(table);
    add_edit_actions(table);
    add_draw_actions(table);
    add_next_actions(table);
    add_compare_actions(table);
    add_intervene_actions(table);
    add_head_actions(table);
    add_view_actions(table);
    add_window_actions(table);
    add_lesson_actions(table);
    add_help_actions(table);
    add_quit_action(table);  // last in its menu
    return table;
  }();
  return list;
}

const Action& action(std::string_view id) {
  const auto found = std::find_if(actions().begin(), actions().end(),
                                  [id](const Action& a) { return a.id == id; });
  if (found == actions().end()) throw std::logic_error("no action " + std::string(id));
  return *found;
}

std::string key_for(HintAction hinted) {
  constexpr const char* kIds[] = {"colour_end", "play", "step_back", "step_on"};
  return to_string(action(kIds[static_cast<std::size_t>(hinted)]).shortcuts.front());
}

std::string help_text(const Action& action, const State& state) {
  const std::string reason = action.refusal ? action.refusal(state) : "";
  return action.help + (reason.empty() ? "" : "\n" + reason);
}

std::string view_objection(const View& view, const State& state) {
  if (state.run.trace == nullptr || state.run.trace->tokens.empty()) return "";
  return view.objection(*state.pictured_trace());
}

std::vector<const ColourMap*> applicable_maps(const ViewControls& controls) {
  using Colours = ViewControls::Colours;
  std::vector<const ColourMap*> maps;
  if (controls.colours == Colours::None) return maps;
  for (const ColourMap& map : colour_maps()) {
    if (controls.colours == Colours::All || !map.diverging()) maps.push_back(&map);
  }
  return maps;
}

const ColourMap& effective_map(const ViewControls& controls, std::string_view chosen) {
  const ColourMap& map = colour_map(chosen);
  const bool is_replaced = controls.colours == ViewControls::Colours::Sequential && map.diverging();
  return is_replaced ? colour_maps().front() : map;
}

namespace {

// True if the action has a shortcut for `when` that matches the stroke.
bool has_key(const Action& action, const KeyStroke& stroke, Shortcut::When when, bool typing) {
  return std::ranges::any_of(action.shortcuts, [&](const Shortcut& shortcut) {
    const bool is_function_key = shortcut.key.size() > 1 && shortcut.key[0] == 'F';
    return shortcut.when == when && shortcut.matches(stroke) &&
           (shortcut.control || is_function_key || !typing);
  });
}

// Blocks all keys but Ctrl+Q during the opening moves. Blocks letters that edit while a lesson is
// presented, because they would change the lesson's run.
bool is_blocked(const Action& action, const KeyStroke& stroke, const State& state) {
  if (shows_tour(state)) return action.id != "quit";
  const bool is_lecture = state.presentation.is_on && state.lesson.lesson != nullptr;
  return is_lecture && action.menu == Menu::Edit && stroke.character != 0;
}

// Runs the first enabled action with this key. Returns true if no further action may use the key.
bool run_first(State& state, KeyStroke& stroke, Shortcut::When when, bool typing) {
  bool is_reserved = false;
  for (const Action& action : actions()) {
    if (!has_key(action, stroke, when, typing)) continue;
    if (when == Shortcut::When::Always) stroke.is_handled = true;
    if (is_blocked(action, stroke, state)) continue;
    if (action.keys_enabled && !action.keys_enabled(state)) continue;
    is_reserved |= when == Shortcut::When::Presenting;
    if (!action.enabled(state)) continue;
    stroke.is_handled = true;
    action.run(state);
    return true;
  }
  stroke.is_handled |= is_reserved;
  return is_reserved;
}

}  // namespace

namespace {

void run_shortcut(State& state, KeyStroke& stroke, bool typing) {
  using When = Shortcut::When;
  const bool is_presenting = state.presentation.is_on;
  if (is_presenting && run_first(state, stroke, When::Presenting, typing)) return;
  if (run_first(state, stroke, When::Always, typing) || !is_presenting) return;
  run_first(state, stroke, When::PresentingLast, typing);
}

// After a shortcut of other programs, such as Ctrl+F, users type a word, whose letters must not run
// commands.
bool is_ignored_letter(State& state, const KeyStroke& stroke) {
  constexpr double kTypingPause = 1;  // seconds
  if (stroke.character == 0 || state.seconds >= state.ignores_letters_until) return false;
  state.ignores_letters_until = state.seconds + kTypingPause;
  return true;
}

void report_unknown_command(State& state, const KeyStroke& stroke) {
  constexpr double kFirstPause = 2;  // seconds until the first letter
  const bool is_command =
      stroke.control && !stroke.alt && stroke.character == 0 && stroke.key.size() == 1;
  if (!is_command || stroke.is_handled) return;
  state.ignores_letters_until = state.seconds + kFirstPause;
  const int letter = std::toupper(static_cast<unsigned char>(stroke.key[0]));
  const std::string key = key_name({std::string(1, static_cast<char>(letter)), true, stroke.shift});
  state.notify(key + " has no function here; " + to_string(action("palette").shortcuts.front()) +
               " lists all commands.");
}

}  // namespace

void run_shortcuts(State& state, std::vector<KeyStroke>& strokes, bool typing) {
  for (KeyStroke& stroke : strokes) {
    if (stroke.is_handled || (!typing && is_ignored_letter(state, stroke))) continue;
    run_shortcut(state, stroke, typing);
    if (!shows_tour(state)) report_unknown_command(state, stroke);
  }
}

}  // namespace attnscope::window
