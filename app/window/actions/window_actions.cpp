// The commands of the menus Window and Help: looks, lessons, help.
#include <algorithm>

#include "app/window/actions/action_lists.h"
#include "app/window/files.h"

namespace attnscope::window {

namespace {

constexpr double kScaleStep = 1.1;

void set_scale(State& s, double scale) {
  s.settings.scale = std::clamp(scale, kLeastScale, kMostScale);
}

bool has_lesson(const State& s) {
  return s.lesson.lesson != nullptr;
}

}  // namespace

void add_look_actions(std::vector<Action>& list) {
  list.push_back({"present",
                  "Presentation",
                  "Large type, panels hidden, the pointer high-lighted; Escape ends it.",
                  Menu::Look,
                  {{"F5"}},
                  [](State& s) { s.presenting = !s.presenting; },
                  [](const State&) { return true; },
                  [](const State& s) { return s.presenting; }});
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
                  [](State& s) { set_scale(s, s.scale * kScaleStep); },
                  [](const State& s) { return s.scale < kMostScale; }});
  list.back().starts_group = true;
  list.push_back({"smaller",
                  "Smaller",
                  "Make everything smaller.",
                  Menu::Look,
                  {{"-", true}},
                  [](State& s) { set_scale(s, s.scale / kScaleStep); },
                  [](const State& s) { return s.scale > kLeastScale; }});
  list.push_back({"normal_size",
                  "Normal size",
                  "As large as the monitor asks for.",
                  Menu::Look,
                  {{"0", true, true}},
                  [](State& s) { s.settings.scale = 0; },
                  [](const State& s) { return s.settings.scale != 0; }});
}

void add_lesson_actions(std::vector<Action>& list) {
  list.push_back({"lessons",
                  "Lessons…",
                  "Choose a lesson: steps with words, pictures and measured claims.",
                  Menu::Help,
                  {{"L"}},
                  [](State& s) { s.lesson.list_open = true; }});
  list.push_back({"lesson_on",
                  "Next step",
                  "The lesson's next step.",
                  Menu::Help,
                  {{"Page Down"}},
                  [](State& s) { show_step(s, s.lesson.step + 1); },
                  [](const State& s) {
                    return has_lesson(s) && s.lesson.step + 1 < s.lesson.lesson->steps.size();
                  }});
  list.push_back({"lesson_back",
                  "Step before",
                  "The lesson's step before this one.",
                  Menu::Help,
                  {{"Page Up"}},
                  [](State& s) { show_step(s, s.lesson.step - 1); },
                  [](const State& s) { return has_lesson(s) && s.lesson.step > 0; }});
  list.push_back({"lesson_notes",
                  "Speaker's notes",
                  "Show what the speaker may say.",
                  Menu::Help,
                  {{"M", true}},
                  [](State& s) { s.lesson.notes = !s.lesson.notes; },
                  has_lesson,
                  [](const State& s) { return s.lesson.notes; }});
  list.push_back({"lesson_leave",
                  "Leave the lesson",
                  "Go back to your own text and settings.",
                  Menu::Help,
                  {},
                  leave_lesson,
                  has_lesson});
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
         s.presenting = false;
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
