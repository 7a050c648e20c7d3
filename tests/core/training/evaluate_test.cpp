#include "core/training/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/model/exits.h"
#include "core/tensor/storage.h"
#include "core/text/bpe.h"
#include "core/training/masking.h"
#include "tests/core/checkpoint/files.h"
#include "tests/core/training/plans.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Checkpoint byte_model(Index context) {
  Checkpoint checkpoint;
  checkpoint.model = make_model(testing::small_config({.context = context}), 1);
  Tensor embedding = checkpoint.model.weights.find("embed.weight")->second.value();
  for (float& x : embedding) x *= 20;  // makes predictions far from uniform
  checkpoint.tokenizer = train_bpe("bytes", 256);
  return checkpoint;
}

// Bits per byte, computed by definition, one token at a time.
double expected_bits_per_byte(const Checkpoint& checkpoint, const std::string& text) {
  const Index context = checkpoint.model.config.context;
  const Index count = static_cast<Index>(text.size()), length = std::min(context, count - 1);
  double bits = 8;  // the first byte, which has no context
  Index window = 0;
  for (Index target = 1; target < count; ++target) {
    while (target > window + length) window = std::min(window + context / 2, count - 1 - length);
    IntTensor ids({1, target - window});
    for (Index i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<unsigned char>(text[static_cast<std::size_t>(window + i)]);
    }
    const Tensor logits = forward(checkpoint.model, ids).value();
    double sum = 0;
    const float* last = logits.data() + (ids.size() - 1) * 256;
    for (Index v = 0; v < 256; ++v) sum += std::exp(static_cast<double>(last[v]));
    const auto byte = static_cast<unsigned char>(text[static_cast<std::size_t>(target)]);
    bits += (std::log(sum) - static_cast<double>(last[byte])) / std::numbers::ln2;
  }
  return bits / static_cast<double>(count);
}

TEST(BitsPerByte, MatchesItsDefinition) {
  const std::string text = "Alice was beginning to get very tired of sitting by her sister";
  for (const Index context : {8, 9, 64}) {
    const Checkpoint checkpoint = byte_model(context);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{9}, text.size()}) {
      const std::string part = text.substr(0, size);
      EXPECT_NEAR(bits_per_byte(checkpoint, part), expected_bits_per_byte(checkpoint, part), 1e-4)
          << context << " " << size;
    }
  }
}

TEST(BitsPerByte, RejectsEmptyTextsAndModelsWithoutTokenizer) {
  Checkpoint checkpoint = byte_model(8);
  EXPECT_THROW(bits_per_byte(checkpoint, ""), InputError);
  checkpoint.tokenizer = nullptr;
  EXPECT_THROW(bits_per_byte(checkpoint, "abc"), InputError);
}

Choice default_choice(const char* id) {
  return {id, default_values(variant(id).parameters)};
}

// A byte model with segments of `segment` tokens and this variant.
Checkpoint segment_model(const char* variant, Index segment) {
  Checkpoint checkpoint = byte_model(64);
  ModelConfig config = checkpoint.model.config;
  config.segment = segment;
  config.groups = uniform_groups(config, default_choice(variant), default_encoding());
  checkpoint.model = make_model(config, 2);
  return checkpoint;
}

TEST(EvaluateText, ReadsSegmentsAsOneText) {
  const std::string text = "Alice was beginning to get very tired of sitting by her sister";
  for (const char* id : {"segment_memory", "compressive", "memorizing", "full"}) {
    SCOPED_TRACE(id);
    const Checkpoint checkpoint = segment_model(id, 8);
    IntTensor ids({1, static_cast<Index>(text.size())});
    for (Index n = 0; n < ids.size(); ++n) {
      ids[n] = static_cast<unsigned char>(text[static_cast<std::size_t>(n)]);
    }
    const Output output = run(checkpoint.model, next_token_batch(ids), {});
    const double loss = static_cast<double>(output.losses.at(0).value.value()[0]);
    const Evaluation evaluation = evaluate_text(checkpoint, text, {});
    EXPECT_NEAR(evaluation.loss(), loss, 1e-5);
    EXPECT_EQ(evaluation.tally.count(), ids.size() - 1);
    EXPECT_NEAR(evaluation.bits_per_byte(),
                (loss * static_cast<double>(ids.size() - 1) / std::numbers::ln2 + 8) /
                    static_cast<double>(ids.size()),
                1e-5);
    EXPECT_THROW(evaluate_text(checkpoint, text, {.length = 4}), InputError);
  }
}

