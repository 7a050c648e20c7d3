#include "app/window/state.h"

#include <gtest/gtest.h>

#include "app/window/files.h"
#include "tests/support/small_config.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

TEST(State, ErrorsStayUntilClosed) {
  State state;
  state.report_error("broken");
  for (int n = 0; n < 9; ++n) state.notify("note " + std::to_string(n));
  ASSERT_LE(state.notices.size(), 5u);
  EXPECT_EQ(state.notices.front().text, "broken");
  EXPECT_EQ(state.notices.back().text, "note 8");
  state.report_error("broken");  // equal errors are reported once
  EXPECT_EQ(std::count_if(state.notices.begin(), state.notices.end(),
                          [](const Notice& n) { return n.text == "broken"; }),
            1);
}

// The picture shows the last runs of A and B with the current view settings.
TEST(State, PictureFollowsCurrentSettings) {
  State state;
  Session last_run;
  last_run.run.text = "run";
  last_run.b.emplace().run.text = "other run";
  state.session = state.run.session = share(last_run);
  state.session.edit().run.text = "typed since";
  state.session.edit().view.head = 3;
  state.session.edit().b->view.head = 2;
  state.session.edit().run.interventions.emplace_back();
  const Session shown = *state.shown_session();
  EXPECT_EQ(shown.run.text, "run");
  EXPECT_EQ(shown.view.head, 3);
  EXPECT_EQ(shown.b->run.text, "other run");
  EXPECT_EQ(shown.b->view.head, 2);
  EXPECT_EQ(shown.run.interventions.size(), 1u);
}

TEST(State, SelectionAppliesToBothSidesUntilTheyDiffer) {
  State state;
  state.session.edit().b.emplace().run.causal = true;
  state.select_head(1, 2);
  EXPECT_EQ(state.session->b->view.head, 2);
  state.editing_b = true;
  state.select_head(0, 1);
  EXPECT_EQ(state.session->b->view.head, 1);
  EXPECT_EQ(state.session->view.head, 2);
  state.editing_b = false;
  state.select_head(1, 0);
  EXPECT_EQ(state.session->b->view.head, 1);
}

// Pins refer to tokens, not to positions.
TEST(State, PinsFollowTheirTokens) {
  const auto make_trace = [](const std::vector<std::string>& words) {
    Trace result;
    for (const std::string& word : words) {
      TraceToken token;
      token.label = word;
      result.tokens.push_back(token);
    }
    return result;
  };
  const Trace previous = make_trace({"the", "cat", "sat"});
  State state;
  const auto pin = [&](Index query, Index key) {
    state.session.edit().view.pinned_query = query;
    state.session.edit().view.pinned_key = key;
  };
  pin(2, 1);
  state.move_pins(previous, make_trace({"the", "cat", "sat", "down"}));
  EXPECT_EQ(state.session->view.pinned_query, 2);
  EXPECT_EQ(state.session->view.pinned_key, 1);
  state.move_pins(previous, make_trace({"the", "dog", "sat"}));
  EXPECT_EQ(state.session->view.pinned_query, 2);
  EXPECT_EQ(state.session->view.pinned_key, -1);
  pin(2, 0);
  state.move_pins(previous, make_trace({"the", "big", "dog", "sat"}));
  EXPECT_EQ(state.session->view.pinned_query, 3);
  EXPECT_EQ(state.session->view.pinned_key, 0);
  pin(2, -1);
  state.move_pins(previous, make_trace({"the", "cat"}));
  EXPECT_EQ(state.session->view.pinned_query, -1);
  pin(3, -1);  // a row that is no token
  state.move_pins(previous, make_trace({"the", "cat"}));
  EXPECT_EQ(state.session->view.pinned_query, 3);
  state.move_pins(previous, make_trace({"the", "cat", "sat", "down"}));
  EXPECT_EQ(state.session->view.pinned_query, -1);
}

TEST(State, SidesOfSameRunSelectHeadsSeparately) {
  State state;
  state.session.edit().b.emplace();
  state.select_head(1, 2);
  EXPECT_EQ(state.session->view.head, 2);
  EXPECT_EQ(state.session->b->view.head, 0);
}

