// Views of runs with several parts: stacks, attention kinds, steps or segments.
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/experiment/run.h"
#include "core/view/export/moving_numbers.h"
#include "core/view/pattern/reach.h"
#include "tests/support/case_run.h"
#include "tests/support/compare.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::kIds;
using testing::lay_out_view;
using testing::LayoutOptions;

const std::vector<std::int32_t> kTarget{1, 5, 2, 4};
constexpr std::int32_t kStart = 1;  // start token of the targets

// Run of a model of tests/model-cases.
std::shared_ptr<const Trace> run(const std::string& model, bool target = false) {
  return testing::run_case(model, kIds, target ? kTarget : std::vector<std::int32_t>{});
}

struct Case {
  std::string model;
  bool target = false;
  std::size_t parts = 1;  // minimum number of parts
};
const std::vector<Case> kCases{
    {"encoder_decoder-sinusoidal", true, 3}, {"rnn_attention-additive", true, 1},
    {"universal-fixed", false, 3},           {"memory-segment", false, 3},
    {"memory-compressive-mean", false, 3},   {"memory-memorizing", false, 3},
    {"decoder-groups-ragged", false, 1}};

std::set<TracePart> parts_of(const Trace& trace) {
  std::set<TracePart> parts;
  for (const AttentionTap& tap : trace.attention) parts.insert(part_of(tap.address));
  return parts;
}

ViewSettings settings_for(const TracePart& part, Index layer = 0, Index head = 0) {
  ViewSettings settings;
  settings.part = {part.stack, part.kind};
  if (part.step > 0) settings.part.step = part.step;           // steps count from 1
  if (part.segment > 0) settings.part.segment = part.segment;  // the first segment is the default
  settings.layer = layer;
  settings.head = head;
  return settings;
}