// Peak tensor memory does not grow with the length of the text.
TEST(EvaluateText, UsesConstantMemoryForSegments) {
  const Checkpoint checkpoint = segment_model("segment_memory", 64);
  const auto peak = [&](std::size_t bytes) {
    const std::size_t initial_bytes = storage_statistics().live_bytes;
    reset_peak_storage();
    evaluate_text(checkpoint, std::string(bytes, 'a'), {});
    return static_cast<double>(storage_statistics().peak_bytes - initial_bytes);
  };
  peak(256);
  const double short_text_peak = peak(1024);
  EXPECT_GT(short_text_peak, 0);
  // Without segments, the peak would be eight times as high.
  EXPECT_LT(peak(8192), 2 * short_text_peak);
}

TEST(EvaluateText, SupportsEarlyExits) {
  Checkpoint checkpoint = byte_model(16);
  ModelConfig config = testing::small_config({.context = 16, .layers = 4});
  config.exits = Choice{"saturation", default_values(exit_rule("saturation").parameters)};
  checkpoint.model = make_model(config, 3);
  const std::string text = "Alice was beginning to get very tired of sitting by her sister";
  const Evaluation full = evaluate_text(checkpoint, text, {});
  EXPECT_TRUE(std::isnan(full.mean_layers()));
  const Evaluation latest_exits = evaluate_text(checkpoint, text, {.exit = 1.0});
  EXPECT_NEAR(latest_exits.loss(), full.loss(), 1e-5);
  EXPECT_NEAR(latest_exits.mean_layers(), 4, 1e-9);
  const Evaluation earliest_exits = evaluate_text(checkpoint, text, {.exit = 0.0});
  EXPECT_TRUE(earliest_exits.mean_layers() >= 1 && earliest_exits.mean_layers() < 3)
      << earliest_exits.mean_layers();
  EXPECT_TRUE(std::isfinite(earliest_exits.loss()));
}

TEST(EvaluateText, PredictsMaskedTokens) {
  const testing::TemporaryFolder folder;
  Checkpoint checkpoint = byte_model(16);
  checkpoint.model = make_model(testing::plan_of("masked", folder.path()).model, 1);
  const std::string text(3000, 'a');
  const Evaluation evaluation = evaluate_text(checkpoint, text, {});
  EXPECT_NEAR(static_cast<double>(evaluation.tally.count()) / 3000, 0.2, 0.03);
  EXPECT_NEAR(evaluation.loss(), std::log(257), 0.5);  // untrained weights
  EXPECT_TRUE(std::isnan(evaluation.bits_per_byte()));
  EXPECT_EQ(evaluate_text(checkpoint, text, {}).loss(), evaluation.loss());
}

TEST(Evaluate, RejectsModelsThatSeeTheirTargets) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "pairs.txt", "24\tvierundzwanzig\n");
  const auto refusal = [](const auto& evaluate) {
    return testing::message_of<InputError>(evaluate);
  };
  const std::string expected = "expected a model with a causal mask";
  Checkpoint non_causal = byte_model(16);
  non_causal.model.config.causal = false;
  EXPECT_NE(refusal([&] { evaluate_text(non_causal, "abc", {}); }).find(expected),
            std::string::npos);
  // A decoder without a causal mask sees its targets; a recurrent decoder does not.
  for (const bool is_recurrent : {false, true}) {
    Checkpoint checkpoint;
    ModelConfig config = (is_recurrent ? testing::recurrent_plan(folder.path())
                                       : testing::plan_of("numbers", folder.path()))
                             .model;
    config.causal = false;
    checkpoint.model = make_model(config, 1);
    checkpoint.tokenizer = byte_tokenizer();
    const auto evaluate = [&] { evaluate_file(checkpoint, folder.path() / "pairs.txt", {}); };
    if (is_recurrent) {  // no self-attention that could leak future tokens
      EXPECT_NO_THROW(evaluate());
    } else {
      EXPECT_NE(refusal(evaluate).find(expected), std::string::npos);
    }
  }
}

