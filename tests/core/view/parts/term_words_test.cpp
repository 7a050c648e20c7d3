#include "core/view/parts/term_words.h"

#include <gtest/gtest.h>

#include "core/experiment/run.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// has_positions_in_content() for each tap of a model of tests/model-cases.
std::vector<bool> positions_in_content(const char* model, Session session) {
  session.run.model = testing::source_folder() / "tests" / "model-cases" / model;
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(session.run);
  std::vector<bool> result;
  for (const AttentionTap& tap : trace->attention) {
    result.push_back(has_positions_in_content(*trace, tap));
  }
  return result;
}

using PerTap = std::vector<bool>;

TEST(TermText, ContentIncludesUnseparatedPositions) {
  Session text;
  text.run.ids = {4, 2, 3, 1};
  EXPECT_EQ(positions_in_content("decoder-rope", text), PerTap(2, false));
  // After the first norm of a post-norm model, positions cannot be separated.
  EXPECT_EQ(positions_in_content("decoder-post-norm-biases", text), (PerTap{false, true, true}));
  Session pixels;
  pixels.run.ids = {2, 2, 2, 5, 0, 1, 4, 1, 1, 2, 3, 1};
  EXPECT_EQ(positions_in_content("image", pixels), PerTap(2, true));
  Session walk;
  walk.run.input =
      testing::source_folder() / "tests" / "model-cases" / "trajectory" / "input.safetensors";
  EXPECT_EQ(positions_in_content("trajectory", walk), PerTap(2, true));
}

// Self-attention of both stacks separates positions from content; cross-attention cannot.
TEST(TermText, CrossAttentionMergesContentAndPosition) {
  Session session;
  session.run.ids = {4, 2, 3, 7};
  session.run.target_ids = {1, 5, 2};
  std::size_t cross_taps = 0;
  session.run.model =
      testing::source_folder() / "tests" / "model-cases" / "encoder_decoder-sinusoidal";
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(session.run);
  for (const AttentionTap& tap : trace->attention) {
    const bool is_cross = tap.address.kind == AttentionKind::Cross;
    cross_taps += is_cross ? 1 : 0;
    EXPECT_EQ(has_positions_in_content(*trace, tap), is_cross);
  }
  EXPECT_EQ(cross_taps, 2u);
}

TEST(TermText, NamesPositionsInContent) {
  EXPECT_STREQ(term_text(Term::Content, false).full, "content · content");
  EXPECT_STREQ(term_text(Term::Content, true).full, "content with position");
  EXPECT_STREQ(term_text(Term::Bias, true).full, "position bias");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
