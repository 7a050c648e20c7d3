#include "app/window/actions/actions.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

KeyStroke character(char32_t c) {
  return {"", c};
}
KeyStroke key(const std::string& name, bool control = false, bool shift = false) {
  return {name, 0, control, shift};
}

TEST(Actions, HaveUniqueNamesAndHelp) {
  std::set<std::string> ids, labels;
  for (const Action& a : actions()) {
    EXPECT_TRUE(ids.insert(a.id).second) << a.id;
    EXPECT_TRUE(labels.insert(a.label).second) << a.label;
    EXPECT_FALSE(a.help.empty()) << a.id;
    EXPECT_EQ(a.help.back(), '.') << a.id;
    EXPECT_TRUE(a.run) << a.id;
    EXPECT_TRUE(a.enabled) << a.id;
  }
}

TEST(Actions, HaveUniqueKeys) {
  std::set<std::string> keys;
  for (const Action& a : actions()) {
    for (const Shortcut& s : a.shortcuts) {
      if (s.key == "Escape") continue;  // runs the first enabled action
      EXPECT_TRUE(keys.insert(to_string(s)).second) << to_string(s) << " of " << a.id;
    }
  }
}

TEST(Actions, KeyStrokeRunsAtMostOne) {
  std::vector<KeyStroke> strokes;
  for (char32_t c = U' '; c < 0x7F; ++c) strokes.push_back(character(c));
  for (char c = 'a'; c <= 'z'; ++c) {
    for (const bool shift : {false, true}) strokes.push_back(key(std::string(1, c), true, shift));
  }
  for (const char* name : {"Tab", "F1", "F11", "0", "1", "9", "=", "-", "+"}) {
    for (const bool control : {false, true}) strokes.push_back(key(name, control));
    strokes.push_back(key(name, true, true));
  }
  for (const KeyStroke& stroke : strokes) {
    std::map<Shortcut::When, int> counts;
    for (const Action& a : actions()) {
      for (const Shortcut& s : a.shortcuts) {
        if (s.matches(stroke)) ++counts[s.when];
      }
    }
    for (const auto& [when, count] : counts) {
      EXPECT_LE(count, 1) << stroke.key << static_cast<int>(stroke.character);
    }
  }
}

// The letters of a word typed after Ctrl+F, a key of other programs, run no commands.
TEST(Actions, IgnoreWordAfterUnknownCtrlKey) {
  State state;
  const auto press = [&](std::vector<KeyStroke> strokes) { run_shortcuts(state, strokes, false); };
  const std::string view = state.session->view.id;
  press({key("f", true)});
  ASSERT_FALSE(state.notices.empty());
  EXPECT_NE(state.notices.back().text.find("Ctrl+F"), std::string::npos);
  state.seconds += 0.5;
  press({character(U'2')});
  state.seconds += 0.5;
  press({character(U'2')});
  EXPECT_EQ(state.session->view.id, view);
  state.seconds += 3;
  press({character(U'2')});
  EXPECT_EQ(state.session->view.id, "grid");
}

// While presenting, B blanks the screen, as in presentation programs. Otherwise, B runs another
// action.
TEST(Actions, KeyBBlanksScreenWhilePresenting) {
  State state;
  const auto press_b = [&] {
    std::vector<KeyStroke> strokes = {character(U'b')};
    run_shortcuts(state, strokes, false);
    EXPECT_TRUE(strokes.front().is_handled);
  };
  press_b();
  EXPECT_FALSE(state.presentation.is_black);
  set_presenting(state, true);
  press_b();
  EXPECT_TRUE(state.presentation.is_black);
  EXPECT_FALSE(state.session->b.has_value());
  press_b();
  EXPECT_FALSE(state.presentation.is_black);
  press_b();
  set_presenting(state, false);
  EXPECT_FALSE(state.presentation.is_black);
}

TEST(Actions, EscapeRunsFirstEnabledAction) {
  State state;
  const auto press_escape = [&] {
    std::vector<KeyStroke> strokes = {key("Escape")};
    run_shortcuts(state, strokes, false);
  };
  state.session.edit().view.pinned_query = 1;
  state.run.busy_seconds = 2 * kLongRunSeconds;
  set_presenting(state, true);
  state.presentation.is_black = true;
  press_escape();
  EXPECT_FALSE(state.presentation.is_black);
  EXPECT_TRUE(state.presentation.is_on);
  press_escape();
  EXPECT_FALSE(state.presentation.is_on);
  EXPECT_FALSE(state.requests.cancel_run);
  press_escape();
  EXPECT_TRUE(state.requests.cancel_run);
  EXPECT_EQ(state.session->view.pinned_query, 1);
  state.run.busy_seconds = kLongRunSeconds / 2;
  press_escape();
  EXPECT_EQ(state.session->view.pinned_query, -1);
}

