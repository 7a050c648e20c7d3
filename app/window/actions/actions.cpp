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

std::string to_string(const Shortcut& shortcut) {
  return std::string(shortcut.control ? "Ctrl+" : "") + (shortcut.shift ? "Shift+" : "") +
         (shortcut.key == " " ? "Space" : shortcut.key) +
         (shortcut.presenting_only ? " while presenting" : "");
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

void run_shortcuts(State& state, std::vector<KeyStroke>& strokes, bool typing) {
  const auto has_key = [&](const Action& a, const KeyStroke& stroke, bool presenting_only) {
    return std::ranges::any_of(a.shortcuts, [&](const Shortcut& shortcut) {
      const bool is_function_key = shortcut.key.size() > 1 && shortcut.key[0] == 'F';
      return shortcut.presenting_only == presenting_only && shortcut.matches(stroke) &&
             (shortcut.control || is_function_key || !typing);
    });
  };
  // Blocks all keys but Ctrl+Q during the opening moves. Blocks letters that edit while a lesson is
  // presented, because they would change the lesson's run.
  const auto is_blocked = [&](const Action& a, const KeyStroke& stroke) {
    if (shows_tour(state)) return a.id != "quit";
    const bool is_lecture = state.presentation.is_on && state.lesson.lesson != nullptr;
    return is_lecture && a.menu == Menu::Edit && stroke.character != 0;
  };
  const auto run_first = [&](KeyStroke& stroke, bool presenting_only) {
    for (const Action& a : actions()) {
      if (!has_key(a, stroke, presenting_only)) continue;
      stroke.is_handled = true;
      if (is_blocked(a, stroke)) continue;
      if (!a.enabled(state) || (a.keys_enabled && !a.keys_enabled(state))) continue;
      a.run(state);
      return;
    }
  };
  for (KeyStroke& stroke : strokes) {
    if (!stroke.is_handled && state.presentation.is_on) run_first(stroke, true);
    if (!stroke.is_handled) run_first(stroke, false);
  }
}

}  // namespace attnscope::window
