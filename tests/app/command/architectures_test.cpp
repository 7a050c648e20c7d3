// train, generate, evaluate and run with every kind of model, using the built program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/exits.h"
#include "core/tensor/safetensors.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::expect_refusal;
using testing::ProcessResult;

const std::string kProgram = testing::program_path();

class Architectures : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() / name; }
  // Trains a test plan; returns the folder of the model.
  std::string train_model(TrainingPlan plan) const {
    Json json = to_json(plan);
    json["folder"] = path("model");
    write_file(path("plan.json"), json.dump());
    const ProcessResult result =
        testing::run_process(kProgram, {"train", "--plan", path("plan.json"), "--quiet"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.out.find("held out loss"), std::string::npos) << result.out;
    return path("model");
  }
  ProcessResult run_on_model(const std::string& command, std::vector<std::string> extra) const {
    std::vector<std::string> arguments = {command, "--model", path("model")};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return testing::run_process(kProgram, arguments);
  }
  Json generate(std::vector<std::string> extra) const {
    extra.insert(extra.end(), {"--backend", "cpu", "-o", path("made.json")});
    const ProcessResult result = run_on_model("generate", extra);
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(read_file(path("made.json")));
  }
  void save(const ModelConfig& config) const {
    Checkpoint checkpoint;
    checkpoint.model = make_model(config, 1);
    checkpoint.tokenizer = byte_tokenizer();
    save_checkpoint(path("model"), checkpoint, false);
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Architectures, GeneratesTargetsOfSources) {
  for (const TrainingPlan& plan :
       {testing::plan_of("numbers", folder_.path()), testing::recurrent_plan(folder_.path())}) {
    SCOPED_TRACE(plan.model.architecture.id);
    std::filesystem::remove_all(path("model"));
    train_model(plan);
    const Json object = generate({"--text", "24", "--temperature", "0", "--tokens", "5"});
    EXPECT_EQ(object["source"], Json({50, 52}));
    EXPECT_EQ(object["prompt"], Json({256}));
    // Each token is the most likely one that `run` predicts for the target so far.
    std::string target = "256";
    for (const Json& id : object["ids"]) {
      const ProcessResult run = run_on_model(
          "run", {"--text", "24", "--target-ids", target, "--backend", "cpu", "-o", path("trace")});
      ASSERT_EQ(run.status, 0) << run.err;
      const Tensor logits = read_safetensors(path("trace")).tensors.at("logits").floats();
      const Tensor last_logits = logits.slice(logits.dim(0) - 1, 1);
      EXPECT_EQ(id, std::max_element(last_logits.begin(), last_logits.end()) - last_logits.begin());
      target += "," + std::to_string(id.get<int>());
    }
    // A single beam generates these tokens, too. Several beams are sorted by probability.
    const Json single_beam = generate({"--text", "24", "--beams", "1", "--tokens", "5"});
    EXPECT_EQ(single_beam["ids"], object["ids"]);
    const Json four_beams = generate({"--text", "24", "--beams", "4", "--tokens", "5"});
    ASSERT_EQ(four_beams["beams"].size(), 4u);
    EXPECT_EQ(four_beams["ids"], four_beams["beams"][0]["ids"]);
    EXPECT_GE(four_beams["beams"][0]["log_probability"], four_beams["beams"][3]["log_probability"]);
    expect_refusal(run_on_model("generate", {"--text", "24", "--beams", "-1"}), "--beams");
    const Json prefixed = generate({"--text", "24", "--target", "vier", "--tokens", "2"});
    EXPECT_EQ(prefixed["prompt"], Json({256, 'v', 'i', 'e', 'r'}));
    write_file(path("pairs.txt"), "24\tvierundzwanzig\n");
    const ProcessResult evaluation =
        run_on_model("evaluate", {path("pairs.txt"), "--task", "numbers"});
    EXPECT_EQ(evaluation.status, 0) << evaluation.err;
    EXPECT_NE(evaluation.out.find("exact match"), std::string::npos) << evaluation.out;
    EXPECT_NE(evaluation.out.find("numbers: loss"), std::string::npos) << evaluation.out;
    const ProcessResult table =
        run_on_model("evaluate", {path("pairs.txt"), "--by-length", "--compare-model",
                                  path("model"), "-o", path("lengths.csv")});
    EXPECT_EQ(table.status, 0) << table.err;
    EXPECT_TRUE(table.out.starts_with("source tokens    pairs")) << table.out;
    const std::string csv = read_file(path("lengths.csv"));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2) << csv;
    ASSERT_EQ(
        run_on_model("evaluate", {"--task", "numbers", "--by-length", "-o", path("lengths.png")})
            .status,
        0);
    EXPECT_GT(std::filesystem::file_size(path("lengths.png")), 1000u);
    expect_refusal(run_on_model("evaluate", {path("pairs.txt"), "-o", path("lengths.csv")}),
                   "--by-length");
    expect_refusal(run_on_model("evaluate", {"--repeat", "--by-length"}), "--by-length");
    expect_refusal(run_on_model("evaluate", {"--task", "trajectory"}), "model.architecture");
    expect_refusal(run_on_model("evaluate", {"--task", "text"}), "--task");
  }
}

