#include "core/experiment/inputs.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/experiment/effective_model.h"
#include "core/figure/png.h"
#include "core/model/input_kind.h"
#include "core/text/bpe.h"
#include "tests/core/experiment/tasks.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Returns tokens with these ids. Ids of at least 100 are special tokens.
std::vector<TraceToken> tokens_of(const std::vector<std::int32_t>& ids) {
  std::vector<TraceToken> tokens;
  for (const std::int32_t id : ids) {
    TraceToken token;
    token.id = id;
    token.special = id >= 100;
    tokens.push_back(token);
  }
  return tokens;
}

ModelConfig bidirectional_config(Index types) {
  ModelConfig config = testing::small_config({});
  config.causal = false;
  config.embedding.types = types;
  return config;
}

std::vector<std::int32_t> token_types(const ModelConfig& config, std::vector<TraceToken> tokens) {
  const ModelInput input = model_input(config, {}, {}, std::move(tokens), false);
  if (input.batch.types.size() == 0) return {};
  return {input.batch.types.begin(), input.batch.types.end()};
}

using Ids = std::vector<std::int32_t>;

// Tokens after the first separator belong to the second sentence.
TEST(Inputs, SentencesEndAtSeparators) {
  const ModelConfig config = bidirectional_config(2);
  EXPECT_EQ(token_types(config, tokens_of({101, 1, 2, 102, 3, 4, 102})),
            (Ids{0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(token_types(config, tokens_of({101, 1, 102, 102, 3, 102})), (Ids{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(token_types(config, tokens_of({101, 1, 2, 102})), (Ids{0, 0, 0, 0}));
  EXPECT_EQ(token_types(config, tokens_of({101, 102})), (Ids{0, 0}));
  EXPECT_EQ(token_types(config, tokens_of({102, 1, 102, 2, 102})),
            (Ids{0, 0, 0, 0, 0}));  // only a leading separator
  EXPECT_EQ(token_types(config, tokens_of({101, 1, 2, 1, 2})),
            (Ids{0, 0, 0, 0, 0}));  // no separator
  EXPECT_EQ(token_types(config, tokens_of({102})), (Ids{0}));
  EXPECT_EQ(token_types(bidirectional_config(1), tokens_of({101, 1, 102, 2, 102})), Ids{});
  ModelConfig causal = bidirectional_config(2);
  causal.causal = true;
  EXPECT_EQ(token_types(causal, tokens_of({101, 1, 102, 2, 102})), (Ids{0, 0, 0, 0, 0}));
  std::vector<TraceToken> clamped = tokens_of({1, 2, 3});
  clamped[1].segment = 1;
  clamped[2].segment = 4;  // exceeds the token types of the model: clamped
  EXPECT_EQ(token_types(bidirectional_config(3), clamped), (Ids{0, 1, 2}));
  EXPECT_EQ(token_types(config, clamped), (Ids{0, 1, 1}));
  const ModelInput input = model_input(config, {}, {}, tokens_of({101, 1, 102, 2, 102}), false);
  EXPECT_EQ(input.tokens[2].sentence, 0);
  EXPECT_EQ(input.tokens[3].sentence, 1);
  EXPECT_EQ(input.tokens[4].sentence, 1);
}

// Each position has a target id, or -1 for no target. Only masked models accept target ids.
TEST(Inputs, TargetsRequireMaskedModel) {
  ModelConfig config = bidirectional_config(1);
  Session session;
  const auto input = [&](bool needs_losses) {
    return model_input(config, {}, session.run, tokens_of({1, 2, 3}), needs_losses);
  };
  EXPECT_EQ(input(false).batch.targets.size(), 0);
  EXPECT_EQ(input(true).batch.targets.size(), 3);
  session.run.target_ids = {1, 2, 3};
  EXPECT_THROW(input(true), InputError);
  config.architecture.values.set("masked", 0.15);
  EXPECT_EQ(input(true).batch.targets.size(), 3);
  session.run.target_ids = {-1, 255, 0};
  const IntTensor targets = input(true).batch.targets;
  EXPECT_EQ(Ids(targets.begin(), targets.end()), session.run.target_ids);
  for (const Ids& invalid : {Ids{-2, 0, 0}, Ids{0, 256, 0}, Ids{0, 0}, Ids{0, 0, 0, 0}}) {
    session.run.target_ids = invalid;
    EXPECT_THROW(input(true), InputError);
  }
}

// Pixels have the grey values of the ids after the start token. Pixels without an id are medium
// grey.
TEST(Inputs, PixelGridMatchesInputIds) {
  Session session = testing::completion_session();
  const auto checkpoint = model_store()->checkpoint(session.run.model);
  const ModelConfig& config = checkpoint->model.config;
  const auto grid = pixels_of(config, tokens_of({0, 2, 5, 0, 1}));
  ASSERT_NE(grid, nullptr);
  EXPECT_EQ(grid->width, 3);
  EXPECT_EQ(grid->height, 4);
  EXPECT_EQ(grid->key_shift, 1);
  const float expected[] = {2 / 5.0F, 1, 0, 1 / 5.0F};  // 6 levels
  for (Index pixel = 0; pixel < 12; ++pixel) {
    for (Index c = 0; c < 3; ++c) {
      EXPECT_FLOAT_EQ(grid->colours[3 * pixel + c], pixel < 4 ? expected[pixel] : 0.5F) << pixel;
    }
  }
  const auto full_grid = pixels_of(config, tokens_of(Ids(20, 5)));  // more than the 12 pixels
  EXPECT_EQ(full_grid->colours[35], 1);
  EXPECT_EQ(pixels_of(testing::small_config({}), tokens_of({1})), nullptr);
}

TEST(Inputs, TokensAreNamedByVocabulary) {
  Checkpoint checkpoint;
  checkpoint.model.config = testing::small_config({});
  checkpoint.tokenizer = train_bpe("bytes", 256);
  const std::int32_t size = checkpoint.tokenizer->vocabulary_size();
  EXPECT_EQ(trace_token(0, checkpoint).bytes, checkpoint.tokenizer->bytes(0));
  EXPECT_EQ(trace_token('a', checkpoint).bytes, "a");
  EXPECT_EQ(trace_token(size - 1, checkpoint).bytes, checkpoint.tokenizer->bytes(size - 1));
  EXPECT_EQ(trace_token(size, checkpoint).bytes, "");
  EXPECT_NE(trace_token(size, checkpoint).label, "");
  EXPECT_EQ(trace_token(-1, checkpoint).bytes, "");
}

TEST(Inputs, TextIsTruncatedToContextOrMaxTokens) {
  Checkpoint checkpoint;
  checkpoint.model.config = testing::small_config({.context = 8});
  checkpoint.tokenizer = train_bpe("bytes", 256);
  Session session;
  std::vector<std::string> notes;
  const auto read_bytes = [&](const std::string& text) {
    session.run.text = text;
    notes.clear();
    std::string bytes;
    for (const TraceToken& token :
         tokens_to_read(checkpoint.model.config, checkpoint, session.run, notes)) {
      bytes += token.bytes;
    }
    return bytes;
  };
  EXPECT_EQ(read_bytes("12345678"), "12345678");
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(read_bytes("123456789"), "12345678");
  EXPECT_EQ(notes.size(), 1u);
  session.run.overlong = Overlong::Last;
  EXPECT_EQ(read_bytes("123456789"), "23456789");
  session.run.overlong = Overlong::All;
  EXPECT_EQ(read_bytes("123456789"), "123456789");
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_EQ(read_bytes("12345678"), "12345678");
  EXPECT_TRUE(notes.empty());
  session.run.max_tokens = 5;
  EXPECT_EQ(read_bytes("12345"), "12345");
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(read_bytes("123456"), "12345");
  EXPECT_EQ(notes.size(), 1u);
  session.run.max_tokens = 0;
  EXPECT_EQ(read_bytes(std::string(65536, 'x')).size(), 65536u);
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_EQ(read_bytes(std::string(65537, 'x')).size(), 65536u);
  EXPECT_EQ(notes.size(), 2u);
  session.run.overlong = Overlong::First;
  checkpoint.model.config.segment = 4;  // segmented models accept texts beyond the context
  EXPECT_EQ(read_bytes("123456789"), "123456789");
  EXPECT_TRUE(notes.empty());
}

TEST(Inputs, GlobalTokensPrecedeTheText) {
  Checkpoint checkpoint;
  ModelConfig& config = checkpoint.model.config;
  config = testing::small_config({.context = 8});
  config.vocabulary = 258;
  config.causal = false;
  config.input = {"global_text", {}};
  config.input.values.set("global", Index{2});
  checkpoint.tokenizer = train_bpe("bytes", 256);
  RunSpec spec;
  spec.text = "abcdefghi";
  std::vector<std::string> notes;
  const std::vector<TraceToken> tokens = tokens_to_read(config, checkpoint, spec, notes);
  ASSERT_EQ(tokens.size(), 8u);  // the context includes them
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_EQ(tokens[0].id, 256);
  EXPECT_EQ(tokens[1].id, 257);
  EXPECT_EQ(tokens[1].label, "[g2]");
  EXPECT_TRUE(tokens[1].special);
  EXPECT_EQ(tokens[1].bytes, "");
  EXPECT_EQ(tokens[2].bytes, "a");
  EXPECT_EQ(tokens[7].bytes, "f");
  spec.text.clear();
  spec.ids = {256, 257, 'a'};  // the whole input
  EXPECT_EQ(tokens_to_read(config, checkpoint, spec, notes).size(), 3u);
}

// The label of a patch is its row and column. Its colour is the mean of its pixels.
TEST(Inputs, ImagesAreReadAsPatches) {
  testing::TemporaryFolder folder;
  Image image{6, 4, {}};
  for (int n = 0; n < 24; ++n) {
    for (const int level : {n * 10, 255 - n * 7, n % 6 * 40, 255}) {
      image.rgba.push_back(static_cast<std::uint8_t>(level));
    }
  }
  Session session;
  session.run.input = folder.path() / "a.png";
  write_file(session.run.input, encode_png(image, {}));
  ModelConfig config = bidirectional_config(1);
  config.input = {"patches", default_values(input_kind("patches").parameters)};
  config.input.values.set("width", Index{6});
  config.input.values.set("height", Index{4});
  config.input.values.set("patch", Index{2});
  config.input.values.set("extra", Index{1});
  config.vocabulary = 2;
  config.context = 7;
  config.model_options.output_head = false;
  Checkpoint checkpoint;
  checkpoint.model.config = config;
  std::vector<std::string> notes;
  const std::vector<TraceToken> tokens = tokens_to_read(config, checkpoint, session.run, notes);
  ASSERT_EQ(tokens.size(), 7u);
  EXPECT_TRUE(tokens[0].special);
  for (std::size_t patch = 0; patch < 6; ++patch) {
    EXPECT_FALSE(tokens[patch + 1].special);
    EXPECT_EQ(tokens[patch + 1].label, std::to_string(patch / 3) + "," + std::to_string(patch % 3));
  }
  const ModelInput input = model_input(config, checkpoint, session.run, tokens, false);
  ASSERT_NE(input.pixels, nullptr);
  EXPECT_EQ(input.pixels->width, 3);
  EXPECT_EQ(input.pixels->height, 2);
  EXPECT_EQ(input.pixels->before, 1);
  ASSERT_EQ(input.pixels->picture.shape(), (Shape{4, 6, 3}));
  for (Index row = 0; row < 4; ++row) {
    for (Index column = 0; column < 6; ++column) {
      for (Index c = 0; c < 3; ++c) {
        const int level = image.rgba[static_cast<std::size_t>(4 * (row * 6 + column) + c)];
        EXPECT_NEAR(static_cast<double>(input.pixels->picture(row, column, c)), level / 255.0,
                    0.003);
      }
    }
  }
  for (Index row = 0; row < 2; ++row) {
    for (Index column = 0; column < 3; ++column) {
      for (Index c = 0; c < 3; ++c) {
        double mean = 0;
        for (const auto& [row_offset, column_offset] :
             {std::pair<Index, Index>{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
          mean += static_cast<double>(
                      input.pixels->picture(2 * row + row_offset, 2 * column + column_offset, c)) /
                  4;
        }
        EXPECT_NEAR(static_cast<double>(input.pixels->colours(row, column, c)), mean, 1e-5);
      }
    }
  }
  session.run.ids = {1};
  EXPECT_THROW(tokens_to_read(config, checkpoint, session.run, notes), InputError);
  session.run.ids.clear();
  session.run.input.clear();
  EXPECT_THROW(tokens_to_read(config, checkpoint, session.run, notes), InputError);
}

TEST(Inputs, TargetsBeginWithStartToken) {
  Session session = testing::alignment_session("encoder_decoder-sinusoidal");
  const auto checkpoint = model_store()->checkpoint(session.run.model);
  const ModelConfig& config = checkpoint->model.config;
  const auto input = [&](bool needs_losses) {
    return model_input(config, *checkpoint, session.run, tokens_of(session.run.ids), needs_losses);
  };
  session.run.target_ids = {1, 0, 2};  // 0 is an ordinary id
  EXPECT_EQ(input(false).tokens.size(), 3u);
  EXPECT_EQ(input(false).batch.targets.size(), 0);
  EXPECT_EQ(input(true).batch.targets.size(), 3);
  EXPECT_EQ(input(false).streams.at(0).tokens.size(), session.run.ids.size());
  session.run.target_ids = {1, -1, 2};
  EXPECT_THROW(input(false), InputError);
}

// The extent limits the indices in interventions.
TEST(Inputs, ExtentMatchesModel) {
  ModelConfig config = testing::small_config({.vocabulary = 31, .layers = 3, .heads = 4});
  const ModelExtent extent = model_extent({}, config, {}, 9);
  EXPECT_EQ(extent.layers, 3);
  EXPECT_EQ(extent.heads, 4);
  EXPECT_EQ(extent.vocabulary, 31);
  EXPECT_EQ(extent.tokens, 9);
  EXPECT_EQ(extent.attended, -1);
  EXPECT_TRUE(extent.self_attention);
  EXPECT_FALSE(extent.segments);
  config.segment = 1;
  EXPECT_TRUE(model_extent({}, config, {}, 9).segments);
  Session session = testing::alignment_session("encoder_decoder-sinusoidal");
  const auto checkpoint = model_store()->checkpoint(session.run.model);
  session.run.target_ids = {1, 3, 2};
  EXPECT_EQ(model_extent(*checkpoint, checkpoint->model.config, session.run, 5).attended, -1);
  session.run.interventions.emplace_back();
  EXPECT_EQ(model_extent(*checkpoint, checkpoint->model.config, session.run, 5).attended, 3);
  const auto recurrent = model_store()->checkpoint(testing::model_case("rnn_attention-dot"));
  EXPECT_FALSE(model_extent(*recurrent, recurrent->model.config, {}, 5).self_attention);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
