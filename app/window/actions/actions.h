// Every command of the window, once: menus, keys, the palette and the list of keys all read it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/input.h"
#include "app/window/state.h"
#include "core/figure/colour_map.h"

namespace attnscope::window {

// A key with modifiers. Characters that are typed without Ctrl ("[", "?", "F") are known by what
// they are, not by where they lie, so that they work on any keyboard.
struct Shortcut {
  std::string key;  // "S", "[", "Tab", "F11"; empty: none
  bool control = false, shift = false;
  bool on_stage = false;  // means this while presenting alone, and there before anything else
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
  // Why it is not enabled, where that is not plain to see; empty: no words.
  std::function<std::string(const State&)> refusal{};
  std::string view{};  // the view that has it as a button, too; empty: none
  std::function<bool(const State&)> offered{};  // whether it has it now; empty: always
};

const std::vector<Action>& actions();
const Action& action(std::string_view id);  // must be there

// Its help, and why it cannot be chosen now.
std::string help_of(const Action& action, const State& state);

// Why a view has nothing to say about the run that is shown; empty: it has, or nothing ran yet.
std::string objection_of(const View& view, const State& state);

// The colour maps that make a difference in a view with these controls.
std::vector<const ColourMap*> offered_maps(const ViewControls& controls);
// The one that it shows where `chosen` is chosen.
const ColourMap& shown_map(const ViewControls& controls, std::string_view chosen);

// Runs what the strokes ask for and marks them taken. While text is being typed only keys with
// Ctrl and function keys count.
void run_shortcuts(State& state, std::vector<Stroke>& strokes, bool typing);

// Those whose label or help holds all words typed, in any case; best first.
std::vector<const Action*> matching_actions(std::string_view typed);

}  // namespace attnscope::window
