#include "core/experiment/next_token.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/text/tokenizer.h"
#include "tests/support/small_config.h"
#include "tests/support/synthetic.h"
#include "tests/support/tokenizer_with_end.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::synthetic_trace;
using testing::TokenizerWithEnd;

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
  const float* row = trace.logits.value().data() + 5 * 13;
  EXPECT_EQ(sample_next_token(trace, 5, settings), std::max_element(row, row + 13) - row);
  EXPECT_THROW(sample_next_token(trace, 6, settings), InputError);
  EXPECT_THROW(sample_next_token(Trace(), 0, settings), InputError);
}

// The first token that the user asks for appears; later, an end token ends the text.
TEST(Continuation, FirstTokenIsNoEndToken) {
  Trace trace = synthetic_trace(1, 1, 6);
  const SeededSampling greedy{{.temperature = 0}, 0};
  const std::int32_t end = sample_next_token(trace, 5, greedy);
  trace.tokenizer = std::make_shared<const TokenizerWithEnd>(end);
  const ContinuingToken first = sample_continuation(trace, 5, greedy, true);
  EXPECT_NE(first.id, end);
  EXPECT_FALSE(ends_text(trace, first.id));
  EXPECT_EQ(first.end_id, end);
  EXPECT_EQ(first.end_probability, 1);
  const Tensor logits = logits_at(trace, 5);
  for (Index id = 0; id < logits.size(); ++id) {
    if (id != end) {
      EXPECT_LE(logits[id], logits[first.id]);
    }
  }
  const ContinuingToken later = sample_continuation(trace, 5, greedy, false);
  EXPECT_EQ(later.id, end);
  EXPECT_EQ(later.end_id, -1);
  RunSpec spec;
  EXPECT_FALSE(append_token(spec, trace, later.id));
  EXPECT_TRUE(append_token(spec, trace, first.id));
}

// A sampled text token is kept, and so is the end token of an encoder-decoder's target.
TEST(Continuation, ReplacesOnlyEndTokensOfText) {
  Trace trace = synthetic_trace(1, 1, 6);
  const SeededSampling greedy{{.temperature = 0}, 0};
  const std::int32_t best = sample_next_token(trace, 5, greedy);
  trace.tokenizer = std::make_shared<const TokenizerWithEnd>(best == 0 ? 1 : 0);
  EXPECT_EQ(sample_continuation(trace, 5, greedy, true).id, best);
  trace.tokenizer = std::make_shared<const TokenizerWithEnd>(best);
  EXPECT_TRUE(continues_past_end(trace));
  ModelConfig config;
  config.architecture.id = "encoder_decoder";
  trace.config = std::make_shared<const ModelConfig>(config);
  EXPECT_FALSE(continues_past_end(trace));
  EXPECT_EQ(sample_continuation(trace, 5, greedy, true).id, best);
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
