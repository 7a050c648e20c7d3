#include "core/training/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/model/exits.h"
#include "core/tensor/storage.h"
#include "core/text/bpe.h"
#include "tests/core/checkpoint/files.h"
#include "tests/core/training/plans.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace {

Checkpoint byte_model(Index context) {
  Checkpoint checkpoint;
  checkpoint.model = make_model(testing::small_config({.context = context}), 1);
  Tensor embedding = checkpoint.model.weights.find("embed.weight")->second.value();
  for (float& x : embedding) x *= 20;  // far from uniform predictions
  checkpoint.tokenizer = train_bpe("bytes", 256);
  return checkpoint;
}

// By the definition, one token at a time.
double by_definition(const Checkpoint& checkpoint, const std::string& text) {
  const Index context = checkpoint.model.config.context;
  const Index count = static_cast<Index>(text.size()), length = std::min(context, count - 1);
  double bits = 8;  // the first byte
  Index window = 0;
  for (Index target = 1; target < count; ++target) {
    while (target > window + length) window = std::min(window + context / 2, count - 1 - length);
    IntTensor ids({1, target - window});
    for (Index i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<unsigned char>(text[static_cast<std::size_t>(window + i)]);
    }
    const Tensor logits = forward(checkpoint.model, ids, {}).value();
    double sum = 0;
    const float* last = logits.data() + (ids.size() - 1) * 256;
    for (Index v = 0; v < 256; ++v) sum += std::exp(static_cast<double>(last[v]));
    const auto byte = static_cast<unsigned char>(text[static_cast<std::size_t>(target)]);
    bits += (std::log(sum) - static_cast<double>(last[byte])) / std::numbers::ln2;
  }
  return bits / static_cast<double>(count);
}

TEST(BitsPerByte, IsWhatItsDefinitionSays) {
  const std::string text = "Alice was beginning to get very tired of sitting by her sister";
  for (const Index context : {8, 9, 64}) {
    const Checkpoint checkpoint = byte_model(context);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{9}, text.size()}) {
      const std::string part = text.substr(0, size);
      EXPECT_NEAR(bits_per_byte(checkpoint, part, {}), by_definition(checkpoint, part), 1e-4)
          << context << " " << size;
    }
  }
}

TEST(BitsPerByte, RefusesWhatHasNone) {
  Checkpoint checkpoint = byte_model(8);
  EXPECT_THROW(bits_per_byte(checkpoint, "", {}), InputError);
  checkpoint.tokenizer = nullptr;
  EXPECT_THROW(bits_per_byte(checkpoint, "abc", {}), InputError);
}

Choice variant_with(const char* id) {
  return {id, default_values(variant(id).parameters)};
}

// A model of bytes whose groups remember segments.
Checkpoint segment_model(const char* variant, Index segment) {
  Checkpoint checkpoint = byte_model(64);
  ModelConfig config = checkpoint.model.config;
  config.segment = segment;
  config.groups = uniform_groups(config, variant_with(variant), default_encoding());
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
    const Evaluation evaluation = evaluate_text(checkpoint, text, {}, {});
    EXPECT_NEAR(evaluation.loss(), loss, 1e-5);
    EXPECT_EQ(evaluation.tally.counted(), ids.size() - 1);
    EXPECT_NEAR(evaluation.bits_per_byte(),
                (loss * static_cast<double>(ids.size() - 1) / std::numbers::ln2 + 8) /
                    static_cast<double>(ids.size()),
                1e-5);
    EXPECT_THROW(evaluate_text(checkpoint, text, {.length = 4}, {}), InputError);
  }
}

// Tensors alive at most: eight times the text takes no more.
TEST(EvaluateText, SegmentsTakeMemoryThatDoesNotGrow) {
  const Checkpoint checkpoint = segment_model("segment_memory", 64);
  const auto peak = [&](std::size_t bytes) {
    const std::size_t before = storage_statistics().live_bytes;
    reset_peak_storage();
    evaluate_text(checkpoint, std::string(bytes, 'a'), {}, {});
    return static_cast<double>(storage_statistics().peak_bytes - before);
  };
  peak(256);
  const double some = peak(1024);
  EXPECT_GT(some, 0);
  EXPECT_LT(peak(8192), 2 * some);  // the whole would be eight times as much
}