TEST(EvaluateFile, ReadsLinesOfSourcesAndTargets) {
  const testing::TemporaryFolder folder;
  for (const TrainingPlan& plan :
       {testing::plan_of("numbers", folder.path()), testing::recurrent_plan(folder.path())}) {
    Checkpoint checkpoint;
    checkpoint.model = make_model(plan.model, 1);
    checkpoint.tokenizer = byte_tokenizer();
    write_file(folder.path() / "pairs.txt", "24\tvierundzwanzig\n7\tsieben\n");
    const Evaluation evaluation = evaluate_file(checkpoint, folder.path() / "pairs.txt", {});
    EXPECT_EQ(total(evaluation.by_length).pairs, 2);
    EXPECT_EQ(evaluation.tally.count(), 14 + 6 + 2);  // including an end token per line
    EXPECT_EQ(evaluation.bytes, 20);
    EXPECT_NEAR(evaluation.loss(), std::log(257), 0.7);  // untrained weights
    write_file(folder.path() / "pairs.txt", "24\tvierundzwanzig\n7 sieben\n");
    const std::string message = testing::message_of<InputError>(
        [&] { evaluate_file(checkpoint, folder.path() / "pairs.txt", {}); });
    EXPECT_NE(message.find("line 2"), std::string::npos) << message;
  }
}

TEST(EvaluateFile, ReadsImagesAndTrajectories) {
  const testing::TemporaryFolder folder;
  Checkpoint checkpoint;
  checkpoint.model = make_model(testing::plan_of("image", folder.path()).model, 1);
  const Evaluation pixels = evaluate_file(checkpoint, folder.path() / "pictures" / "0.png", {});
  EXPECT_EQ(pixels.tally.count(), 16);
  EXPECT_NEAR(pixels.loss(), std::log(3), 0.5);
  EXPECT_THROW(evaluate_file(checkpoint, folder.path() / "text.txt", {}), InputError);
  checkpoint.model = make_model(testing::plan_of("trajectory", folder.path()).model, 1);
  SafetensorsFile file;
  file.tensors.emplace("returns", stored(Tensor::from({3}, {-0.3f, -0.2f, -0.1f})));
  file.tensors.emplace("states", stored(Tensor::zeros({3, 2})));
  file.tensors.emplace("actions", stored(IntTensor::from({3}, {1, 2, -1})));
  write_safetensors(folder.path() / "walk.safetensors", file);
  const Evaluation actions = evaluate_file(checkpoint, folder.path() / "walk.safetensors", {});
  EXPECT_EQ(actions.tally.count(), 2);
  EXPECT_NEAR(actions.loss(), std::log(4), 0.5);
}

TEST(BitsPerByte, UsesWindowsOfTheRequestedLength) {
  const std::string text = "Alice was beginning to get very tired";
  const Checkpoint checkpoint = byte_model(64);
  for (const Index length : {1, 2, 8}) {
    Checkpoint short_context = checkpoint;
    short_context.model.config.context = length;
    if (length > 1) {
      EXPECT_NEAR(bits_per_byte(checkpoint, text, length),
                  expected_bits_per_byte(short_context, text), 1e-4);
    }
    EXPECT_EQ(evaluate_text(checkpoint, text, {.length = length}).tally.count(),
              static_cast<Index>(text.size()) - 1);
  }
  // Windows of one token: each token is predicted from the preceding token only.
  IntTensor ids({static_cast<Index>(text.size()) - 1, 1}), targets(ids.shape());
  for (Index n = 0; n < ids.size(); ++n) {
    ids[n] = text[static_cast<std::size_t>(n)];
    targets[n] = text[static_cast<std::size_t>(n) + 1];
  }
  Tally tally;
  tally.add(forward(checkpoint.model, ids).value(), targets);
  EXPECT_NEAR(evaluate_text(checkpoint, text, {.length = 1}).loss(), tally.score().loss, 1e-5);
  EXPECT_EQ(evaluate_text(checkpoint, "a", {}).tally.count(), 0);
  EXPECT_NEAR(evaluate_text(checkpoint, "a", {}).bits_per_byte(), 8, 1e-12);
}

TEST(Evaluation, AddsUp) {
  Evaluation sum, addend;
  EXPECT_TRUE(std::isnan(sum.bits_per_byte()) && std::isnan(sum.mean_layers()));
  addend.tally.add(Tensor::zeros({1, 2, 4}), IntTensor::from({1, 2}, {1, 0}));
  addend.bytes = 3;
  addend.first_token_nats = std::log(4);
  addend.by_length[3].pairs = 5;
  addend.by_length[3].matches = 2;
  addend.layers = 7;
  addend.tokens_with_exits = 2;
  for (int n = 0; n < 3; ++n) sum.add(addend);
  EXPECT_EQ(sum.tally.count(), 6);
  EXPECT_EQ(sum.tally.correct_count(), 3);
  EXPECT_NEAR(sum.tally.nats(), 6 * std::log(4), 1e-5);
  EXPECT_EQ(sum.bytes, 9);
  EXPECT_NEAR(sum.first_token_nats, 3 * std::log(4), 1e-12);
  EXPECT_EQ(sum.by_length[3].pairs, 15);
  EXPECT_EQ(sum.by_length[3].matches, 6);
  EXPECT_EQ(sum.layers, 21);
  EXPECT_EQ(sum.tokens_with_exits, 6);
  EXPECT_NEAR(sum.loss(), std::log(4), 1e-6);
  EXPECT_NEAR(sum.bits_per_byte(), 9.0 * 2 / 9, 1e-6);  // nine tokens of two bits, nine bytes
  EXPECT_EQ(sum.mean_layers(), 3.5);
}

