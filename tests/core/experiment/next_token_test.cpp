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
  std::set<std::int32_t> tokens;
  for (settings.seed = 0; settings.seed < 40; ++settings.seed) {
    const std::int32_t token = sample_next_token(trace, 5, settings);
    EXPECT_EQ(sample_next_token(trace, 5, settings), token);
    tokens.insert(token);
  }
  EXPECT_GT(tokens.size(), 3u);
  settings.sampling.temperature = 0;
  const float* row = trace.logits.data() + 5 * 13;
  EXPECT_EQ(sample_next_token(trace, 5, settings), std::max_element(row, row + 13) - row);
  EXPECT_THROW(sample_next_token(trace, 6, settings), InputError);
  EXPECT_THROW(sample_next_token(Trace(), 0, settings), InputError);
}

TEST(Continuation, ContinuesTextOrIds) {
  Trace trace = synthetic_trace(1, 1, 3);
  trace.tokenizer = byte_tokenizer();
  RunSpec spec;
  spec.text = "abc";
  EXPECT_TRUE(append_token(spec, trace, 'd'));
  EXPECT_EQ(spec.text, "abcd");
  EXPECT_EQ(spec.overlong, Overlong::First);
  trace.config = testing::config_of_context(3);  // the context is full
  EXPECT_TRUE(append_token(spec, trace, 'e'));
  EXPECT_EQ(spec.overlong, Overlong::Last);
  EXPECT_FALSE(append_token(spec, trace, 100000));  // not in the vocabulary
  EXPECT_EQ(spec.text, "abcde");
  spec.ids = {1, 2};
  EXPECT_TRUE(append_token(spec, trace, 3));
  EXPECT_EQ(spec.ids, (std::vector<std::int32_t>{1, 2, 3}));
}

TEST(Continuation, DetectsCutText) {
  Trace trace = synthetic_trace(1, 1, 2);
  trace.tokens.back().end = 2;
  RunSpec spec;
  spec.text = "ab";
  EXPECT_TRUE(shows_end(trace, spec));
  spec.text = "abc";
  EXPECT_FALSE(shows_end(trace, spec));
  spec.overlong = Overlong::Last;
  EXPECT_TRUE(shows_end(trace, spec));
}

// An encoder-decoder extends its target. The text is its source.
TEST(Continuation, EncoderDecoderContinuesTarget) {
  Trace trace = synthetic_trace(1, 1, 3);
  trace.tokenizer = byte_tokenizer();
  ModelConfig config;
  config.architecture.id = "encoder_decoder";
  config.context = 3;
  trace.config = std::make_shared<const ModelConfig>(config);
  RunSpec spec;
  spec.text = "source";
  spec.target = "a";
  EXPECT_TRUE(shows_end(trace, spec));
  EXPECT_TRUE(append_token(spec, trace, 'b'));
  EXPECT_EQ(spec.target, "ab");
  EXPECT_EQ(spec.text, "source");
  EXPECT_EQ(spec.overlong, Overlong::First);
  spec.target_ids = {1};
  EXPECT_TRUE(append_token(spec, trace, 'c'));
  EXPECT_EQ(spec.target_ids, (std::vector<std::int32_t>{1, 'c'}));
}

TEST(Continuation, RejectsInputsThatAreNotText) {
  Trace trace = synthetic_trace(1, 1, 3);
  trace.tokenizer = byte_tokenizer();
  RunSpec spec;
  spec.input = "pixels.safetensors";
  EXPECT_FALSE(append_token(spec, trace, 'a'));
  EXPECT_EQ(spec.text, "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