// Options of `train` for the table of Narang et al., 2021: the config has them, training works, and
// the model is drawn.
TEST_F(Architectures, TrainsAndDrawsIngredients) {
  struct Ingredient {
    std::vector<std::string> options;
    Json config;  // expected members
  };
  const std::vector<Ingredient> ingredients{
      {{"--activation", "glu"}, {{"activation", "sigmoid"}, {"gated", true}}},
      {{"--activation", "selu", "--gated", "false"}, {{"activation", "selu"}, {"gated", false}}},
      {{"--hidden", "0"}, {{"hidden", 0}}},
      {{"--join", "none"}, {{"join", {{"type", "none"}}}}},
      {{"--join", "rezero", "--norm", "none"}, {{"join", {{"type", "rezero"}}}, {"norm", "none"}}},
      {{"--join", "fixup", "--norm", "none"}, {{"join", {{"type", "fixup"}}}, {"norm", "none"}}},
      {{"--output-norm", "also"}, {{"output_norm", "also"}}},
      {{"--own-layers", "1"}, {{"own_layers", 1}}},
      {{"--softmax", "mixture,components=2"},
       {{"softmax", {{"type", "mixture"}, {"components", 2}}}}},
      {{"--softmax", "adaptive,cutoffs=[8,20],narrowing=2", "--tied-output", "false"},
       {{"softmax", {{"type", "adaptive"}, {"cutoffs", Json({8, 20})}, {"narrowing", 2}}}}},
  };
  for (const Ingredient& ingredient : ingredients) {
    SCOPED_TRACE(ingredient.options[0] + " " + ingredient.options[1]);
    std::filesystem::remove_all(path("model"));
    std::vector<std::string> arguments{"train",     "--preset",
                                       "induction", "--steps",
                                       "2",         "--width",
                                       "16",        "--head-size",
                                       "8",         "--heads",
                                       "2",         "--hidden",
                                       "12",        "--layers",
                                       "2",         "--vocabulary",
                                       "256",       "--context",
                                       "16",        "--batch-size",
                                       "2",         "--evaluate-batches",
                                       "1",         "--quiet",
                                       "-o",        path("model")};
    // An option is given once.
    for (std::size_t n = 0; n < ingredient.options.size(); n += 2) {
      const auto given = std::ranges::find(arguments, ingredient.options[n]);
      if (given != arguments.end()) {
        *(given + 1) = ingredient.options[n + 1];
      } else {
        arguments.push_back(ingredient.options[n]);
        arguments.push_back(ingredient.options[n + 1]);
      }
    }
    const ProcessResult trained = testing::run_process(kProgram, arguments);
    ASSERT_EQ(trained.status, 0) << trained.err;
    const Json config = Json::parse(read_file(path("model/config.json")));
    for (const auto& [key, value] : ingredient.config.items()) {
      ASSERT_TRUE(config.contains(key)) << key;
      EXPECT_EQ(config[key], value) << key;
    }
    const ProcessResult drawn =
        run_on_model("render", {"--ids", "1,2,3,1,2", "--view", "architecture", "--backend", "cpu",
                                "-o", path("model.png")});
    EXPECT_EQ(drawn.status, 0) << drawn.err;
  }
  expect_refusal(testing::run_process(kProgram, {"train", "--preset", "induction", "--join",
                                                 "fixup", "-o", path("refused")}),
                 "expected norm \"none\" for fixup, found \"rms\"");
}