bool has_text(const DisplayList& list, const std::string& text) {
  for (const Text& shown : testing::texts(list)) {
    if (shown.text.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(RunParts, EachViewOfEachHeadIsLegible) {
  for (const Case& c : kCases) {
    const std::shared_ptr<const Trace> trace = run(c.model, c.target);
    const std::set<TracePart> parts = parts_of(*trace);
    EXPECT_GE(parts.size(), c.parts) << c.model;
    for (const TracePart& part : parts) {
      for (const HeadRef& at : trace->heads(part)) {
        for (const View& view : views()) {
          for (const bool framed : {true, false}) {
            LayoutOptions look;
            look.settings = settings_for(part, at.layer, at.head);
            look.framed = framed;
            look.pointer = Point{340, 350};
            look.reference = trace.get();
            const ViewLayout layout = lay_out_view(*trace, view.id, look);
            EXPECT_EQ(testing::layout_error(layout.list), "")
                << view.id << " of " << c.model << ", " << describe_head(trace->parts, at);
          }
        }
      }
    }
  }
}

// Labels of `count` ids from index `first` on. The label of the start token, `start`, is "■".
std::vector<std::string> labels(const std::vector<std::int32_t>& ids, std::size_t first,
                                std::size_t count, std::int32_t start = -1) {
  std::vector<std::string> result;
  for (std::size_t i = first; i < first + count; ++i) {
    result.push_back(ids[i] == start ? "■" : "#" + std::to_string(ids[i]));
  }
  return result;
}

ViewData::Matrix map_of(const Trace& trace, const ViewSettings& settings) {
  const testing::ViewInputFixture fixture(trace, settings);
  return view("map").data(fixture.input).matrices.at(0);
}

TEST(RunParts, CrossAttentionHasTargetRowsAndSourceColumns) {
  const auto trace = run("encoder_decoder-sinusoidal", true);
  const auto cross = map_of(*trace, settings_for({.kind = AttentionKind::Cross}));
  EXPECT_EQ(cross.rows, labels(kTarget, 0, kTarget.size(), kStart));
  EXPECT_EQ(cross.columns, labels(kIds, 0, kIds.size(), kStart));
  const auto encoder = map_of(*trace, settings_for({.stack = Stack::Encoder}));
  EXPECT_EQ(encoder.rows, labels(kIds, 0, kIds.size(), kStart));
  EXPECT_EQ(encoder.columns, encoder.rows);
  const auto decoder = map_of(*trace, ViewSettings());
  EXPECT_EQ(decoder.rows, labels(kTarget, 0, kTarget.size(), kStart));
  EXPECT_EQ(decoder.columns, decoder.rows);
  EXPECT_NE(cross.values.shape(), decoder.values.shape());
  LayoutOptions look;
  look.settings = settings_for({.kind = AttentionKind::Cross}, 1, 1);
  const DisplayList list = lay_out_view(*trace, "map", look).list;
  EXPECT_TRUE(has_text(list, "key (to source)"));
  EXPECT_TRUE(has_text(list, "query (from target)"));
  EXPECT_TRUE(has_text(list, "cross-attention"));
  EXPECT_TRUE(has_text(list, "11 source and 4 target tokens"));
}

// A map shows the weights of its own part, although other parts have equal layers and heads.
TEST(RunParts, MapsMatchTheirTaps) {
  for (const Case& c : kCases) {
    const auto trace = run(c.model, c.target);
    for (const TracePart& part : parts_of(*trace)) {
      for (const HeadRef& at : trace->heads(part)) {
        Index head = 0;
        const AttentionTap* tap = trace->find(at, &head);
        ASSERT_NE(tap, nullptr);
        EXPECT_EQ(part_of(tap->address), part);
        const Tensor expected = tap->attention(head);
        const auto shown = map_of(*trace, settings_for(part, at.layer, at.head));
        ASSERT_EQ(shown.values.shape(), expected.shape());
        for (Index i = 0; i < expected.size(); ++i) ASSERT_EQ(shown.values[i], expected[i]);
      }
    }
  }
}

TEST(RunParts, RowsMatchTokensOfSegment) {
  const auto trace = run("memory-segment");  // segments of four tokens, memory of five
  const auto second = map_of(*trace, settings_for({.segment = 1}));
  EXPECT_EQ(second.rows, labels(kIds, 4, 4));
  ASSERT_EQ(second.columns.size(), 8u);  // the memory has only four tokens so far
  EXPECT_EQ(second.columns[0], "−4");
  EXPECT_EQ(std::vector<std::string>(second.columns.begin() + 4, second.columns.end()),
            labels(kIds, 4, 4));
  const auto last = map_of(*trace, settings_for({.segment = 2}));
  EXPECT_EQ(last.rows, labels(kIds, 8, 3));
  ASSERT_EQ(last.columns.size(), 8u);
  EXPECT_EQ(last.columns[0], "−5");
  LayoutOptions look;
  look.settings = settings_for({.segment = 2});
  EXPECT_TRUE(has_text(lay_out_view(*trace, "map", look).list, "memory"));
  // A first segment, whose memory is empty, does not count as full attention.
  for (const std::string& note : trace->notes) {
    EXPECT_EQ(note.find("masks no pair"), std::string::npos) << note;
  }
}

TEST(RunParts, StepsAndSegmentsCanBePlayed) {
  for (const auto& [model, key, last] :
       {std::tuple{"universal-fixed", "step", 3.0}, std::tuple{"memory-segment", "segment", 2.0}}) {
    const auto trace = run(model);
    Session session;
    const std::vector<MovingNumber> numbers = moving_numbers(session, *trace);
    const auto found = std::ranges::find(numbers, key, &MovingNumber::key);
    ASSERT_TRUE(found != numbers.end()) << model;
    EXPECT_EQ(found->to, last);
    found->set(session, Index{2});
    EXPECT_EQ(key == std::string("step") ? session.view.part.step : session.view.part.segment, 2);
  }
  // Heads of cross-attention have no selectable variant.
  Session session;
  session.view.part.kind = AttentionKind::Cross;
  for (const MovingNumber& number :
       moving_numbers(session, *run("encoder_decoder-sinusoidal", true))) {
    EXPECT_FALSE(number.key.starts_with("variant.") || number.key.starts_with("position."));
  }
}

TEST(RunParts, ReportMissingParts) {
  const auto trace = run("universal-fixed");
  LayoutOptions look;
  look.settings.part.step = 99;
  EXPECT_TRUE(has_text(lay_out_view(*trace, "map", look).list, "no step 99"));
  look.settings.part = {.kind = AttentionKind::Cross};
  EXPECT_TRUE(has_text(lay_out_view(*trace, "map", look).list, "no cross-attention"));
}

TEST(RunParts, RejectInterventionsWithoutEffect) {
  const auto trace = run("encoder_decoder-sinusoidal", true);
  for (const TracePart& part :
       {TracePart{.stack = Stack::Encoder}, TracePart{.kind = AttentionKind::Cross}}) {
    LayoutOptions look;
    look.settings = settings_for(part);
    const ViewLayout layout = lay_out_view(*trace, "intervene", look);
    EXPECT_TRUE(has_text(layout.list, "No interventions here"));
    EXPECT_TRUE(layout.handles.empty());
  }
}

// The rollout includes all steps up to the selected step; cross-attention has no rollout.
TEST(RunParts, RolloutIncludesEarlierSteps) {
  ViewSettings settings = settings_for({.step = 1});
  set_view_value(settings, "map", "source", std::string("rollout"));
  const auto universal = run("universal-fixed");
  const Tensor first = map_of(*universal, settings).values;
  settings.part.step = 2;
  const Tensor second = map_of(*universal, settings).values;
  EXPECT_TRUE(testing::differs(first, second, 1e-3));
  for (Index i = 0; i < second.dim(0); ++i) {
    double sum = 0;
    for (Index j = 0; j < second.dim(1); ++j) sum += static_cast<double>(second(i, j));
    EXPECT_TRUE(std::abs(sum - 1) <= 1e-5);
  }
  const auto encoder_decoder = run("encoder_decoder-sinusoidal", true);
  settings.part = {.kind = AttentionKind::Cross};
  EXPECT_THROW(map_of(*encoder_decoder, settings), InputError);
  settings.part = {.stack = Stack::Encoder};
  EXPECT_NO_THROW(map_of(*encoder_decoder, settings));
  EXPECT_THROW(reach_matrix(*encoder_decoder, {.kind = AttentionKind::Cross}, 2), InputError);
  EXPECT_EQ(reach_matrix(*encoder_decoder, {.stack = Stack::Encoder}, 2)(0, 10), 1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