// Trace of a source of two tokens and a target of three, or of a text of five tokens in segments.
std::shared_ptr<const Trace> trace_of_parts(bool has_segments) {
  Trace trace;
  trace.tokens.resize(has_segments ? 5 : 3);
  trace.config = testing::config_of_context(8);
  const auto add = [&](const Address& address, Index queries, Index keys) {
    AttentionTap tap;
    tap.address = address;
    tap.heads = {0, 1};
    tap.result.pattern = std::make_shared<const Pattern>(Pattern::all(queries, keys));
    tap.query_rows.first = tap.key_rows.first = 0;
    trace.attention.push_back(tap);
    return &trace.attention.back();
  };
  if (has_segments) {
    trace.parts.segment = true;
    add({}, 3, 3);
    AttentionTap* second = add({.segment = 1}, 2, 5);
    second->query_rows.first = second->key_rows.first = 3;
    second->result.columns = {{KeyKind::Memory, 3}, {KeyKind::Token, 2}};
  } else {
    trace.parts = {.stack = true, .kind = true};
    trace.streams = {{kSourceStream, std::vector<TraceToken>(2)}};
    add({.stack = Stack::Encoder, .layer = 1}, 2, 2)->query_rows.stream = kSourceStream;
    add({}, 3, 3);
    add({.kind = AttentionKind::Cross}, 3, 2)->key_rows.stream = kSourceStream;
  }
  return std::make_shared<const Trace>(trace);
}

TEST(State, SelectsPartOfRun) {
  State state;
  state.run.trace = trace_of_parts(false);
  state.session.edit().view.pinned_query = 2;
  state.session.edit().view.head = 1;
  state.select_part(PartChoice{.kind = AttentionKind::Cross});
  EXPECT_EQ(state.part().kind, AttentionKind::Cross);
  EXPECT_EQ(state.session->view.pinned_query, -1);  // the pin was in another map
  EXPECT_EQ(state.tap(), &state.run.trace->attention[2]);
  state.select_part(PartChoice{.stack = Stack::Encoder});
  EXPECT_EQ(state.layers(), 2);
  state.select_head(1, 0);
  EXPECT_EQ(state.tap(), &state.run.trace->attention[0]);
  state.select_part(PartChoice{});  // the decoder has one layer
  EXPECT_EQ(state.session->view.layer, 0);
  // Another model has no cross-attention.
  state.select_part(PartChoice{.kind = AttentionKind::Cross});
  state.run.trace = trace_of_parts(true);
  state.clamp_view();
  EXPECT_EQ(state.session->view.part, PartChoice());
  // A shorter text has fewer segments.
  state.session.edit().view.part.segment = 7;
  state.clamp_view();
  EXPECT_EQ(state.session->view.part.segment, 1);
}

// A run that ends after an undo clamps the view.
TEST(State, ClampingKeepsRedoSteps) {
  State state;
  state.run.trace = trace_of_parts(true);
  state.session.edit().view.part.segment = 7;
  state.history = History(state.session.snapshot());
  state.session.edit().run.text = "another";
  state.history.record(state.session.snapshot(), 0);
  state.session = state.history.undo();
  state.run.session = state.session.snapshot();
  state.clamp_view();
  EXPECT_EQ(state.session->view.part.segment, 1);
  state.history.record(state.session.snapshot(), 1);
  ASSERT_TRUE(state.history.can_redo());
  EXPECT_EQ(state.history.redo()->run.text, "another");
  // An unrecorded user step includes the clamping.
  state.session.edit().view.part.segment = 7;
  state.session.edit().run.text = "a third";
  state.run.session = state.session.snapshot();
  state.clamp_view();
  state.history.record(state.session.snapshot(), 9);
  EXPECT_EQ(state.history.undo()->run.text, "another");
}

// The text is the source, of which two of three tokens were read; the target's tokens do not count.
TEST(State, OverlongTextIsThatOfEncoder) {
  State state;
  state.run.trace = trace_of_parts(false);
  Session last_run;
  last_run.run.ids = {5, 6};
  state.run.session = share(last_run);
  EXPECT_FALSE(state.is_overlong());
  last_run.run.ids = {5, 6, 7};
  state.run.session = share(last_run);
  EXPECT_TRUE(state.is_overlong());
  EXPECT_TRUE(state.shows_configurable_part());
  state.select_part(PartChoice{.stack = Stack::Encoder});
  EXPECT_FALSE(state.shows_configurable_part());
}

TEST(State, PointerReportsTokensOfTheirStreams) {
  State state;
  state.run.trace = trace_of_parts(false);
  state.select_part(PartChoice{.kind = AttentionKind::Cross});
  state.view.hit = Hit{0, 1, 2, 1};
  EXPECT_EQ(state.pointed().tap, &state.run.trace->attention[2]);
  EXPECT_EQ(state.pointed().head, 1);
  State::PointedTokens tokens = state.pointed_tokens();
  EXPECT_EQ(tokens.query_stream, "");
  EXPECT_EQ(tokens.query, 2);
  EXPECT_EQ(tokens.key_stream, kSourceStream);
  EXPECT_EQ(tokens.key, 1);
  state.run.trace = trace_of_parts(true);
  state.select_part(PartChoice{.segment = 1});
  state.view.hit = Hit{0, 0, 1, 4};
  tokens = state.pointed_tokens();
  EXPECT_EQ(tokens.query, 4);
  EXPECT_EQ(tokens.key, 4);
  state.view.hit = Hit{0, 0, 1, 2};  // memory slot
  EXPECT_EQ(state.pointed_tokens().key, -1);
  state.session.edit().view.id = "next";  // hits of this view are tokens of the text
  state.view.hit = Hit{0, 0, 4, -1};
  EXPECT_EQ(state.pointed_tokens().query, 4);
}