// Id 0 is an ordinary token whose layers are counted.
TEST(EvaluateText, CountsLayersOfEveryToken) {
  Checkpoint checkpoint = byte_model(16);
  ModelConfig config = testing::small_config({.context = 16, .layers = 4});
  config.exits = Choice{"saturation", default_values(exit_rule("saturation").parameters)};
  checkpoint.model = make_model(config, 3);
  const std::string zeros(10, '\0');
  const Evaluation evaluation = evaluate_text(checkpoint, zeros, {.exit = 1.0});
  EXPECT_EQ(evaluation.tokens_with_exits, 9);
  EXPECT_EQ(evaluation.layers, 36);
}

// Windows are adjacent, and the last window is shorter. One random generator draws the masks of all
// windows in order.
TEST(EvaluateText, MasksTokensInAdjacentWindows) {
  const testing::TemporaryFolder folder;
  Checkpoint checkpoint = byte_model(16);
  checkpoint.model = make_model(testing::plan_of("masked", folder.path()).model, 1);
  std::string text;
  for (int n = 0; n < 105; ++n) text += static_cast<char>('a' + n * n % 26);
  for (const Index length_option : {Index{0}, Index{10}, Index{200}}) {
    const Index length = length_option > 0 ? length_option : checkpoint.model.config.context;
    Random random(1);
    Tally tally;
    for (Index first = 0; first < 105; first += length) {
      const Index window_size = std::min<Index>(length, 105 - first);
      std::vector<std::int32_t> ids;
      for (Index n = 0; n < window_size; ++n)
        ids.push_back(text[static_cast<std::size_t>(first + n)]);
      Batch batch;
      batch.ids = IntTensor({1, window_size});
      batch.targets = IntTensor({1, window_size});
      mask_tokens(ids.data(), model_masking(checkpoint.model.config), random, 0, batch);
      tally.add(forward(checkpoint.model, batch.ids).value(), batch.targets);
    }
    if (length_option > 105) checkpoint.model.config.context = 300;
    const Evaluation evaluation = evaluate_text(checkpoint, text, {.length = length_option});
    EXPECT_EQ(evaluation.tally.count(), tally.count());
    EXPECT_NEAR(evaluation.loss(), tally.score().loss, 1e-5);
  }
}

TEST(EvaluateFile, ReportsInvalidLines) {
  const testing::TemporaryFolder folder;
  Checkpoint checkpoint;
  checkpoint.model = make_model(testing::plan_of("numbers", folder.path()).model, 1);
  checkpoint.tokenizer = byte_tokenizer();
  const auto file = folder.path() / "pairs.txt";
  const auto refusal = [&](const std::string& text, const EvaluationOptions& settings = {}) {
    write_file(file, text);
    return testing::message_of<InputError>([&] { evaluate_file(checkpoint, file, settings); });
  };
  EXPECT_NE(refusal("7\tsieben\n24\t\n").find("line 2"), std::string::npos);
  EXPECT_NE(refusal("\tsieben\n").find("line 1"), std::string::npos);
  EXPECT_NE(refusal("7\ts\n8\ta\n\n").find("line 3"), std::string::npos);
  EXPECT_NE(refusal("").find("expected lines"), std::string::npos);
  EXPECT_EQ(refusal("7\ts\n8\ta"), "no error");
  EXPECT_NE(refusal("7\ts", {.length = 1}).find("length: expected no length"), std::string::npos);
}