TEST(EvaluateText, LeavesAtExits) {
  Checkpoint checkpoint = byte_model(16);
  ModelConfig config = testing::small_config({.context = 16, .layers = 4});
  config.exits = Choice{"saturation", default_values(exit_rule("saturation").parameters)};
  checkpoint.model = make_model(config, 3);
  const std::string text = "Alice was beginning to get very tired of sitting by her sister";
  const Evaluation all = evaluate_text(checkpoint, text, {}, {});
  EXPECT_TRUE(std::isnan(all.mean_layers()));
  const Evaluation none = evaluate_text(checkpoint, text, {.exit = 1.0}, {});
  EXPECT_NEAR(none.loss(), all.loss(), 1e-5);
  EXPECT_NEAR(none.mean_layers(), 4, 1e-9);
  const Evaluation early = evaluate_text(checkpoint, text, {.exit = 0.0}, {});
  EXPECT_TRUE(early.mean_layers() >= 1 && early.mean_layers() < 3) << early.mean_layers();
  EXPECT_TRUE(std::isfinite(early.loss()));
}

TEST(EvaluateText, FillsInWhatIsHidden) {
  const testing::TemporaryFolder folder;
  Checkpoint checkpoint = byte_model(16);
  checkpoint.model = make_model(testing::plan_of("masked", folder.path()).model, 1);
  const std::string text(3000, 'a');
  const Evaluation evaluation = evaluate_text(checkpoint, text, {}, {});
  EXPECT_NEAR(static_cast<double>(evaluation.tally.counted()) / 3000, 0.2, 0.03);
  EXPECT_NEAR(evaluation.loss(), std::log(257), 0.5);  // fresh weights
  EXPECT_TRUE(std::isnan(evaluation.bits_per_byte()));
  EXPECT_EQ(evaluate_text(checkpoint, text, {}, {}).loss(), evaluation.loss());
}

TEST(Evaluate, RefusesModelsThatSeeWhatTheyAreToPredict) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "pairs.txt", "24\tvierundzwanzig\n");
  const auto refusal = [](const auto& evaluate) {
    return testing::message_of<InputError>(evaluate);
  };
  const std::string words = "expected one with a causal mask";
  Checkpoint open = byte_model(16);
  open.model.config.causal = false;
  EXPECT_NE(refusal([&] { evaluate_text(open, "abc", {}, {}); }).find(words), std::string::npos);
  // The target is a text of its own, whatever the encoder may see.
  for (const bool recurrent : {false, true}) {
    Checkpoint pairs;
    ModelConfig config = (recurrent ? testing::recurrent_plan(folder.path())
                                    : testing::plan_of("numbers", folder.path()))
                             .model;
    config.causal = false;
    pairs.model = make_model(config, 1);
    pairs.tokenizer = byte_tokenizer();
    const auto evaluate = [&] { evaluate_file(pairs, folder.path() / "pairs.txt", {}, {}); };
    if (recurrent) {  // no attention of its own that could look ahead
      EXPECT_NO_THROW(evaluate());
    } else {
      EXPECT_NE(refusal(evaluate).find(words), std::string::npos);
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
    const Evaluation evaluation = evaluate_file(checkpoint, folder.path() / "pairs.txt", {}, {});
    EXPECT_EQ(evaluation.lines, 2);
    EXPECT_EQ(evaluation.tally.counted(), 14 + 6 + 2);  // and the ends
    EXPECT_EQ(evaluation.bytes, 20);
    EXPECT_NEAR(evaluation.loss(), std::log(257), 0.7);  // fresh weights
    write_file(folder.path() / "pairs.txt", "24\tvierundzwanzig\n7 sieben\n");
    const std::string why = testing::message_of<InputError>(
        [&] { evaluate_file(checkpoint, folder.path() / "pairs.txt", {}, {}); });
    EXPECT_NE(why.find("line 2"), std::string::npos) << why;
  }
}

TEST(EvaluateFile, ReadsPicturesAndTrajectories) {
  const testing::TemporaryFolder folder;
  Checkpoint checkpoint;
  checkpoint.model = make_model(testing::plan_of("image", folder.path()).model, 1);
  const Evaluation pixels = evaluate_file(checkpoint, folder.path() / "pictures" / "0.png", {}, {});
  EXPECT_EQ(pixels.tally.counted(), 16);
  EXPECT_NEAR(pixels.loss(), std::log(3), 0.5);
  EXPECT_THROW(evaluate_file(checkpoint, folder.path() / "text.txt", {}, {}), InputError);
  checkpoint.model = make_model(testing::plan_of("trajectory", folder.path()).model, 1);
  SafetensorsFile file;
  file.tensors.emplace("returns", stored(Tensor::from({3}, {-0.3f, -0.2f, -0.1f})));
  file.tensors.emplace("states", stored(Tensor::zeros({3, 2})));
  file.tensors.emplace("actions", stored(IntTensor::from({3}, {1, 2, -1})));
  write_safetensors(folder.path() / "walk.safetensors", file);
  const Evaluation actions = evaluate_file(checkpoint, folder.path() / "walk.safetensors", {}, {});
  EXPECT_EQ(actions.tally.counted(), 2);
  EXPECT_NEAR(actions.loss(), std::log(4), 0.5);
}

}  // namespace
}  // namespace attnscope