TEST(Actions, EscapeStopsGeneratingBeforeAnythingElse) {
  for (const bool presenting : {false, true}) {
    State state;
    set_presenting(state, presenting);
    state.run.is_generating = true;
    state.run.busy_seconds = 2 * kLongRunSeconds;
    state.session.edit().view.pinned_query = 1;
    std::vector<KeyStroke> strokes = {key("Escape")};
    run_shortcuts(state, strokes, false);
    EXPECT_FALSE(state.run.is_generating);
    EXPECT_FALSE(state.requests.cancel_run);
    EXPECT_EQ(state.presentation.is_on, presenting);
    EXPECT_EQ(state.session->view.pinned_query, 1);
  }
}

TEST(Actions, GeneratingTakesKeysFromTheText) {
  State state;
  state.text.is_focused = true;
  action("next_run").run(state);
  EXPECT_TRUE(state.run.is_generating);
  EXPECT_FALSE(state.text.is_focused);
}

TEST(Actions, PresentationHasItsOwnTextSize) {
  State state;
  state.scale = 2;
  set_presenting(state, true);
  action("larger").run(state);
  EXPECT_GT(state.presentation.zoom, 1);
  EXPECT_EQ(state.settings.scale, 0);
  action("normal_size").run(state);
  EXPECT_EQ(state.presentation.zoom, 1);
  set_presenting(state, false);
  action("smaller").run(state);
  EXPECT_EQ(state.presentation.zoom, 1);
  EXPECT_LT(state.settings.scale, 2);
}

// The keys of presentation programs go through a lesson's steps on stage, and only there.
TEST(Actions, KeysOfPresentationProgramsStepThroughLesson) {
  State state;
  Lesson lesson;
  lesson.id = "none after it";
  lesson.steps.resize(4);
  for (LessonStep& step : lesson.steps) step.session.view.id = "flow";
  lesson.steps[2].session.view.id = "map";  // without an animation
  start_lesson(state, lesson);
  state.run.trace = std::make_shared<const Trace>();
  const auto press = [&](const KeyStroke& stroke) {
    std::vector<KeyStroke> strokes = {stroke};
    run_shortcuts(state, strokes, false);
    EXPECT_TRUE(strokes.front().is_handled);
    return state.lesson.step;
  };
  EXPECT_EQ(press(key("Right")), 0U);  // steps through Flow
  set_presenting(state, true);
  EXPECT_EQ(press(key("Right")), 1U);
  EXPECT_EQ(press(character(U'n')), 2U);
  EXPECT_EQ(press(character(U' ')), 3U);
  const Session last = *state.session;
  EXPECT_EQ(press(key("Right")), 3U);  // neither a further step nor one of Flow
  EXPECT_EQ(*state.session, last);
  EXPECT_EQ(press(key("Left")), 2U);
  EXPECT_EQ(press(key("Backspace")), 1U);
  EXPECT_EQ(press(character(U' ')), 1U);  // plays the animation
  EXPECT_TRUE(state.view.play.is_on);
}

TEST(Actions, ArrowsStepAnimationOfPresentationWithoutLesson) {
  State state;
  state.session.edit().view.id = "flow";
  state.run.trace = std::make_shared<const Trace>();
  set_presenting(state, true);
  std::vector<KeyStroke> strokes = {key("Left")};
  const Session before = *state.session;
  run_shortcuts(state, strokes, false);
  EXPECT_NE(*state.session, before);
}

// On stage, a letter pressed by accident must not change the lesson's text or settings.
TEST(Actions, LettersDoNotEditLessonOnStage) {
  State state;
  Lesson lesson;
  lesson.steps.resize(1);
  lesson.steps[0].session.run.text = "the lesson";
  start_lesson(state, lesson);
  set_presenting(state, true);
  state.run.trace = std::make_shared<const Trace>();
  const Session before = *state.session;
  for (const char32_t letter : U"swxmpik") {
    std::vector<KeyStroke> strokes = {character(letter)};
    run_shortcuts(state, strokes, false);
  }
  EXPECT_EQ(*state.session, before);
  EXPECT_FALSE(state.run.is_generating);
  EXPECT_FALSE(state.dialogs.open());
  set_presenting(state, false);
  std::vector<KeyStroke> strokes = {character(U'k')};
  run_shortcuts(state, strokes, false);
  EXPECT_TRUE(state.dialogs.cost.open);
}

TEST(Actions, TabsHaveDigitKeys) {
  for (std::size_t n = 0; n < kTabs; ++n) {
    EXPECT_EQ(to_string(action("view." + views()[n].id).shortcuts.front()), std::to_string(n + 1));
  }
}

TEST(Actions, EveryViewHasAKey) {
  for (const View& v : views()) EXPECT_FALSE(action("view." + v.id).shortcuts.empty()) << v.id;
  EXPECT_EQ(to_string(action("view." + views()[9].id).shortcuts.front()), "Ctrl+1");
  EXPECT_EQ(to_string(action("view." + views()[18].id).shortcuts.front()), "Ctrl+Shift+1");
}

