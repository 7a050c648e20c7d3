#include "core/experiment/next_token.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/text/tokenizer.h"
#include "tests/support/small_config.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::synthetic_trace;

TEST(Continuation, SamplesSameTokenForSameSeed) {
  const Trace trace = synthetic_trace(1, 1, 6);
  SeededSampling settings;
  std::set<std::int32_t> drawn;
  for (settings.seed = 0; settings.seed < 40; ++settings.seed) {
    const std::int32_t token = sample_next_token(trace, 5, settings);
    EXPECT_EQ(sample_next_token(trace, 5, settings), token);
    drawn.insert(token);
  }
  EXPECT_GT(drawn.size(), 3u);
  settings.sampling.temperature = 0;
  const float* row = trace.logits.data() + 5 * 13;
  EXPECT_EQ(sample_next_token(trace, 5, settings), std::max_element(row, row + 13) - row);
  EXPECT_THROW(sample_next_token(trace, 6, settings), InputError);
  EXPECT_THROW(sample_next_token(Trace(), 0, settings), InputError);
}

TEST(Continuation, ContinuesTextOrIds) {
  Trace trace = synthetic_trace(1, 1, 3);
  trace.tokenizer = byte_tokenizer();
  RunSpec experiment;
  experiment.text = "abc";
  EXPECT_TRUE(append_token(experiment, trace, 'd'));
  EXPECT_EQ(experiment.text, "abcd");
  EXPECT_EQ(experiment.overlong, Overlong::First);
  trace.config = testing::config_of_context(3);  // full
  EXPECT_TRUE(append_token(experiment, trace, 'e'));
  EXPECT_EQ(experiment.overlong, Overlong::Last);
  EXPECT_FALSE(append_token(experiment, trace, 100000));  // no text
  EXPECT_EQ(experiment.text, "abcde");
  experiment.ids = {1, 2};
  EXPECT_TRUE(append_token(experiment, trace, 3));
  EXPECT_EQ(experiment.ids, (std::vector<std::int32_t>{1, 2, 3}));
}

TEST(Continuation, DetectsCutText) {
  Trace trace = synthetic_trace(1, 1, 2);
  trace.tokens.back().end = 2;
  RunSpec experiment;
  experiment.text = "ab";
  EXPECT_TRUE(shows_end(trace, experiment));
  experiment.text = "abc";
  EXPECT_FALSE(shows_end(trace, experiment));
  experiment.overlong = Overlong::Last;
  EXPECT_TRUE(shows_end(trace, experiment));
}

// An encoder-decoder extends its target; the text is its input.
TEST(Continuation, EncoderDecoderContinuesTarget) {
  Trace trace = synthetic_trace(1, 1, 3);
  trace.tokenizer = byte_tokenizer();
  ModelConfig config;
  config.architecture.id = "encoder_decoder";
  config.context = 3;
  trace.config = std::make_shared<const ModelConfig>(config);
  RunSpec experiment;
  experiment.text = "source";
  experiment.target = "a";
  EXPECT_TRUE(shows_end(trace, experiment));
  EXPECT_TRUE(append_token(experiment, trace, 'b'));
  EXPECT_EQ(experiment.target, "ab");
  EXPECT_EQ(experiment.text, "source");
  EXPECT_EQ(experiment.overlong, Overlong::First);
  experiment.target_ids = {1};
  EXPECT_TRUE(append_token(experiment, trace, 'c'));
  EXPECT_EQ(experiment.target_ids, (std::vector<std::int32_t>{1, 'c'}));
}

TEST(Continuation, RejectsInputsThatAreNotText) {
  Trace trace = synthetic_trace(1, 1, 3);
  trace.tokenizer = byte_tokenizer();
  RunSpec experiment;
  experiment.input = "pixels.safetensors";
  EXPECT_FALSE(append_token(experiment, trace, 'a'));
  EXPECT_EQ(experiment.text, "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
