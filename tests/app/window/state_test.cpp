#include "app/window/state.h"

#include <gtest/gtest.h>

#include "app/window/files.h"
#include "tests/support/small_config.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

TEST(State, ErrorsStayUntilTheyAreClosed) {
  State state;
  state.complain("broken");
  for (int n = 0; n < 9; ++n) state.say("note " + std::to_string(n));
  ASSERT_LE(state.notices.size(), 5u);
  EXPECT_EQ(state.notices.front().text, "broken");
  EXPECT_EQ(state.notices.back().text, "note 8");
  state.complain("broken");  // once is enough
  EXPECT_EQ(std::count_if(state.notices.begin(), state.notices.end(),
                          [](const Notice& n) { return n.text == "broken"; }),
            1);
}

// What was run, looked at as now, on both sides of a comparison.
TEST(State, ThePictureLooksAtWhatIsSetNow) {
  State state;
  state.shown.text = "run";
  state.shown.others.emplace_back().text = "other run";
  state.experiment = state.shown;
  state.experiment.text = "typed since";
  state.experiment.view.head = 3;
  state.experiment.others.front().view.head = 2;
  state.experiment.interventions.emplace_back();
  const Experiment shown = state.shown_experiment();
  EXPECT_EQ(shown.text, "run");
  EXPECT_EQ(shown.view.head, 3);
  EXPECT_EQ(shown.others.front().text, "other run");
  EXPECT_EQ(shown.others.front().view.head, 2);
  EXPECT_EQ(shown.interventions.size(), 1u);
}

TEST(State, BothSidesFollowUntilTheyLookElsewhere) {
  State state;
  state.experiment.others.emplace_back().causal = true;
  state.look_at(1, 2);
  EXPECT_EQ(state.experiment.others.front().view.head, 2);
  state.editing_other = true;
  state.look_at(0, 1);
  EXPECT_EQ(state.experiment.others.front().view.head, 1);
  EXPECT_EQ(state.experiment.view.head, 2);
  state.editing_other = false;
  state.look_at(1, 0);
  EXPECT_EQ(state.experiment.others.front().view.head, 1);
}

// The reference that was set to compare two heads of one run does not follow.
// A pin is on a token, not on a place.
TEST(State, PinsLetGoOfTokensThatAreOthersNow) {
  const auto trace = [](const std::vector<std::string>& words) {
    Trace made;
    for (const std::string& word : words) {
      TraceToken token;
      token.label = word;
      made.tokens.push_back(token);
    }
    return made;
  };
  const Trace before = trace({"the", "cat", "sat"});
  State state;
  const auto pin = [&](Index query, Index key) {
    state.experiment.view.pinned_query = query;
    state.experiment.view.pinned_key = key;
  };
  pin(2, 1);
  state.keep_pins(before, trace({"the", "cat", "sat", "down"}));
  EXPECT_EQ(state.experiment.view.pinned_query, 2);
  EXPECT_EQ(state.experiment.view.pinned_key, 1);
  state.keep_pins(before, trace({"the", "dog", "sat"}));
  EXPECT_EQ(state.experiment.view.pinned_query, -1);
  EXPECT_EQ(state.experiment.view.pinned_key, -1);
  pin(2, -1);
  state.keep_pins(before, trace({"the", "cat"}));
  EXPECT_EQ(state.experiment.view.pinned_query, -1);
}

TEST(State, AHeadOfTheSameRunStaysWhereItWasPinned) {
  State state;
  state.experiment.others.emplace_back();
  state.look_at(1, 2);
  EXPECT_EQ(state.experiment.view.head, 2);
  EXPECT_EQ(state.experiment.others.front().view.head, 0);
}

