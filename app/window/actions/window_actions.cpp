// Actions of the menu Window, and of the menu Help except lessons.
#include <algorithm>

#include "app/window/actions/action_lists.h"
#include "app/window/files.h"
#include "core/base/memory_budget.h"

namespace attnscope::window {
namespace {

constexpr double kScaleStep = 1.1;

// Changes the window's scale or, while presenting, the presentation's zoom.
void change_scale(State& s, double factor) {
  if (s.presentation.is_on) {
    s.presentation.zoom =
        std::clamp(s.presentation.zoom * factor, kMinPresentationZoom, kMaxPresentationZoom);
  } else {
    s.settings.scale = std::clamp(s.scale * factor, kMinScale, kMaxScale);
  }
}

void add_presentation_actions(std::vector<Action>& list) {
  list.push_back(
      {"present",
       "Presentation",
       "Full screen with large type, no panels and a highlighted pointer; Escape ends it.",
       Menu::Window,
       {{"F5"}, {"F5", false, true}},
       [](State& s) { set_presenting(s, !s.presentation.is_on); },
       [](const State&) { return true; },
       [](const State& s) { return s.presentation.is_on; }});
  list.push_back({"present_end",
                  "End the presentation",
                  "End the black screen, or else the presentation.",
                  Menu::Window,
                  {{"Escape", false, false, Shortcut::When::Presenting}},
                  leave_presentation,
                  [](const State& s) { return s.presentation.is_on; }});
  list.back().in_menu = false;
  list.push_back({"black",
                  "Black screen",
                  "Blank the screen until this key is pressed again or the next step is shown.",
                  Menu::Window,
                  {{"B", false, false, Shortcut::When::Presenting}},
                  [](State& s) { s.presentation.is_black = !s.presentation.is_black; },
                  [](const State& s) { return s.presentation.is_on; },
                  [](const State& s) { return s.presentation.is_black; }});
  list.push_back(
      {"swap_screens",
       "Swap screens",
       "Exchange the monitors of the presentation and the speaker's window.",
       Menu::Window,
       {},
       [](State& s) { s.requests.swap_screens = true; },
       [](const State& s) { return s.presentation.is_on && s.presentation.monitors > 1; }});
  list.back().refusal = [](const State& s) {
    if (!s.presentation.is_on) return "Not presenting: F5 starts a presentation.";
    return s.presentation.monitors > 1 ? "" : "There is only one monitor.";
  };
}

void add_appearance_actions(std::vector<Action>& list) {
  list.push_back({"panels",
                  "Side panels",
                  "Show or hide everything except the picture.",
                  Menu::Window,
                  {{"Tab"}},
                  [](State& s) { s.settings.panels = !s.settings.panels; },
                  [](const State& s) { return !s.presentation.is_on; },
                  [](const State& s) { return s.settings.panels; }});
  list.back().refusal = [](const State& s) {
    return s.presentation.is_on ? "A presentation has no panels." : "";
  };
  list.push_back({"simple",
                  "Simple controls",
                  "Show only text, model, attention, position and view, and settings that differ "
                  "from their defaults; unticked: full controls.",
                  Menu::View,
                  {{"L", true}},
                  [](State& s) { s.settings.simple = !s.settings.simple; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.settings.simple; }});
  list.push_back({"reading",
                  "About this view",
                  "Explain the view and its terms on the right.",
                  Menu::Window,
                  {},
                  [](State& s) { s.settings.reading = !s.settings.reading; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.settings.reading; }});
  list.push_back({"full_screen",
                  "Full screen",
                  "Switch between full screen and window.",
                  Menu::Window,
                  {{"F11"}},
                  [](State& s) { s.requests.full_screen = true; }});
  list.push_back({"dark",
                  "Dark theme",
                  "Switch between light text on dark and dark text on light.",
                  Menu::Window,
                  {{"D", true}},
                  [](State& s) { s.settings.dark = !s.settings.dark; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.settings.dark; }});
}

void add_size_actions(std::vector<Action>& list) {
  list.push_back({"larger",
                  "Larger",
                  "Make everything larger.",
                  Menu::Window,
                  {{"+", true}, {"=", true}},
                  [](State& s) { change_scale(s, kScaleStep); },
                  [](const State& s) {
                    return s.presentation.is_on ? s.presentation.zoom < kMaxPresentationZoom
                                                : s.scale < kMaxScale;
                  }});
  list.back().starts_group = true;
  list.push_back({"smaller",
                  "Smaller",
                  "Make everything smaller.",
                  Menu::Window,
                  {{"-", true}},
                  [](State& s) { change_scale(s, 1 / kScaleStep); },
                  [](const State& s) {
                    return s.presentation.is_on ? s.presentation.zoom > kMinPresentationZoom
                                                : s.scale > kMinScale;
                  }});
  list.push_back({"normal_size",
                  "Normal size",
                  "Use the monitor's scale; while presenting, fit the monitor's height.",
                  Menu::Window,
                  {{"0", true, true}},
                  [](State& s) {
                    if (s.presentation.is_on) {
                      s.presentation.zoom = 1;
                    } else {
                      s.settings.scale = 0;
                    }
                  },
                  [](const State& s) {
                    return s.presentation.is_on ? s.presentation.zoom != 1 : s.settings.scale != 0;
                  }});
}

void add_motion_action(std::vector<Action>& list) {
  list.push_back({"reduced_motion",
                  "Reduced motion",
                  "Change pictures immediately, without fading.",
                  Menu::Window,
                  {},
                  [](State& s) { s.settings.reduced_motion = !s.settings.reduced_motion; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.settings.reduced_motion; }});
  list.back().starts_group = true;
}

void add_memory_actions(std::vector<Action>& list) {
  for (const double megabytes : {0.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0}) {
    const double bytes =
        megabytes > 0 ? megabytes * 1048576 : static_cast<double>(default_memory_budget());
    list.push_back(
        {"memory_" + std::to_string(static_cast<int>(megabytes)),
         "Memory: " + memory_text(bytes) + (megabytes > 0 ? "" : " (default)"),
         "Runs that need more memory are refused at the start, with a suggestion that fits.",
         Menu::Window,
         {},
         [megabytes](State& s) { s.settings.memory = megabytes; },
         [](const State&) { return true; },
         [megabytes](const State& s) { return s.settings.memory == megabytes; }});
    list.back().starts_group = megabytes == 0;
  }
}

}  // namespace

void add_window_actions(std::vector<Action>& list) {
  add_presentation_actions(list);
  add_appearance_actions(list);
  add_size_actions(list);
  add_motion_action(list);
  add_memory_actions(list);
}

void add_help_actions(std::vector<Action>& list) {
  list.push_back({"palette",
                  "All commands…",
                  "Find a command, variant, encoding, model, lesson or sample by its name.",
                  Menu::Help,
                  {{"P", true}, {"K", true}},
                  [](State& s) {
                    s.dialogs.palette = {};
                    s.dialogs.palette.open = true;
                  }});
  list.back().starts_group = true;
  list.push_back({"documentation",
                  "Documentation…",
                  "Guides, methods, specification and glossary.",
                  Menu::Help,
                  {},
                  [](State& s) { s.dialogs.documentation.open = true; }});
  list.push_back({"tour",
                  "Opening moves",
                  "Animate one token's path through a head, with cards for three things to try.",
                  Menu::Help,
                  {},
                  start_tour,
                  [](const State& s) { return tour_refusal(s).empty(); }});
  list.back().refusal = tour_refusal;
  list.push_back({"keys",
                  "Keys and gestures",
                  "List shortcuts and mouse gestures.",
                  Menu::Help,
                  {{"?"}, {"F1"}},
                  [](State& s) { s.dialogs.help_open = !s.dialogs.help_open; }});
  list.push_back({"about",
                  "About attnscope",
                  "Purpose and sources of this program.",
                  Menu::Help,
                  {},
                  [](State& s) { s.dialogs.about_open = true; }});
}

}  // namespace attnscope::window