TEST_F(Architectures, CompletesImages) {
  train_model(testing::plan_of("image", folder_.path()));
  const std::string picture = path("pictures/1.png");
  const Json object = generate({"--input", picture});
  EXPECT_EQ(object["prompt"], Json({2, 1, 0, 1, 0, 1, 0, 1, 0}));  // start, half of the image
  EXPECT_EQ(object["ids"].size(), 8u);
  EXPECT_EQ(object["ended_by"], "end");
  for (const Json& id : object["ids"]) EXPECT_LT(id.get<int>(), 2);
  const ProcessResult rows = run_on_model("generate", {"--input", picture, "--rows", "3"});
  EXPECT_EQ(std::count(rows.out.begin(), rows.out.end(), '\n'), 1) << rows.out;
  EXPECT_EQ(std::count(rows.out.begin(), rows.out.end(), ' '), 3) << rows.out;
  EXPECT_EQ(generate({"--input", picture, "--rows", "0", "--tokens", "5"})["ids"].size(), 5u);
  ASSERT_EQ(run_on_model("generate", {"--input", picture, "-o", path("made.png")}).status, 0);
  // The completed image is readable by the model, and its first half is unchanged.
  const auto read_pixels = [&](const std::string& file) {
    EXPECT_EQ(run_on_model("run", {"--input", file, "-o", path("trace"), "--losses"}).status, 0);
    return read_safetensors(path("trace")).tensors.at("ids").integers();
  };
  const IntTensor input_pixels = read_pixels(picture),
                  output_pixels = read_pixels(path("made.png"));
  EXPECT_TRUE(std::equal(input_pixels.begin(), input_pixels.begin() + 9, output_pixels.begin()));
  const ProcessResult evaluation = run_on_model("evaluate", {picture});
  EXPECT_NE(evaluation.out.find("loss"), std::string::npos) << evaluation.err;
  expect_refusal(run_on_model("generate", {"--input", picture, "--rows", "5"}), "rows");
  expect_refusal(run_on_model("run", {"--input", path("text.txt"), "-o", path("t")}),
                 "expected an image");
  ASSERT_EQ(testing::run_process(kProgram, {"render", "--model", path("model"), "--input", picture,
                                            "-o", path("map.png")})
                .status,
            0);
}

TEST_F(Architectures, PredictsNextActionOfTrajectory) {
  train_model(testing::plan_of("trajectory", folder_.path()));
  const auto write_trajectory = [&](std::int32_t last_action) {
    SafetensorsFile file;
    file.tensors.emplace("returns", stored(Tensor::from({2}, {-0.2f, -0.1f})));
    file.tensors.emplace("states", stored(Tensor::from({2, 2}, {1, 0, 0.5f, 0})));
    file.tensors.emplace("actions", stored(IntTensor::from({2}, {0, last_action})));
    write_safetensors(path("walk.safetensors"), file);
  };
  write_trajectory(-1);
  const Json object = generate({"--input", path("walk.safetensors"), "--temperature", "0"});
  ASSERT_EQ(object["ids"].size(), 1u);
  ASSERT_EQ(run_on_model("run", {"--input", path("walk.safetensors"), "-o", path("trace")}).status,
            0);
  const Tensor logits = read_safetensors(path("trace")).tensors.at("logits").floats();
  const Tensor last = logits.slice(1, 1);
  EXPECT_EQ(object["ids"][0], std::max_element(last.begin(), last.end()) - last.begin());
  write_trajectory(3);
  expect_refusal(run_on_model("generate", {"--input", path("walk.safetensors")}),
                 "expected -1 at the last step");
  const ProcessResult evaluation =
      run_on_model("evaluate", {path("walk.safetensors"), "--task", "trajectory"});
  EXPECT_NE(evaluation.out.find("trajectory: loss"), std::string::npos) << evaluation.err;
  const ProcessResult returns = run_on_model("evaluate", {"--returns", "-o", path("returns.png")});
  EXPECT_EQ(returns.status, 0) << returns.err;
  EXPECT_NE(returns.out.find("last step alone"), std::string::npos) << returns.out;
  EXPECT_GT(std::filesystem::file_size(path("returns.png")), 1000u);
  expect_refusal(run_on_model("evaluate", {"--returns", "--repeat"}), "--returns");
}