// A source of two tokens and a target of three; a segmented text of five.
std::shared_ptr<const Trace> run_of_parts(bool segments) {
  Trace trace;
  trace.tokens.resize(segments ? 5 : 3);
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
  if (segments) {
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

TEST(State, LooksAtAPartOfTheRun) {
  State state;
  state.trace = run_of_parts(false);
  state.experiment.view.pinned_query = 2;
  state.experiment.view.head = 1;
  state.look_at(PartChoice{.kind = AttentionKind::Cross});
  EXPECT_EQ(state.part().kind, AttentionKind::Cross);
  EXPECT_EQ(state.experiment.view.pinned_query, -1);  // a row of another map
  EXPECT_EQ(state.tap(), &state.trace->attention[2]);
  state.look_at(PartChoice{.stack = Stack::Encoder});
  EXPECT_EQ(state.layers(), 2);
  state.look_at(1, 0);
  EXPECT_EQ(state.tap(), &state.trace->attention[0]);
  state.look_at(PartChoice{});  // the decoder has one layer
  EXPECT_EQ(state.experiment.view.layer, 0);
  // Another model has no such attention.
  state.look_at(PartChoice{.kind = AttentionKind::Cross});
  state.trace = run_of_parts(true);
  state.keep_view_inside();
  EXPECT_EQ(state.experiment.view.part, PartChoice());
  // A shorter text has fewer segments.
  state.experiment.view.part.segment = 7;
  state.keep_view_inside();
  EXPECT_EQ(state.experiment.view.part.segment, 1);
}

// A run that ends after an undo moves the view into what there is, and leaves what can be redone.
TEST(State, WhatMovesTheViewInsideIsNoStep) {
  State state;
  state.trace = run_of_parts(true);
  state.experiment.view.part.segment = 7;
  state.history = History(state.experiment);
  state.experiment.text = "another";
  state.history.record(state.experiment, 0);
  state.experiment = state.history.undo();
  state.shown = state.experiment;
  state.keep_view_inside();
  EXPECT_EQ(state.experiment.view.part.segment, 1);
  state.history.record(state.experiment, 1);
  ASSERT_TRUE(state.history.can_redo());
  EXPECT_EQ(state.history.redo().text, "another");
  // With a person's step that was not yet taken note of, it is one with that.
  state.experiment.view.part.segment = 7;
  state.experiment.text = "a third";
  state.shown = state.experiment;
  state.keep_view_inside();
  state.history.record(state.experiment, 9);
  EXPECT_EQ(state.history.undo().text, "another");
}

// Two of three tokens that were given are the source; what was written says nothing about that.
TEST(State, TheTextIsWhatTheEncoderReads) {
  State state;
  state.trace = run_of_parts(false);
  state.shown.ids = {5, 6};
  EXPECT_FALSE(state.is_overlong());
  state.shown.ids = {5, 6, 7};
  EXPECT_TRUE(state.is_overlong());
  EXPECT_TRUE(state.shows_choices());
  state.look_at(PartChoice{.stack = Stack::Encoder});
  EXPECT_FALSE(state.shows_choices());
}

TEST(State, ThePointerIsOnTokensOfTheirStreams) {
  State state;
  state.trace = run_of_parts(false);
  state.look_at(PartChoice{.kind = AttentionKind::Cross});
  state.view.hit = Hit{0, 1, 2, 1};
  EXPECT_EQ(state.pointed().tap, &state.trace->attention[2]);
  EXPECT_EQ(state.pointed().head, 1);
  State::PointedTokens tokens = state.pointed_tokens();
  EXPECT_EQ(tokens.query_stream, "");
  EXPECT_EQ(tokens.query, 2);
  EXPECT_EQ(tokens.key_stream, kSourceStream);
  EXPECT_EQ(tokens.key, 1);
  state.trace = run_of_parts(true);
  state.look_at(PartChoice{.segment = 1});
  state.view.hit = Hit{0, 0, 1, 4};
  tokens = state.pointed_tokens();
  EXPECT_EQ(tokens.query, 4);
  EXPECT_EQ(tokens.key, 4);
  state.view.hit = Hit{0, 0, 1, 2};  // a memory slot
  EXPECT_EQ(state.pointed_tokens().key, -1);
  state.experiment.view.id = "next";  // is about the tokens themselves
  state.view.hit = Hit{0, 0, 4, -1};
  EXPECT_EQ(state.pointed_tokens().query, 4);
}

// Tokens that a model goes on with belong to the text that it went on with.
TEST(State, AnotherExperimentEndsTheWriting) {
  State state;
  state.generating = true;
  Experiment other;
  other.text = "another";
  set_experiment(state, other);
  EXPECT_FALSE(state.generating);
  EXPECT_EQ(state.text.edit.text(), "another");
}

TraceToken token(std::size_t begin, std::size_t end) {
  TraceToken token;
  token.begin = begin;
  token.end = end;
  return token;
}

// A letter more, not run yet, cuts nothing: what depends on it would come and go at every key.
TEST(State, OnlyTheTextThatWasRunCanBeTooLong) {
  State state;
  Trace trace;
  trace.config = testing::config_of_context(2);
  trace.tokens = {token(0, 3), token(3, 7)};
  state.trace = std::make_shared<const Trace>(trace);
  state.experiment.text = state.shown.text = "the cat";
  EXPECT_FALSE(state.is_overlong());
  state.experiment.text = "the cats";
  EXPECT_FALSE(state.is_overlong());
  state.shown.text = "the cats";  // of which the run has seen the beginning
  EXPECT_TRUE(state.is_overlong());
  state.experiment.text = "the";
  EXPECT_TRUE(state.is_overlong());
  trace.tokens = {token(1, 4), token(4, 8)};  // the end
  state.trace = std::make_shared<const Trace>(trace);
  EXPECT_TRUE(state.is_overlong());
  trace.config = testing::config_of_context(1);  // all of it, beyond the context
  trace.tokens = {token(0, 3), token(3, 8)};
  state.trace = std::make_shared<const Trace>(trace);
  EXPECT_TRUE(state.is_overlong());
  state.shown.ids = {5, 6};  // in place of the text
  trace.config = testing::config_of_context(2);
  state.trace = std::make_shared<const Trace>(trace);
  EXPECT_FALSE(state.is_overlong());
}

// Holding Shift shows B in the place of A where a view shows one run.
TEST(State, ShiftShowsTheOtherRun) {
  State state;
  state.trace = std::make_shared<const Trace>();
  state.findings = reference_findings(std::make_shared<const Trace>());
  state.shown.text = "a";
  state.shown.others.emplace_back().text = "b";
  state.experiment = state.shown;
  state.experiment.view.id = "lines";
  state.experiment.view.head = 1;
  state.experiment.others.front().view.head = 2;
  EXPECT_EQ(state.pictured_trace(), state.trace);
  EXPECT_EQ(state.pictured_experiment().text, "a");
  state.view.shift = true;
  EXPECT_EQ(state.pictured_trace(), state.reference());
  const Experiment pictured = state.pictured_experiment();
  EXPECT_EQ(pictured.text, "b");
  EXPECT_EQ(pictured.view.id, "lines");
  EXPECT_EQ(pictured.view.head, 2);
  EXPECT_TRUE(pictured.others.empty());
  state.experiment.view.id = "compare";  // flips both by itself
  EXPECT_EQ(state.pictured_trace(), state.trace);
  EXPECT_EQ(state.pictured_experiment().text, "a");
  state.experiment.view.id = "map";
  state.experiment.others.clear();
  EXPECT_EQ(state.pictured_trace(), state.trace);
}

TEST(State, ALessonGivesBackWhatWasThere) {
  State state;
  state.experiment.text = "my own";
  Lesson lesson;
  lesson.steps.resize(2);
  lesson.steps[0].experiment.text = "one";
  lesson.steps[1].experiment.text = "two";
  start_lesson(state, lesson);
  EXPECT_EQ(state.experiment.text, "one");
  show_step(state, 7);
  EXPECT_EQ(state.lesson.step, 1u);
  EXPECT_EQ(state.experiment.text, "two");
  EXPECT_EQ(state.own_experiment().text, "my own");
  leave_lesson(state);
  EXPECT_EQ(state.experiment.text, "my own");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
