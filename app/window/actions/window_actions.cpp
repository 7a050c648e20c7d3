// The commands of the menu Window, and of the menu Help but for lessons.
#include <algorithm>

#include "app/window/actions/action_lists.h"
#include "app/window/files.h"
#include "core/base/memory_budget.h"

namespace attnscope::window {

namespace {

constexpr double kScaleStep = 1.1;

// On stage it is the stage's that changes.
void change_scale(State& s, double factor) {
  if (s.presenting) {
    s.stage_zoom = std::clamp(s.stage_zoom * factor, kLeastStageZoom, kMostStageZoom);
  } else {
    s.settings.scale = std::clamp(s.scale * factor, kLeastScale, kMostScale);
  }
}

}  // namespace

void add_look_actions(std::vector<Action>& list) {
  list.push_back({"present",
                  "Presentation",
                  "The whole screen, large type, no panels, the pointer high-lighted; Escape ends "
                  "it.",
                  Menu::Look,
                  {{"F5"}, {"F5", false, true}},
                  [](State& s) { set_presenting(s, !s.presenting); },
                  [](const State&) { return true; },
                  [](const State& s) { return s.presenting; }});
  list.push_back({"black",
                  "Black screen",
                  "Nothing to look at but the speaker, until the same key or the next step.",
                  Menu::Look,
                  {{"B", false, false, true}},
                  [](State& s) { s.black = !s.black; },
                  [](const State& s) { return s.presenting; },
                  [](const State& s) { return s.black; }});
  list.push_back({"swap_screens",
                  "Swap screens",
                  "The stage on the monitor of the speaker's window, and the reverse.",
                  Menu::Look,
                  {},
                  [](State& s) { s.wishes.swap_screens = true; },
                  [](const State& s) { return s.presenting && s.monitors > 1; }});
  list.back().refusal = [](const State& s) {
    if (!s.presenting) return "There is no stage: F5 enters it.";
    return s.monitors > 1 ? "" : "There is one monitor.";
  };
  list.push_back({"panels",
                  "Side panels",
                  "Show or hide everything but the picture.",
                  Menu::Look,
                  {{"Tab"}},
                  [](State& s) { s.settings.panels = !s.settings.panels; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.settings.panels; }});
  list.push_back({"reading",
                  "What you see here",
                  "Say on the right how the view is to be read, and what its terms mean.",
                  Menu::Look,
                  {},
                  [](State& s) { s.settings.reading = !s.settings.reading; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.settings.reading; }});
  list.push_back({"full_screen",
                  "Full screen",
                  "Use the whole screen, or a window again.",
                  Menu::Look,
                  {{"F11"}},
                  [](State& s) { s.wishes.full_screen = true; }});
  list.push_back({"dark",
                  "Dark theme",
                  "Light letters on a dark ground, or the reverse.",
                  Menu::Look,
                  {{"D", true}},
                  [](State& s) { s.settings.dark = !s.settings.dark; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.settings.dark; }});
  list.push_back({"larger",
                  "Larger",
                  "Make everything larger, for the last row.",
                  Menu::Look,
                  {{"+", true}, {"=", true}},
                  [](State& s) { change_scale(s, kScaleStep); },
                  [](const State& s) {
                    return s.presenting ? s.stage_zoom < kMostStageZoom : s.scale < kMostScale;
                  }});
  list.back().starts_group = true;
  list.push_back({"smaller",
                  "Smaller",
                  "Make everything smaller.",
                  Menu::Look,
                  {{"-", true}},
                  [](State& s) { change_scale(s, 1 / kScaleStep); },
                  [](const State& s) {
                    return s.presenting ? s.stage_zoom > kLeastStageZoom : s.scale > kLeastScale;
                  }});
  list.push_back(
      {"normal_size",
       "Normal size",
       "As large as the monitor, or on stage its height, asks for.",
       Menu::Look,
       {{"0", true, true}},
       [](State& s) {
         if (s.presenting) {
           s.stage_zoom = 1;
         } else {
           s.settings.scale = 0;
         }
       },
       [](const State& s) { return s.presenting ? s.stage_zoom != 1 : s.settings.scale != 0; }});
  list.push_back({"reduced_motion",
                  "Reduced motion",
                  "Pictures change at once; nothing fades.",
                  Menu::Look,
                  {},
                  [](State& s) { s.settings.reduced_motion = !s.settings.reduced_motion; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.settings.reduced_motion; }});
  list.back().starts_group = true;
  for (const double megabytes : {0.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0}) {
    const double bytes =
        megabytes > 0 ? megabytes * 1048576 : static_cast<double>(default_memory_budget());
    list.push_back(
        {"memory_" + std::to_string(static_cast<int>(megabytes)),
         "Memory: " + memory_text(bytes) + (megabytes > 0 ? "" : " (what is usual here)"),
         "Runs that need more than that are refused before they begin, and say what "
         "would fit.",
         Menu::Look,
         {},
         [megabytes](State& s) { s.settings.memory = megabytes; },
         [](const State&) { return true; },
         [megabytes](const State& s) { return s.settings.memory == megabytes; }});
    list.back().starts_group = megabytes == 0;
  }
}

void add_help_actions(std::vector<Action>& list) {
  list.push_back({"palette",
                  "All commands…",
                  "Find a command by its name.",
                  Menu::Help,
                  {{"P", true}},
                  [](State& s) { s.palette = {.open = true, .typed = "", .chosen = 0}; }});
  list.back().starts_group = true;
  list.push_back(
      {"tour", "Tour of the window", "The five places to know.", Menu::Help, {}, [](State& s) {
         s.settings.panels = true;
         set_presenting(s, false);
         s.tour_stop = 0;
       }});
  list.push_back(
      {"keys", "Keys and gestures", "The list of keys.", Menu::Help, {{"?"}, {"F1"}}, [](State& s) {
         s.help_open = !s.help_open;
       }});
  list.push_back({"about",
                  "About attnscope",
                  "What this program is and whose work it shows.",
                  Menu::Help,
                  {},
                  [](State& s) { s.about_open = true; }});
}

}  // namespace attnscope::window