TEST_F(Architectures, PredictsContinuousActions) {
  train_model(testing::plan_of("steering", folder_.path()));
  const auto write_trajectory = [&](Index actions, float first) {
    SafetensorsFile file;
    file.tensors.emplace("returns", stored(Tensor::from({2}, {-0.2f, -0.1f})));
    file.tensors.emplace("states", stored(Tensor::from({2, 2}, {1, 0, 0.5f, 0})));
    Tensor moves = Tensor::full({actions, 2}, -0.5f);
    moves[0] = first;
    file.tensors.emplace("actions", stored(moves));
    write_safetensors(path("walk.safetensors"), file);
  };
  write_trajectory(1, -1);
  const std::vector<std::string> input{"--input", path("walk.safetensors")};
  const Json object = generate(input);
  ASSERT_EQ(object["action"].size(), 2u);
  EXPECT_TRUE(std::abs(object["action"][0].get<double>()) <= 1);
  EXPECT_EQ(object["ended_by"], "state");
  write_trajectory(2, -1);
  expect_refusal(run_on_model("generate", input), "expected one row less than returns");
  write_trajectory(3, -1);
  expect_refusal(run_on_model("generate", input), "actions: expected 2 rows");
  write_trajectory(1, std::numeric_limits<float>::infinity());
  expect_refusal(run_on_model("generate", input), "finite");
  const ProcessResult scored = run_on_model("evaluate", {"--task", "steering"});
  EXPECT_NE(scored.out.find("steering: loss"), std::string::npos) << scored.err;
  expect_refusal(run_on_model("evaluate", {"--task", "trajectory"}), "continuous");
  expect_refusal(run_on_model("evaluate", {path("walk.safetensors")}), "without probabilities");
  const ProcessResult returns = run_on_model("evaluate", {"--returns", "-o", path("returns.svg")});
  EXPECT_NE(returns.out.find("last step alone"), std::string::npos) << returns.err;
}

TEST_F(Architectures, EvaluatesMaskedModelsButRefusesToGenerate) {
  train_model(testing::plan_of("masked", folder_.path()));
  write_file(path("some.txt"), std::string(400, 'a'));
  const ProcessResult evaluation = run_on_model("evaluate", {path("some.txt")});
  EXPECT_EQ(evaluation.status, 0) << evaluation.err;
  EXPECT_NE(evaluation.out.find("some.txt: loss"), std::string::npos) << evaluation.out;
  expect_refusal(run_on_model("generate", {"--text", "abc"}), "a masked language model");
}

TEST_F(Architectures, GeneratesAndEvaluatesWithEarlyExit) {
  ModelConfig config = testing::small_config({.context = 24, .layers = 4});
  config.exits = Choice{"saturation", default_values(exit_rule("saturation").parameters)};
  save(config);
  const Json full = generate({"--text", "abc", "--tokens", "6", "--temperature", "0"});
  EXPECT_EQ(generate({"--text", "abc", "--tokens", "6", "--temperature", "0", "--exit", "1"}),
            full);
  const ProcessResult early_exit =
      run_on_model("generate", {"--text", "abc", "--tokens", "6", "--exit", "0"});
  EXPECT_NE(early_exit.err.find("of 4 layers on average"), std::string::npos) << early_exit.err;
  write_file(path("some.txt"), std::string(100, 'a'));
  const ProcessResult evaluation = run_on_model("evaluate", {"--exit", "0", path("some.txt")});
  EXPECT_NE(evaluation.out.find("of 4 layers"), std::string::npos) << evaluation.out;
  config.exits.reset();
  save(config);
  expect_refusal(run_on_model("generate", {"--text", "abc", "--exit", "0.5"}), "--exit");
  expect_refusal(run_on_model("evaluate", {"--exit", "0.5", path("some.txt")}), "--exit");
}

