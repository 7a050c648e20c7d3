// Actions of lessons, in the menu Help: steps (with the keys of presentation programs) and notes.
#include "app/window/actions/action_lists.h"
#include "app/window/lesson.h"

namespace attnscope::window {
namespace {

bool has_lesson(const State& s) {
  return s.lesson.lesson != nullptr;
}

Shortcut presenting(const char* key) {
  return {key, false, false, Shortcut::When::Presenting};
}

}  // namespace

void add_lesson_actions(std::vector<Action>& list) {
  list.push_back({"lessons",
                  "Lessons…",
                  "Choose a lesson: steps with text, pictures and checked claims.",
                  Menu::Help,
                  {{"L"}},
                  [](State& s) { s.dialogs.lessons.open = true; }});
  list.push_back({"lesson_on",
                  "Next step",
                  "Show the next step; after the last one, the next lesson.",
                  Menu::Help,
                  {{"Page Down"},
                   presenting("Right"),
                   presenting("N"),
                   // Space plays the view's animation where there is one.
                   {" ", false, false, Shortcut::When::PresentingLast}},
                  next_step,
                  has_next_step});
  list.back().keys_enabled = has_lesson;
  list.push_back({"lesson_back",
                  "Previous step",
                  "Show the previous step.",
                  Menu::Help,
                  {{"Page Up"}, presenting("Left"), presenting("Backspace")},
                  previous_step,
                  has_previous_step});
  list.back().keys_enabled = has_lesson;
  list.push_back({"lesson_first",
                  "First step",
                  "Show the first step.",
                  Menu::Help,
                  {{"Home"}},
                  [](State& s) { show_step(s, 0); },
                  [](const State& s) { return has_lesson(s) && s.lesson.step > 0; }});
  list.push_back({"lesson_last",
                  "Last step",
                  "Show the last step.",
                  Menu::Help,
                  {{"End"}},
                  [](State& s) { show_step(s, s.lesson.lesson->steps.size() - 1); },
                  [](const State& s) {
                    return has_lesson(s) && s.lesson.step + 1 < s.lesson.lesson->steps.size();
                  }});
  list.push_back(
      {"lesson_notes",
       "Speaker's notes",
       "Window for the speaker, on another monitor if possible: notes, the next step and a clock.",
       Menu::Help,
       {{"M", true}},
       [](State& s) { s.lesson.notes = !s.lesson.notes; },
       has_lesson,
       [](const State& s) { return s.lesson.notes; }});
  list.push_back({"lesson_clock",
                  "Restart the speaker's clock",
                  "Restart the clock from zero.",
                  Menu::Help,
                  {{"M", true, true}},
                  [](State& s) { s.lesson.clock_start = s.seconds; },
                  has_lesson});
  list.push_back({"lesson_leave",
                  "Leave the lesson",
                  "Return to your own text and settings.",
                  Menu::Help,
                  {},
                  leave_lesson,
                  has_lesson});
}

}  // namespace attnscope::window
