// Table of the window's actions: source of menus, shortcuts, the palette and the list of keys.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/input.h"
#include "app/window/state.h"
#include "core/figure/colour_map.h"

namespace attnscope::window {

// A key with modifiers. Characters typed without Ctrl ("[", "?", "F") are matched by character
// rather than by key position, so that they work on any keyboard layout.
struct Shortcut {
  std::string key;  // "S", "[", "Tab", "F11"; empty: no key
  bool control = false, shift = false;
  // Presenting: only while presenting, before other actions. PresentingLast: after them.
  enum class When { Always, Presenting, PresentingLast };
  When when = When::Always;
  bool matches(const KeyStroke& stroke) const;
  bool operator==(const Shortcut&) const = default;
};
std::string to_string(const Shortcut& shortcut);  // "Ctrl+Shift+Z", "Right while presenting"
std::string key_name(const Shortcut& shortcut);   // "Ctrl+Shift+Z", "Right"

enum class Menu { File, Edit, View, Window, Help };
inline constexpr Menu kMenus[] = {Menu::File, Menu::Edit, Menu::View, Menu::Window, Menu::Help};
std::string_view to_string(Menu menu);

struct Action {
  std::string id;     // "export"
  std::string label;  // "Export picture…", for menus and the palette
  std::string help;   // one sentence
  Menu menu = Menu::File;
  std::vector<Shortcut> shortcuts;  // menus show the first shortcut
  std::function<void(State&)> run;
  std::function<bool(const State&)> enabled = [](const State&) { return true; };
  std::function<bool(const State&)> checked = {};  // if present, the action has a tick
  bool starts_group = false;                       // the menu draws a separator above it
  // Reason why the action is disabled or has no effect; empty: none given.
  std::function<std::string(const State&)> refusal{};
  // Additional condition for the shortcuts. If false, their keys can run other actions; if true, a
  // presentation key runs no other action, even while this one is disabled.
  std::function<bool(const State&)> keys_enabled{};
  std::function<bool(const State&)> is_listed{};  // if present and false: no menu, no palette
  bool in_menu = true;                            // false: run by shortcuts and the palette only
  std::string view{};  // id of the view with a button for the action; empty: none
  std::function<bool(const State&)> has_button{};  // condition for the button; empty: always shown
};

// Number of views with a tab and a digit key: the first views().
inline constexpr std::size_t kTabs = 9;

const std::vector<Action>& actions();
const Action& action(std::string_view id);  // throws logic_error if unknown
std::string key_for(HintAction hinted);     // shortcut of the action: "N"

// Help text, followed by the action's refusal if there is one.
std::string help_text(const Action& action, const State& state);

// Reason why the view has no content for the shown run; empty: it has content, or there is no run.
std::string view_objection(const View& view, const State& state);

// Colour maps with an effect in a view with these controls.
std::vector<const ColourMap*> applicable_maps(const ViewControls& controls);
// The map that a view with these controls uses if `chosen` is the selected map.
const ColourMap& effective_map(const ViewControls& controls, std::string_view chosen);

// Runs the actions of key strokes and marks them as handled. If actions share a key (Escape), the
// first enabled one runs. While typing, only function keys and keys with Ctrl run actions. During
// the opening moves, only Ctrl+Q runs an action. While a lesson is presented, letters do not run
// actions that edit.
void run_shortcuts(State& state, std::vector<KeyStroke>& strokes, bool typing);

}  // namespace attnscope::window