// Generation with cached keys picks the most likely token of the mixture that `run` reports.
TEST_F(Architectures, GeneratesFromRetrievalMixture) {
  save(testing::small_config({.context = 24, .layers = 2}));
  ASSERT_EQ(run_on_model("datastore",
                         {"--ids", "97,98,99,100,97,98,99,101,97,98,99,100", "-o", path("store")})
                .status,
            0);
  const std::string retrieval = "knn,store=" + path("store") + ",k=2,lambda=0.9";
  const Json continuation =
      generate({"--text", "abc", "--retrieval", retrieval, "--tokens", "4", "--temperature", "0"});
  std::string ids = "97,98,99";
  for (const Json& id : continuation["ids"]) {
    ASSERT_EQ(run_on_model("run", {"--ids", ids, "--retrieval", retrieval, "-o", path("t")}).status,
              0);
    const Tensor log_probabilities =
        read_safetensors(path("t")).tensors.at("log_probabilities").floats();
    const Tensor last = log_probabilities.slice(log_probabilities.dim(0) - 1, 1);
    EXPECT_EQ(id, std::max_element(last.begin(), last.end()) - last.begin());
    ids += "," + std::to_string(id.get<int>());
  }
  EXPECT_NE(generate({"--text", "abc", "--tokens", "4", "--temperature", "0"})["ids"],
            continuation["ids"]);
}

// 65,536 tokens in segments use no memory for the layers of earlier segments.
TEST_F(Architectures, EvaluatesLongTextsInSegmentsWithConstantMemory) {
  ModelConfig config = testing::small_config({.context = 128});
  config.segment = 128;
  config.groups = uniform_groups(
      config, {"segment_memory", default_values(variant("segment_memory").parameters)},
      default_encoding());
  save(config);
  const auto peak_kilobytes = [&](std::size_t bytes) {
    write_file(path("long.txt"), std::string(bytes, 'a'));
    const ProcessResult result = run_on_model("evaluate", {path("long.txt")});
    EXPECT_EQ(result.status, 0) << result.err;
    return static_cast<double>(result.peak_kilobytes);
  };
  const double short_peak = peak_kilobytes(8192), long_peak = peak_kilobytes(65536);
  RecordProperty("megabytes_8192", std::to_string(short_peak / 1024));
  RecordProperty("megabytes_65536", std::to_string(long_peak / 1024));
  EXPECT_GT(short_peak, 1024);
  // A token costs its id and position; keys, values and residual stream of the layer would add 192
  // bytes.
  const double bytes_of_token = (long_peak - short_peak) * 1024 / (65536 - 8192);
  EXPECT_LT(bytes_of_token, 160) << short_peak << " and " << long_peak << " kilobytes";
  // Generates beyond the context in segments, without truncation.
  const Json object = generate({"--text", std::string(200, 'a'), "--tokens", "100"});
  EXPECT_EQ(object["ids"].size(), 100u);
}

TEST_F(Architectures, RunsWithAnotherArchitecture) {
  save(testing::small_config({.layers = 2}));
  const std::vector<std::vector<std::string>> options = {
      {"--architecture", "universal,steps=2"},
      {"--architecture", "encoder_decoder,encoder_layers=1,start=0", "--target", "ab"},
      {"--join", "gru"},
      {"--join", "reversible"},
      {"--exits", "saturation", "--exit", "0.5"},
      {"--segment-length", "3", "--variant", "segment_memory,memory=3"}};
  for (const std::vector<std::string>& option : options) {
    std::vector<std::string> arguments{"--text", "abcdef", "-o", path("other")};
    arguments.insert(arguments.end(), option.begin(), option.end());
    const ProcessResult result = run_on_model("run", arguments);
    EXPECT_EQ(result.status, 0) << option[1] << result.err;
    EXPECT_NE(result.err.find("the model was trained"), std::string::npos) << result.err;
  }
  const ProcessResult unknown =
      run_on_model("run", {"--text", "a", "--join", "sum", "-o", path("x")});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("join.type: expected one of"), std::string::npos) << unknown.err;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
