#include <gtest/gtest.h>

#include "core/analysis/crossing.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/figure/plain_text.h"
#include "core/lesson/claim.h"
#include "core/model/architecture.h"
#include "core/view/alignment/alignment_words.h"
#include "core/view/export/picture.h"
#include "tests/core/experiment/tasks.h"
#include "tests/core/view/viewed_layout.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::layout_of;
using testing::shows_text;
using testing::ViewedRun;

TEST(Alignment, IsLegibleAtAnySizeAndStep) {
  for (const char* model : {"encoder_decoder-sinusoidal", "rnn_attention-additive"}) {
    for (const char* options : {"{}", R"({"step": 2, "beams": 3})", R"({"of": "all"})",
                                R"({"of": "head", "step": 40})"}) {
      Session session = testing::alignment_session(model);
      set_view_values(
          session.view, "alignment",
          values_from_json(view("alignment").options.parameters, Json::parse(options), ""));
      testing::expect_legible(ViewedRun(session), std::string(model) + options);
    }
  }
}

TEST(Alignment, ReportsCrossingLinesOfGeneratedPart) {
  Tensor weights = Tensor::zeros({4, 3});
  for (const auto& [row, key] : {std::pair{0, 0}, {1, 2}, {2, 1}, {3, 0}}) weights(row, key) = 1;
  const AlignmentNumbers numbers{.weights = weights};
  GeneratedTarget target;
  target.ids = {5, 6, 7, 8};
  EXPECT_EQ(describe_crossing(target, numbers, 1), "");
  EXPECT_TRUE(
      describe_crossing(target, numbers, 2)
          .ends_with("from left to right so far: the later letter of a pair attends further "
                     "left in 0% of pairs."));
  EXPECT_TRUE(
      describe_crossing(target, numbers, 3).starts_with("Mostly from left to right so far"));
  const std::string sentence = describe_crossing(target, numbers, 4);
  EXPECT_TRUE(sentence.starts_with("The lines cross: ")) << sentence;
}

TEST(Alignment, ReportsSourceOfEachLetter) {
  const ViewedRun viewed(testing::alignment_session("encoder_decoder-sinusoidal"));
  const auto target = viewed.findings.get(Findings::written);
  const Tensor weights = alignment_weights(*target, viewed.session.view);
  const TracePart cross{Stack::Decoder, AttentionKind::Cross};
  Index h0 = 0, h1 = 0;
  const Tensor a = target->trace->find({1, 0, cross}, &h0)->attention(h0);
  const Tensor b = target->trace->find({1, 1, cross}, &h1)->attention(h1);
  for (Index row = 0; row < weights.dim(0); ++row) {
    for (Index key = 0; key < weights.dim(1); ++key) {
      EXPECT_NEAR(weights(row, key), (a(row, key) + b(row, key)) / 2, 1e-6);
    }
  }
  const std::vector<double> probabilities = target_probabilities(*target);
  const auto least_certain = std::ranges::min_element(probabilities) - probabilities.begin();
  const ViewLayout layout = layout_of(viewed);
  EXPECT_TRUE(shows_text(layout.list,
                         "letter " + std::to_string(least_certain + 1) + " (the least certain)"));
  const auto source =
      static_cast<std::size_t>(strongest_sources(weights)[static_cast<std::size_t>(least_certain)]);
  const std::string label = target->trace->streams.front().tokens[source].label;
  EXPECT_TRUE(shows_text(layout.list, "attends to “" + label + "” " +
                                          brief(static_cast<double>(weights(
                                              least_certain, static_cast<Index>(source))))));
  Claim claim;
  claim.measure = "crossing";
  claim.view = viewed.session.view;
  claim.least = 0;
  Traces traces(viewed.trace);
  traces.findings = viewed.findings;
  EXPECT_EQ(check(claim, traces).value, crossing(weights, letter_count(*target)));
  claim.measure = "letter_weight";
  claim.query = claim.key = 1;
  EXPECT_EQ(check(claim, traces).value, static_cast<double>(weights(1, 1)));
  claim.measure = "letter_others";
  double others = 0;
  for (Index letter = 0; letter < letter_count(*target); ++letter) {
    if (letter != 1) others += static_cast<double>(weights(letter, 1));
  }
  EXPECT_NEAR(check(claim, traces).value, others / static_cast<double>(letter_count(*target) - 1),
              1e-6);
  claim.key = weights.dim(1);
  EXPECT_THROW(check(claim, traces), InputError);
  claim.measure = "number_right";
  EXPECT_THROW(check(claim, traces), InputError);  // the source is not a number
}