TEST(Actions, IncludeConventionalKeys) {
  const auto action_of = [](const KeyStroke& stroke) {
    for (const Action& a : actions()) {
      for (const Shortcut& s : a.shortcuts) {
        if (s.matches(stroke)) return a.id;
      }
    }
    return std::string();
  };
  EXPECT_EQ(action_of(character(U'f')), "fit");
  EXPECT_EQ(action_of(character(U'n')), "colour_end");
  EXPECT_EQ(action_of(character(U'R')), "reset_view");
  EXPECT_EQ(action_of(character(U'[')), "layer_back");
  EXPECT_EQ(action_of(character(U']')), "layer_on");
  EXPECT_EQ(action_of(character(U',')), "head_back");
  EXPECT_EQ(action_of(character(U'.')), "head_on");
  EXPECT_EQ(action_of(character(U'1')), "view." + views().front().id);
  EXPECT_EQ(action_of(character(U'g')), "colour_map");
  EXPECT_EQ(action_of(character(U'?')), "keys");
  EXPECT_EQ(action_of(key("Tab")), "panels");
  EXPECT_EQ(action_of(key("F11")), "full_screen");
  EXPECT_EQ(action_of(key("0", true)), "actual_size");
  EXPECT_EQ(action_of(key("s", true)), "save");
  EXPECT_EQ(action_of(key("e", true)), "export");
  EXPECT_EQ(action_of(key("c", true)), "copy_data");
  EXPECT_EQ(action_of(key("p", true)), "palette");
  EXPECT_EQ(action_of(key("z", true)), "undo");
  EXPECT_EQ(action_of(key("z", true, true)), "redo");
}

TEST(Actions, KeysWithoutControlAreIgnoredWhileTyping) {
  State state;
  std::vector<KeyStroke> strokes = {character(U'n'), key("Tab")};
  run_shortcuts(state, strokes, true);
  EXPECT_TRUE(state.settings.panels);
  EXPECT_FALSE(strokes[1].is_handled);
  run_shortcuts(state, strokes, false);
  EXPECT_FALSE(state.settings.panels);
  EXPECT_TRUE(strokes[1].is_handled);
}

TEST(Actions, AreNotRunIfDisabled) {
  State state;
  std::vector<KeyStroke> strokes = {key("e", true), character(U'n')};
  run_shortcuts(state, strokes, false);
  EXPECT_FALSE(state.dialogs.exporting.open);  // there is no picture
  EXPECT_EQ(state.session->view.colour_end, ViewSettings().colour_end);
}

TEST(Actions, HandledStrokesAreIgnored) {
  State state;
  std::vector<KeyStroke> strokes = {key("Tab")};
  strokes[0].is_handled = true;
  run_shortcuts(state, strokes, false);
  EXPECT_TRUE(state.settings.panels);
}

TEST(Actions, UndoRestoresText) {
  State state;
  state.session.edit().run.text = "first";
  state.history.record(state.session.snapshot(), 0);
  state.session.edit().run.text = "second";
  state.history.record(state.session.snapshot(), 10);
  std::vector<KeyStroke> undo = {key("z", true)};
  run_shortcuts(state, undo, true);
  EXPECT_EQ(state.session->run.text, "first");
  EXPECT_EQ(state.text.edit.text(), "first");
}

TEST(Shortcuts, AreReadable) {
  EXPECT_EQ(to_string(Shortcut{"Z", true, true}), "Ctrl+Shift+Z");
  EXPECT_EQ(to_string(Shortcut{"["}), "[");
}

// Commands without effect are disabled with a reason.
TEST(Actions, AreDisabledWithoutEffectInView) {
  State state;
  state.run.trace = std::make_shared<const Trace>();
  for (const char* id : {"colour_map", "colour_end", "head_on"}) {
    EXPECT_TRUE(action(id).enabled(state)) << id;
    EXPECT_EQ(help_text(action(id), state), action(id).help) << id;
  }
  state.session.edit().view.id = "next";
  for (const char* id : {"colour_map", "colour_end", "head_on", "layer_on"}) {
    EXPECT_FALSE(action(id).enabled(state)) << id;
    EXPECT_NE(help_text(action(id), state).find("No effect in Next"), std::string::npos) << id;
  }
  state.selection.scope = ChoiceScope::Head;  // choices apply to the head
  EXPECT_TRUE(action("head_on").enabled(state));
}

TEST(Actions, SkipColourMapsUnsuitableForView) {
  State state;
  state.run.trace = std::make_shared<const Trace>();
  state.session.edit().view.id = "depth";
  std::set<std::string> selected_maps;
  for (std::size_t i = 0; i < colour_maps().size(); ++i) {
    action("colour_map").run(state);
    EXPECT_FALSE(colour_map(state.session->view.colour_map).diverging());
    selected_maps.insert(state.session->view.colour_map);
  }
  EXPECT_GT(selected_maps.size(), 2u);
  state.session.edit().view.colour_map =
      "vik";  // selected in another view; this view uses its first map
  EXPECT_EQ(&effective_map(state.controls(), "vik"), &colour_maps().front());
  action("colour_map").run(state);
  EXPECT_EQ(state.session->view.colour_map, colour_maps()[1].id);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
