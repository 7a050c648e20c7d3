#include "app/window/history.h"

#include <gtest/gtest.h>

#include "core/view/view_values.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

SharedSession session_with_text(const std::string& text) {
  Session session;
  session.run.text = text;
  return share(session);
}

TEST(History, UndoesAndRedoes) {
  History history(session_with_text("a"));
  EXPECT_FALSE(history.can_undo());
  history.record(session_with_text("b"), 0);
  history.record(session_with_text("c"), 10);
  EXPECT_EQ(history.undo()->run.text, "b");
  EXPECT_EQ(history.undo()->run.text, "a");
  EXPECT_FALSE(history.can_undo());
  EXPECT_EQ(history.undo()->run.text, "a");
  EXPECT_EQ(history.redo()->run.text, "b");
  EXPECT_EQ(history.redo()->run.text, "c");
  EXPECT_FALSE(history.can_redo());
}

TEST(History, MergesTypingIntoOneStep) {
  History history(session_with_text(""));
  history.record(session_with_text("a"), 0);
  history.record(session_with_text("ab"), 0.5);
  history.record(session_with_text("abc"), 1.2);  // within a second of the last edit
  history.record(session_with_text("abcd"), 9);
  EXPECT_EQ(history.undo()->run.text, "abc");
  EXPECT_EQ(history.undo()->run.text, "");
}

TEST(History, StepsEndWhenAnotherFieldChanges) {
  History history(session_with_text(""));
  Session session = *session_with_text("a");
  history.record(share(session), 0);
  session.run.causal = false;
  history.record(share(session), 0.1);
  session.run.text = "ab";
  history.record(share(session), 0.2);
  EXPECT_EQ(history.undo()->run.text, "a");
  EXPECT_EQ(history.undo()->run.causal, std::nullopt);
}

TEST(History, NewEditClearsRedo) {
  History history(session_with_text("a"));
  history.record(session_with_text("b"), 0);
  history.undo();
  history.record(session_with_text("c"), 5);
  EXPECT_FALSE(history.can_redo());
  EXPECT_EQ(history.undo()->run.text, "a");
}

// Tool selections are no undo steps; the next step includes them.
TEST(History, ToolSelectionIsNotUndoable) {
  History history(session_with_text("a"));
  Session session = *session_with_text("a");
  set_view_value(session.view, "graph", "tool", std::string("edges"));
  set_view_value(session.view, "pattern", "tool", std::string("rectangle"));
  history.record(share(session), 0);
  EXPECT_FALSE(history.can_undo());
  session.run.text = "b";
  history.record(share(session), 5);
  EXPECT_EQ(history.undo()->run.text, "a");
  EXPECT_EQ(view_values(history.redo()->view, "graph").choice("tool"), "edges");
  set_view_value(session.view, "graph", "layout", std::string("springs"));  // layouts are steps
  history.record(share(session), 10);
  EXPECT_EQ(view_values(history.undo()->view, "graph").choice("layout"), "circle");
}

TEST(History, PanningIsNotUndoable) {
  History history(session_with_text("a"));
  Session session = *session_with_text("a");
  session.view.row = 3;
  session.view.width = session.view.height = 5;
  history.record(share(session), 0);
  EXPECT_FALSE(history.can_undo());
  session.view.layer = 1;
  history.record(share(session), 1);
  EXPECT_TRUE(history.can_undo());
  EXPECT_EQ(history.undo()->view.row, 3);
}

TEST(History, ListsPointersOfChangedFields) {
  const Session a = *session_with_text("a");
  Session b = a;
  EXPECT_TRUE(changed_pointers(a, b).empty());
  b.run.backend = BackendChoice::Cpu;
  EXPECT_EQ(changed_pointers(a, b), std::set<std::string>{"/backend"});
  b.view.layer = 1;
  EXPECT_EQ(changed_pointers(a, b).size(), 2U);
}

TEST(History, ConsecutiveClicksAreSeparateSteps) {
  Session session;
  History history(share(session));
  session.view.layer = 1;
  history.record(share(session), 0);
  session.view.layer = 2;
  history.record(share(session), 0.1);
  session.view.colour_end = ColourEnd::One;
  history.record(share(session), 0.2);
  session.view.colour_map = "magma";
  history.record(share(session), 0.4);
  session.view.colour_map = "cividis";
  history.record(share(session), 0.6);
  EXPECT_EQ(history.undo()->view.colour_map, "magma");
  EXPECT_EQ(history.undo()->view.colour_map, Session().view.colour_map);
  EXPECT_EQ(history.undo()->view.colour_end, ColourEnd::Percentile);
  EXPECT_EQ(history.undo()->view.layer, 1);
  EXPECT_EQ(history.undo()->view.layer, 0);
}

TEST(History, SliderDragIsOneStep) {
  Session session;
  History history(share(session));
  for (int n = 1; n <= 5; ++n) {
    session.view.options["map"].set("from", 0.1 * n);
    history.record(share(session), 0.1 * n);
  }
  EXPECT_EQ(*history.undo(), Session());
  EXPECT_FALSE(history.can_undo());
}

// Every difference can be undone, except panning and zooming.
TEST(History, CoversEveryField) {
  const Session a;
  const auto undoes = [&a](const auto& change) {
    Session b = a;
    change(b);
    History history(share(a));
    history.record(share(b), 0);
    return history.can_undo() && *history.undo() == a;
  };
  EXPECT_TRUE(undoes([](Session& session) { session.run.text = "x"; }));
  EXPECT_TRUE(undoes([](Session& session) { session.run.ids = {1}; }));
  EXPECT_TRUE(undoes([](Session& session) { session.run.model = "x"; }));
  EXPECT_TRUE(undoes([](Session& session) { session.run.tensors.file = "x.npy"; }));
  EXPECT_TRUE(undoes([](Session& session) { session.run.variant = Choice{"local", {}}; }));
  EXPECT_TRUE(undoes([](Session& session) { session.run.encoding = Choice{"alibi", {}}; }));
  EXPECT_TRUE(undoes([](Session& session) { session.run.causal = true; }));
  EXPECT_TRUE(undoes([](Session& session) { session.run.groups.emplace_back(); }));
  EXPECT_TRUE(undoes([](Session& session) { session.run.backend = BackendChoice::Cpu; }));
  EXPECT_TRUE(undoes([](Session& session) { session.run.overlong = Overlong::All; }));
  EXPECT_TRUE(undoes([](Session& session) { session.run.interventions.emplace_back(); }));
  EXPECT_TRUE(undoes([](Session& session) { session.b.emplace(); }));
  EXPECT_TRUE(undoes([](Session& session) { session.view.head = 1; }));
  Session panned;
  panned.view.row = 1;
  EXPECT_TRUE(changed_pointers(a, panned).empty());
}

TEST(History, HeadGroupChoicesAreSeparateSteps) {
  Session session;
  History history(share(session));
  const Choice local{"local", default_values(variant("local").parameters)};
  const Choice alibi{"alibi", default_values(encoding("alibi").parameters)};
  session.run.groups = {{{0}, {1}, local, std::nullopt}};
  history.record(share(session), 1);
  const Session first = session;
  session.run.groups[0].encoding = alibi;
  history.record(share(session), 1.2);
  const Session second = session;
  session.run.groups[0].variant->values.set("window", Index{9});  // a slider drag begins
  history.record(share(session), 1.4);
  session.run.groups[0].variant->values.set("window", Index{10});
  history.record(share(session), 1.6);
  EXPECT_EQ(*history.undo(), second);
  EXPECT_EQ(*history.undo(), first);
  EXPECT_EQ(*history.undo(), Session{});
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
