// Every command of the window, once: menus, keys, the palette and the list of keys all read it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/input.h"
#include "app/window/state.h"

namespace attnscope::window {

// A key with modifiers. Characters that are typed without Ctrl ("[", "?", "F") are known by what
// they are, not by where they lie, so that they work on any keyboard.
struct Shortcut {
  std::string key;  // "S", "[", "Tab", "F11"; empty: none
  bool control = false, shift = false;
  bool matches(const Stroke& stroke) const;
  bool operator==(const Shortcut&) const = default;
};
std::string to_string(const Shortcut& shortcut);  // "Ctrl+Shift+Z"

enum class Menu { File, Edit, View, Look, Help };
inline constexpr Menu kMenus[] = {Menu::File, Menu::Edit, Menu::View, Menu::Look, Menu::Help};
std::string_view to_string(Menu menu);

struct Action {
  std::string id;     // "export"
  std::string label;  // "Export picture…": as menus and the palette show it
  std::string help;   // one sentence
  Menu menu = Menu::File;
  std::vector<Shortcut> shortcuts;  // the first is shown
  std::function<void(State&)> run;
  std::function<bool(const State&)> enabled = [](const State&) { return true; };
  std::function<bool(const State&)> checked = {};  // where given: has a tick
  bool starts_group = false;                       // a line above it in the menu
  std::string view{};  // the view that has it as a button, too; empty: none
};

const std::vector<Action>& actions();
const Action& action(std::string_view id);  // must be there

// Runs what the strokes ask for and marks them taken. While text is being typed only keys with
// Ctrl and function keys count.
void run_shortcuts(State& state, std::vector<Stroke>& strokes, bool typing);

// Those whose label or help holds all words typed, in any case; best first.
std::vector<const Action*> matching_actions(std::string_view typed);

}  // namespace attnscope::window