// Generation continues only the text with which it started.
TEST(State, AnotherSessionEndsGeneration) {
  State state;
  state.run.is_generating = true;
  Session other;
  other.run.text = "another";
  set_session(state, share(other));
  EXPECT_FALSE(state.run.is_generating);
  EXPECT_EQ(state.text.edit.text(), "another");
}

TraceToken token(std::size_t begin, std::size_t end) {
  TraceToken token;
  token.begin = begin;
  token.end = end;
  return token;
}

// Text typed after the run is not reported as cut: controls would flicker with every key.
TEST(State, ReportsCutTextOfRunOnly) {
  State state;
  Trace trace;
  trace.config = testing::config_of_context(2);
  trace.tokens = {token(0, 3), token(3, 7)};
  state.run.trace = std::make_shared<const Trace>(trace);
  Session last_run;
  last_run.run.text = "the cat";
  state.session = state.run.session = share(last_run);
  EXPECT_FALSE(state.is_overlong());
  state.session.edit().run.text = "the cats";
  EXPECT_FALSE(state.is_overlong());
  last_run.run.text = "the cats";  // the run has read only the beginning
  state.run.session = share(last_run);
  EXPECT_TRUE(state.is_overlong());
  state.session.edit().run.text = "the";
  EXPECT_TRUE(state.is_overlong());
  trace.tokens = {token(1, 4), token(4, 8)};  // the run has read only the end
  state.run.trace = std::make_shared<const Trace>(trace);
  EXPECT_TRUE(state.is_overlong());
  trace.config = testing::config_of_context(1);  // reads the whole text, beyond the context
  trace.tokens = {token(0, 3), token(3, 8)};
  state.run.trace = std::make_shared<const Trace>(trace);
  EXPECT_TRUE(state.is_overlong());
  last_run.run.ids = {5, 6};  // the ids replace the text
  state.run.session = share(last_run);
  trace.config = testing::config_of_context(2);
  state.run.trace = std::make_shared<const Trace>(trace);
  EXPECT_FALSE(state.is_overlong());
}

// Holding Shift shows B instead of A in views of one run.
TEST(State, ShiftShowsRunB) {
  State state;
  state.run.trace = std::make_shared<const Trace>();
  state.run.findings = reference_findings(std::make_shared<const Trace>());
  Session last_run;
  last_run.run.text = "a";
  last_run.b.emplace().run.text = "b";
  state.session = state.run.session = share(last_run);
  state.session.edit().view.id = "lines";
  state.session.edit().view.head = 1;
  state.session.edit().b->view.head = 2;
  EXPECT_EQ(state.pictured_trace(), state.run.trace);
  EXPECT_EQ(state.pictured_session()->run.text, "a");
  state.view.shift = true;
  EXPECT_EQ(state.pictured_trace(), state.run.reference());
  const Session pictured = *state.pictured_session();
  EXPECT_EQ(pictured.run.text, "b");
  EXPECT_EQ(pictured.view.id, "lines");
  EXPECT_EQ(pictured.view.head, 2);
  EXPECT_FALSE(pictured.b.has_value());
  EXPECT_TRUE(state.edits_b());  // the panels describe the picture
  EXPECT_EQ(state.edited().run.text, "b");
  state.session.edit().view.id = "compare";  // this view swaps both runs itself
  EXPECT_EQ(state.pictured_trace(), state.run.trace);
  EXPECT_EQ(state.pictured_session()->run.text, "a");
  EXPECT_FALSE(state.edits_b());
  state.session.edit().view.id = "map";
  state.session.edit().b.reset();
  EXPECT_EQ(state.pictured_trace(), state.run.trace);
}

TEST(State, LeavingLessonRestoresPreviousSession) {
  State state;
  state.session.edit().run.text = "my own";
  Lesson lesson;
  lesson.steps.resize(2);
  lesson.steps[0].session.run.text = "one";
  lesson.steps[1].session.run.text = "two";
  start_lesson(state, lesson);
  EXPECT_EQ(state.session->run.text, "one");
  show_step(state, 7);
  EXPECT_EQ(state.lesson.step, 1u);
  EXPECT_EQ(state.session->run.text, "two");
  EXPECT_EQ(state.user_session()->run.text, "my own");
  leave_lesson(state);
  EXPECT_EQ(state.session->run.text, "my own");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