// Sources include the special tokens of the tokenizer; targets do not.
TEST(EvaluateFile, AddsSpecialTokensToSources) {
  struct MarkingTokenizer : Tokenizer {
    std::string kind() const override { return bytes_->kind(); }
    std::int32_t vocabulary_size() const override { return bytes_->vocabulary_size(); }
    std::vector<Token> encode(std::string_view text) const override {
      std::vector<Token> tokens = bytes_->encode(text);
      tokens.insert(tokens.begin(), {5, 0, 0, true});
      return tokens;
    }
    std::string bytes(std::int32_t id) const override { return bytes_->bytes(id); }
    bool is_special(std::int32_t id) const override { return id == 5; }
    void save(const std::filesystem::path&) const override {}
    std::shared_ptr<const Tokenizer> bytes_ = byte_tokenizer();
  };
  const testing::TemporaryFolder folder;
  Checkpoint checkpoint;
  checkpoint.model = make_model(testing::plan_of("numbers", folder.path()).model, 1);
  for (auto& [name, weight] : checkpoint.model.weights) {
    Tensor values = weight.value();
    if (name.find("norm") == std::string::npos) {
      for (float& x : values) x *= 5;
    }
  }
  checkpoint.tokenizer = std::make_shared<MarkingTokenizer>();
  checkpoint.end_tokens = {7};
  write_file(folder.path() / "pairs.txt", "24\tvi\n");
  const Evaluation evaluation = evaluate_file(checkpoint, folder.path() / "pairs.txt", {});
  Batch batch;
  batch.source = IntTensor::from({1, 3}, {5, '2', '4'});
  batch.ids = IntTensor::from({1, 3}, {256, 'v', 'i'});
  const Tensor logits = run(checkpoint.model, batch, {}).logits.value();
  Tally tally;
  tally.add(logits, IntTensor::from({1, 3}, {'v', 'i', 7}));
  EXPECT_NEAR(evaluation.loss(), tally.score().loss, 1e-5);
  EXPECT_EQ(total(evaluation.by_length).matches, 0);
  EXPECT_EQ(total(evaluation.by_length).pairs, 1);
  // A line counts as exact if all of its tokens, including the end token, are the most likely
  // tokens.
  const auto most_likely_token = [&](Index i) {
    const float* row = logits.data() + i * logits.dim(2);
    return static_cast<std::int32_t>(std::max_element(row, row + logits.dim(2)) - row);
  };
  const std::int32_t first = most_likely_token(0);
  batch.ids = IntTensor::from({1, 2}, {256, first});
  const Tensor single_logits = run(checkpoint.model, batch, {}).logits.value();
  const float* row = single_logits.data() + single_logits.dim(2);
  const auto end =
      static_cast<std::int32_t>(std::max_element(row, row + single_logits.dim(2)) - row);
  if (first > 0 && first < 128 && first != '\t' && first != '\n') {
    checkpoint.end_tokens = {end};
    write_file(folder.path() / "pairs.txt", std::string("24\t") + static_cast<char>(first) + "\n");
    EXPECT_EQ(total(evaluate_file(checkpoint, folder.path() / "pairs.txt", {}).by_length).matches,
              1);
  }
}

TEST(EvaluateFile, CountsLayersOfImagesAndRejectsWindows) {
  const testing::TemporaryFolder folder;
  Checkpoint checkpoint;
  ModelConfig config = testing::plan_of("image", folder.path()).model;
  config.layers = 4;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  config.exits = Choice{"saturation", default_values(exit_rule("saturation").parameters)};
  checkpoint.model = make_model(config, 3);
  std::string table;
  for (int n = 0; n < 3; ++n) table += "0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,7\n";
  write_file(folder.path() / "table.csv", table);
  const auto file = folder.path() / "table.csv";
  const Evaluation latest_exits = evaluate_file(checkpoint, file, {.exit = 1.0});
  EXPECT_EQ(latest_exits.tokens_with_exits, 48);
  EXPECT_EQ(latest_exits.layers, 192);
  EXPECT_EQ(latest_exits.tally.count(), 48);
  const Evaluation earliest_exits = evaluate_file(checkpoint, file, {.exit = 0.0});
  EXPECT_TRUE(earliest_exits.mean_layers() >= 1 && earliest_exits.mean_layers() < 4)
      << earliest_exits.mean_layers();
  const auto message =
      testing::message_of<InputError>([&] { evaluate_file(checkpoint, file, {.length = 1}); });
  EXPECT_NE(message.find("length: expected no length"), std::string::npos) << message;
  // Text files accept a window length.
  Checkpoint text_checkpoint = byte_model(16);
  write_file(folder.path() / "some.txt", "Alice was beginning to get very tired");
  EXPECT_EQ(evaluate_file(text_checkpoint, folder.path() / "some.txt", {.length = 4}).loss(),
            evaluate_text(text_checkpoint, "Alice was beginning to get very tired", {.length = 4})
                .loss());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