TEST(Alignment, ShowsTargetUpToStep) {
  Session session = testing::alignment_session("encoder_decoder-sinusoidal");
  const ViewedRun viewed(session);
  const ViewLayout whole = layout_of(viewed);
  ASSERT_FALSE(whole.handles.empty());
  Session clicked = session;
  whole.handles[2].click(clicked);
  EXPECT_EQ(view_values(clicked.view, "alignment").integer("step"), 3);
  ViewedRun third_step = viewed;
  third_step.session = clicked;
  EXPECT_TRUE(shows_text(layout_of(third_step).list, "letter 3, attends to"));
  EXPECT_FALSE(whole.hit({100, 100}).has_value());  // rows are not queries of the run
}

// A long target is cut to the tokens that have legible columns, and the picture says so.
TEST(Alignment, CutsLongTarget) {
  const ViewedRun viewed(testing::alignment_session("encoder_decoder-sinusoidal"));
  const Index rows = viewed.findings.get(Findings::written)->rows();
  ASSERT_GT(rows, 12);
  testing::Space narrow;
  narrow.width = 15 * narrow.font_size;
  narrow.height = 60 * narrow.font_size;
  const ViewLayout cut = layout_of(viewed, narrow);
  EXPECT_EQ(cut.refusal, "");
  EXPECT_LT(static_cast<Index>(cut.handles.size()), rows);
  EXPECT_TRUE(shows_text(
      cut.list, "The first " + std::to_string(cut.handles.size()) + " of " + std::to_string(rows)));
  EXPECT_EQ(testing::layout_error(cut.list), "");
  EXPECT_FALSE(shows_text(layout_of(viewed).list, "target tokens are shown"));
}

TEST(Alignment, ExplainsMissingAlignment) {
  const ViewedRun text(testing::alignment_session("decoder-rope"));
  EXPECT_TRUE(layout_of(text).refusal.starts_with("No source"));
  EXPECT_NE(view("alignment").objection(*text.trace), "");
  ViewedRun pending(testing::alignment_session("rnn_attention-dot"));
  EXPECT_EQ(view("alignment").objection(*pending.trace), "");
  pending.findings = {};
  EXPECT_NE(layout_of(pending).pending, "");
  Session session = testing::alignment_session("encoder_decoder-sinusoidal");
  set_view_value(session.view, "alignment", "of", std::string("head"));
  session.view.layer = 7;
  EXPECT_NE(layout_of(ViewedRun(session)).refusal.find("No layer 7"), std::string::npos);
}

// Without attention there is no alignment, and the message names a model that has one.
TEST(Alignment, ExplainsMissingAttention) {
  Session session = testing::alignment_session("rnn_attention-dot");
  session.run.structure.architecture = choice_from_json(
      architecture, Json::parse(R"({"type": "rnn_attention", "score": "none", "start": 1})"), "");
  const ViewedRun viewed(session);
  EXPECT_TRUE(layout_of(viewed).refusal.starts_with("This model has no attention"));
  EXPECT_TRUE(shows_text(layout_of(viewed).list, "numbers-additive"));
  EXPECT_NE(view("alignment").objection(*viewed.trace), "");
}

TEST(Alignment, WritesEveryFileFormat) {
  const ViewedRun viewed(testing::alignment_session("encoder_decoder-sinusoidal"));
  testing::TemporaryFolder folder;
  for (const char* ending : {".png", ".svg", ".pdf", ".csv", ".safetensors"}) {
    const auto file = folder.path() / (std::string("alignment") + ending);
    write_view(file, *viewed.trace, viewed.session, {}, viewed.findings);
    EXPECT_GT(std::filesystem::file_size(file), 100u);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
