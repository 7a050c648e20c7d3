#include "app/window/history.h"

#include <gtest/gtest.h>

#include "core/view/view_values.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

SharedSession with_text(const std::string& text) {
  Session e;
  e.run.text = text;
  return share(e);
}

TEST(History, UndoesAndRedoes) {
  History history(with_text("a"));
  EXPECT_FALSE(history.can_undo());
  history.record(with_text("b"), 0);
  history.record(with_text("c"), 10);
  EXPECT_EQ(history.undo()->run.text, "b");
  EXPECT_EQ(history.undo()->run.text, "a");
  EXPECT_FALSE(history.can_undo());
  EXPECT_EQ(history.undo()->run.text, "a");
  EXPECT_EQ(history.redo()->run.text, "b");
  EXPECT_EQ(history.redo()->run.text, "c");
  EXPECT_FALSE(history.can_redo());
}

TEST(History, MergesTypingIntoOneStep) {
  History history(with_text(""));
  history.record(with_text("a"), 0);
  history.record(with_text("ab"), 0.5);
  history.record(with_text("abc"), 1.2);  // within a second of the last
  history.record(with_text("abcd"), 9);
  EXPECT_EQ(history.undo()->run.text, "abc");
  EXPECT_EQ(history.undo()->run.text, "");
}

TEST(History, StepsEndWhenAnotherFieldChanges) {
  History history(with_text(""));
  Session e = *with_text("a");
  history.record(share(e), 0);
  e.run.causal = false;
  history.record(share(e), 0.1);
  e.run.text = "ab";
  history.record(share(e), 0.2);
  EXPECT_EQ(history.undo()->run.text, "a");
  EXPECT_EQ(history.undo()->run.causal, std::nullopt);
}

TEST(History, NewEditClearsRedo) {
  History history(with_text("a"));
  history.record(with_text("b"), 0);
  history.undo();
  history.record(with_text("c"), 5);
  EXPECT_FALSE(history.can_redo());
  EXPECT_EQ(history.undo()->run.text, "a");
}

// Tool selection is not part of undo; the next step includes it.
TEST(History, ToolSelectionIsNotUndoable) {
  History history(with_text("a"));
  Session e = *with_text("a");
  set_view_value(e.view, "graph", "tool", std::string("edges"));
  set_view_value(e.view, "pattern", "tool", std::string("rectangle"));
  history.record(share(e), 0);
  EXPECT_FALSE(history.can_undo());
  e.run.text = "b";
  history.record(share(e), 5);
  EXPECT_EQ(history.undo()->run.text, "a");
  EXPECT_EQ(view_values(history.redo()->view, "graph").choice("tool"), "edges");
  set_view_value(e.view, "graph", "layout", std::string("springs"));  // this is one
  history.record(share(e), 10);
  EXPECT_EQ(view_values(history.undo()->view, "graph").choice("layout"), "circle");
}

TEST(History, PanningIsNotUndoable) {
  History history(with_text("a"));
  Session e = *with_text("a");
  e.view.row = 3;
  e.view.width = e.view.height = 5;
  history.record(share(e), 0);
  EXPECT_FALSE(history.can_undo());
  e.view.layer = 1;
  history.record(share(e), 1);
  EXPECT_TRUE(history.can_undo());
  EXPECT_EQ(history.undo()->view.row, 3);
}

TEST(History, NamesChangedFields) {
  const Session a = *with_text("a");
  Session b = a;
  EXPECT_TRUE(changed_places(a, b).empty());
  b.run.backend = BackendChoice::Cpu;
  EXPECT_EQ(changed_places(a, b), std::set<std::string>{"/backend"});
  b.view.layer = 1;
  EXPECT_EQ(changed_places(a, b).size(), 2U);
}

TEST(History, ConsecutiveClicksAreSeparateSteps) {
  Session e;
  History history(share(e));
  e.view.layer = 1;
  history.record(share(e), 0);
  e.view.layer = 2;
  history.record(share(e), 0.1);
  e.view.colour_end = ColourEnd::One;
  history.record(share(e), 0.2);
  e.view.colour_map = "magma";
  history.record(share(e), 0.4);
  e.view.colour_map = "cividis";
  history.record(share(e), 0.6);
  EXPECT_EQ(history.undo()->view.colour_map, "magma");
  EXPECT_EQ(history.undo()->view.colour_map, Session().view.colour_map);
  EXPECT_EQ(history.undo()->view.colour_end, ColourEnd::Percentile);
  EXPECT_EQ(history.undo()->view.layer, 1);
  EXPECT_EQ(history.undo()->view.layer, 0);
}

TEST(History, SliderDragIsOneStep) {
  Session e;
  History history(share(e));
  for (int n = 1; n <= 5; ++n) {
    e.view.options["map"].set("from", 0.1 * n);
    history.record(share(e), 0.1 * n);
  }
  EXPECT_EQ(*history.undo(), Session());
  EXPECT_FALSE(history.can_undo());
}

// Every difference can be undone, except panning and zooming.
TEST(History, CoversEveryField) {
  const Session a;
  const auto changed = [&a](const auto& change) {
    Session b = a;
    change(b);
    History history(share(a));
    history.record(share(b), 0);
    return history.can_undo() && *history.undo() == a;
  };
  EXPECT_TRUE(changed([](Session& e) { e.run.text = "x"; }));
  EXPECT_TRUE(changed([](Session& e) { e.run.ids = {1}; }));
  EXPECT_TRUE(changed([](Session& e) { e.run.model = "x"; }));
  EXPECT_TRUE(changed([](Session& e) { e.run.tensors.file = "x.npy"; }));
  EXPECT_TRUE(changed([](Session& e) { e.run.variant = Choice{"local", {}}; }));
  EXPECT_TRUE(changed([](Session& e) { e.run.encoding = Choice{"alibi", {}}; }));
  EXPECT_TRUE(changed([](Session& e) { e.run.causal = true; }));
  EXPECT_TRUE(changed([](Session& e) { e.run.groups.emplace_back(); }));
  EXPECT_TRUE(changed([](Session& e) { e.run.backend = BackendChoice::Cpu; }));
  EXPECT_TRUE(changed([](Session& e) { e.run.overlong = Overlong::All; }));
  EXPECT_TRUE(changed([](Session& e) { e.run.interventions.emplace_back(); }));
  EXPECT_TRUE(changed([](Session& e) { e.b.emplace(); }));
  EXPECT_TRUE(changed([](Session& e) { e.view.head = 1; }));
  Session pan_cells;
  pan_cells.view.row = 1;
  EXPECT_TRUE(changed_places(a, pan_cells).empty());
}

TEST(History, HeadGroupChoicesAreSeparateSteps) {
  Session e;
  History history(share(e));
  const Choice local{"local", default_values(variant("local").parameters)};
  const Choice alibi{"alibi", default_values(encoding("alibi").parameters)};
  e.run.groups = {{{0}, {1}, local, std::nullopt}};
  history.record(share(e), 1);
  const Session first = e;
  e.run.groups[0].encoding = alibi;
  history.record(share(e), 1.2);
  const Session second = e;
  e.run.groups[0].variant->values.set("window", Index{9});  // continues a slider drag
  history.record(share(e), 1.4);
  e.run.groups[0].variant->values.set("window", Index{10});
  history.record(share(e), 1.6);
  EXPECT_EQ(*history.undo(), second);
  EXPECT_EQ(*history.undo(), first);
  EXPECT_EQ(*history.undo(), Session{});
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
