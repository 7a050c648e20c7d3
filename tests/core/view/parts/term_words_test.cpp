#include "core/view/parts/term_words.h"

#include <gtest/gtest.h>

#include "core/experiment/run.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// has_positions_in_content() for each tap of a model of tests/model-cases.
std::vector<bool> positions_in_content(const char* model, Session e) {
  e.run.model = testing::source_folder() / "tests" / "model-cases" / model;
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(e.run);
  std::vector<bool> result;
  for (const AttentionTap& tap : trace->attention) {
    result.push_back(has_positions_in_content(*trace, tap));
  }
  return result;
}

using PerTap = std::vector<bool>;

TEST(TermWords, ContentIncludesUnseparatedPositions) {
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
TEST(TermWords, CrossAttentionMergesContentAndPosition) {
  Session e;
  e.run.ids = {4, 2, 3, 7};
  e.run.target_ids = {1, 5, 2};
  std::size_t cross_taps = 0;
  e.run.model = testing::source_folder() / "tests" / "model-cases" / "encoder_decoder-sinusoidal";
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(e.run);
  for (const AttentionTap& tap : trace->attention) {
    const bool cross = tap.address.kind == AttentionKind::Cross;
    cross_taps += cross ? 1 : 0;
    EXPECT_EQ(has_positions_in_content(*trace, tap), cross);
  }
  EXPECT_EQ(cross_taps, 2u);
}

TEST(TermWords, NamesPositionsInContent) {
  EXPECT_STREQ(term_words(Term::Content, false).full, "content · content");
  EXPECT_STREQ(term_words(Term::Content, true).full, "content with position");
  EXPECT_STREQ(term_words(Term::Bias, true).full, "position bias");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
