// train, run and evaluate, using the built program, in sequence on one small model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "core/base/file.h"
#include "core/figure/png.h"
#include "core/tensor/safetensors.h"
#include "core/view/session_file.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::expect_refusal;
using testing::ProcessResult;
namespace fs = std::filesystem;

const std::string kProgram = testing::program_path();

ProcessResult run_program(const std::vector<std::string>& arguments) {
  return testing::run_process(kProgram, arguments);
}

// Trains a byte model once for all tests.
class ModelCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new testing::TemporaryFolder;
    std::string text;
    for (int i = 0; i < 300; ++i) text += "the cat sat on the mat. ";
    write_file(path("text.txt"), text);
    write_file(path("held.txt"), text.substr(0, 500));
    const ProcessResult result = run_program(train_arguments("model", 40));
    ASSERT_EQ(result.status, 0) << result.err;
    ASSERT_NE(result.out.find("bits per byte"), std::string::npos) << result.out;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  static std::string path(const std::string& name) { return folder_->path() / name; }
  static std::vector<std::string> train_arguments(const std::string& name, int steps) {
    return {"train",
            "--text",
            path("text.txt"),
            "--held-out",
            path("held.txt"),
            "-o",
            path(name),
            "--steps",
            std::to_string(steps),
            "--width",
            "32",
            "--layers",
            "2",
            "--heads",
            "4",
            "--head-size",
            "8",
            "--hidden",
            "48",
            "--context",
            "32",
            "--vocabulary",
            "270",
            "--batch",
            "8",
            "--micro-batch",
            "0",
            "--rate",
            "0.01",
            "--warm-up",
            "5",
            "--evaluate-every",
            "20",
            "--save-every",
            "0.05"};
  }
  static std::vector<std::string> run_arguments(const std::vector<std::string>& extra) {
    std::vector<std::string> arguments = {
        "run", "--model", path("model"), "--backend", "cpu", "-o", path("trace.safetensors")};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return arguments;
  }
  static SafetensorsFile trace() { return read_safetensors(path("trace.safetensors")); }

  static testing::TemporaryFolder* folder_;
};
testing::TemporaryFolder* ModelCommands::folder_ = nullptr;

TEST_F(ModelCommands, TrainWritesModelAndLog) {
  EXPECT_TRUE(fs::exists(path("model/config.json")));
  EXPECT_TRUE(fs::exists(path("model/tokenizer.json")));
  std::istringstream log(read_file(path("model/loss.csv")));
  std::string line;
  std::getline(log, line);
  EXPECT_TRUE(line.starts_with(
      "step,loss,rate,tokens_per_second,held_out_loss,held_out_bits_per_byte,held_out_accuracy,"
      "gradient_norm,"))
      << line;
  EXPECT_NE(line.find(",gradient layers.0"), std::string::npos) << line;
  int lines = 0;
  while (std::getline(log, line)) ++lines;
  EXPECT_EQ(lines, 40);
  EXPECT_EQ(read_png_metadata(path("model/loss.png")).at("Title"), "Training of model");
}

TEST_F(ModelCommands, InterruptedTrainingResumes) {
  std::vector<std::string> arguments = {"--preserve-status", "-s", "INT", "1.5", kProgram};
  const std::vector<std::string> training_arguments = train_arguments("stopped", 100000);
  arguments.insert(arguments.end(), training_arguments.begin(), training_arguments.end());
  const ProcessResult first_run = testing::run_process("/usr/bin/timeout", arguments);
  EXPECT_EQ(first_run.status, 130) << first_run.err;
  ASSERT_TRUE(fs::exists(path("stopped/training.safetensors")));
  const std::size_t previous_size = read_file(path("stopped/loss.csv")).size();
  testing::run_process("/usr/bin/timeout", arguments);
  EXPECT_GT(read_file(path("stopped/loss.csv")).size(), previous_size);
  expect_refusal(run_program(train_arguments("stopped", 99)), "with other settings (steps");
}

TEST_F(ModelCommands, TrainRejectsInvalidOptions) {
  std::vector<std::string> arguments = train_arguments("refused", 5);
  arguments.insert(arguments.end(), {"--head-size", "8", "--norm", "batch"});
  expect_refusal(run_program(arguments), "--head-size");
  arguments = train_arguments("refused", 5);
  arguments.insert(arguments.end(), {"--norm", "batch"});
  expect_refusal(run_program(arguments), "norm: expected one of \"layer\", \"rms\"");
  expect_refusal(run_program({"train", "--text", path("absent.txt"), "-o", path("refused")}),
                 "absent.txt");
  expect_refusal(run_program({"train", "-o", path("refused")}),
                 "text: expected text files to train on");
  expect_refusal(run_program({"train", "--preset", "nonesuch", "-o", path("refused")}), "--preset");
  arguments = train_arguments("refused", 5);
  arguments.insert(arguments.end(), {"--stage", "steps=3,window=few"});
  expect_refusal(run_program(arguments), "--stage: expected KEY=NUMBER");
  arguments.back() = "steps=3";
  expect_refusal(run_program(arguments), "stages: expected 5 steps in all");
  EXPECT_FALSE(fs::exists(path("refused")));
}

TEST_F(ModelCommands, EvaluatesOnADevice) {
  const std::vector<std::string> arguments{"evaluate", "--model", path("model"), path("held.txt")};
  std::vector<std::string> on_device = arguments;
  on_device.insert(on_device.end(), {"--device", "cpu"});
  const ProcessResult expected = run_program(arguments), found = run_program(on_device);
  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_EQ(found.out, expected.out);
  expect_refusal(run_program({"evaluate", "--model", path("model"), "--device", "cpu", "--repeat"}),
                 "--device: expected files");
}

TEST_F(ModelCommands, RunWritesTrace) {
  const ProcessResult result = run_program(run_arguments({"--text", "the cat sat"}));
  ASSERT_EQ(result.status, 0) << result.err;
  const SafetensorsFile file = trace();
  const Index length = file.tensors.at("ids").shape[0];
  EXPECT_GT(length, 1);
  EXPECT_EQ(file.tensors.at("attention").shape, (Shape{2, 4, length, length}));
  EXPECT_EQ(file.tensors.at("logits").shape[0], length);
  EXPECT_EQ(file.metadata.at("model"), "model");
  EXPECT_NE(file.metadata.at("backend").find("CPU"), std::string::npos);
}

TEST_F(ModelCommands, RunAcceptsIdsVariantsAndEncodings) {
  ASSERT_EQ(run_program(run_arguments({"--ids", "5,6,7,8,9,10", "--no-causal", "--variant",
                                       "local,window=1", "--position", "alibi"}))
                .status,
            0);
  const SafetensorsFile file = trace();
  const Tensor attention = file.tensors.at("attention").floats();
  EXPECT_EQ(file.tensors.at("ids").integers()[5], 10);
  EXPECT_GT(attention(1, 2, 3, 4), 0);
  EXPECT_EQ(attention(1, 2, 3, 5), 0);
  ASSERT_EQ(
      run_program(run_arguments({"--ids", "5,6,7", "--variant", R"({"type":"local","window":1})"}))
          .status,
      0);
}

// Parameters without a default depend on the text; the written file records them.
TEST_F(ModelCommands, VariantDefaultsDependOnText) {
  ASSERT_EQ(run_program(run_arguments({"--ids", "5,6,7,8,9,10,11,12", "--variant", "block_local"}))
                .status,
            0);
  const Tensor attention = trace().tensors.at("attention").floats();  // [N, h, 8, 8]
  EXPECT_GT(attention(0, 0, 3, 2), 0);                                // blocks of two
  EXPECT_EQ(attention(0, 0, 4, 3), 0);
  ASSERT_EQ(run_program({"render", "--ids", "5,6,7,8,9,10,11,12", "--model", path("model"),
                         "--variant", "block_local", "-o", path("map.png")})
                .status,
            0);
  EXPECT_EQ(load_session(path("map.png")).run.variant->values.integer("block"), 2);
  ASSERT_EQ(run_program(run_arguments(
                            {"--ids", "5,6,7,8,9", "--variant", "image_2d", "--most-tokens", "4"}))
                .status,
            0);
  EXPECT_EQ(trace().tensors.at("ids").integers().size(), 4);
  expect_refusal(run_program(run_arguments({"--ids", "5,6,7", "--most-tokens", "0"})),
                 "--most-tokens");
}

TEST_F(ModelCommands, RunRejectsInvalidOptionsInOneLine) {
  expect_refusal(run_program(run_arguments({"--text", "a", "--variant", "local,window=1,windw=1"})),
                 "windw");
  expect_refusal(run_program(run_arguments({"--text", "a", "--variant", "local,window"})),
                 "KEY=VALUE");
  expect_refusal(run_program(run_arguments({"--text", "a", "--position", "nonesuch"})), "nonesuch");
  expect_refusal(run_program(run_arguments({"--ids", "1,999999"})), "999999");
  expect_refusal(run_program(run_arguments({"--text", ""})), "found none");
  expect_refusal(run_program(run_arguments({})), "--text");
  expect_refusal(run_program({"run", "--text", "a", "--model", path("absent"), "-o", path("x")}),
                 "absent");
  EXPECT_FALSE(fs::exists(path("x")));
}

TEST_F(ModelCommands, RunReportsTruncation) {
  const ProcessResult result = run_program(run_arguments({"--text", std::string(200, 'x')}));
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.err.find("the first 32 are used"), std::string::npos) << result.err;
  EXPECT_NE(trace().metadata.at("notes").find("the first 32 are used"), std::string::npos);
}

TEST_F(ModelCommands, RunWarnsAboutLossOfVisibleTargets) {
  const std::string note = "note: without a causal mask, positions see the token that they predict";
  const ProcessResult causal = run_program(run_arguments({"--text", "the cat", "--losses"}));
  const ProcessResult bidirectional =
      run_program(run_arguments({"--text", "the cat", "--losses", "--no-causal"}));
  EXPECT_EQ(causal.err.find(note), std::string::npos) << causal.err;
  EXPECT_NE(bidirectional.err.find(note), std::string::npos) << bidirectional.err;
}

// Options of `train` that start from the common model; further options follow.
std::vector<std::string> start_arguments(const std::string& from, const std::string& text,
                                         const std::string& folder,
                                         const std::vector<std::string>& extra) {
  std::vector<std::string> arguments{"train", "--from", from, "--text", text, "-o", folder};
  for (const char* word : {"--steps", "3", "--batch-size", "4", "--micro-batch-size", "0"}) {
    arguments.emplace_back(word);
  }
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  return arguments;
}

TEST_F(ModelCommands, TrainStartsFromAModel) {
  const ProcessResult changed = run_program(start_arguments(
      path("model"), path("text.txt"), path("changed"),
      {"--position", "t5", "--exits", "geometric", "--train-only", "exit.*", "-q"}));
  ASSERT_EQ(changed.status, 0) << changed.err;
  EXPECT_NE(changed.err.find("note: starts from model: "), std::string::npos) << changed.err;
  EXPECT_NE(changed.err.find("initialised: layers.*.groups.*.pos.bias, exit.w, exit.b\n"),
            std::string::npos)
      << changed.err;
  EXPECT_NE(changed.err.find("note: trains 2 of "), std::string::npos) << changed.err;
  const std::string config = read_file(path("changed/config.json"));
  EXPECT_NE(config.find("\"geometric\""), std::string::npos);
  EXPECT_NE(config.find("\"t5\""), std::string::npos);
  // Training goes on from a training; it states nothing new when it is resumed.
  const ProcessResult again = run_program(start_arguments(
      path("model"), path("text.txt"), path("changed"),
      {"--position", "t5", "--exits", "geometric", "--train-only", "exit.*", "-q"}));
  EXPECT_EQ(again.out.find("all steps were already done"), 0u) << again.out << again.err;
  EXPECT_EQ(again.err.find("starts from"), std::string::npos) << again.err;
  expect_refusal(run_program(start_arguments(path("model"), path("text.txt"), path("refused"),
                                             {"--vocabulary", "300"})),
                 "model.vocabulary: expected 2");
  expect_refusal(run_program(start_arguments(path("model"), path("text.txt"), path("refused"),
                                             {"--train-only", "nonesuch"})),
                 "train_only: expected names of trained weights");
  expect_refusal(run_program(start_arguments("nonesuch", path("text.txt"), path("refused"), {})),
                 "model: expected a folder");
}

TEST_F(ModelCommands, TrainsAndEvaluatesOtherChoices) {
  const ProcessResult grouped =
      run_program(start_arguments(path("model"), path("text.txt"), path("grouped"),
                                  {"--group", "layers=0;variant=local,window=2", "--group",
                                   "layers=1;heads=2,3;position=alibi", "-q"}));
  ASSERT_EQ(grouped.status, 0) << grouped.err;
  const std::string config = read_file(path("grouped/config.json"));
  EXPECT_NE(config.find("\"groups\""), std::string::npos) << config;
  const auto loss = [&](const std::vector<std::string>& extra) {
    std::vector<std::string> arguments{"evaluate", "--model", path("model"), path("held.txt")};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    const ProcessResult result = run_program(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    double value = NAN;
    std::istringstream(result.out.substr(result.out.find("loss ") + 5)) >> value;
    return value;
  };
  EXPECT_GT(loss({"--variant", "local,window=0"}), loss({}));
  expect_refusal(
      run_program({"evaluate", "--model", path("model"), "--retrieval", "knn,store=x", "--repeat"}),
      "--retrieval");
}

TEST_F(ModelCommands, TrainAndEvaluateReportLeakedFuture) {
  std::vector<std::string> arguments = train_arguments("chunks", 1);
  arguments.insert(arguments.end(), {"--variant", "lsh,buckets=4,rounds=1,chunk=4"});
  const std::string note = "note: LSH (Reformer) leaks future tokens: ";
  const ProcessResult training = run_program(arguments);
  ASSERT_EQ(training.status, 0) << training.err;
  EXPECT_NE(training.err.find(note), std::string::npos) << training.err;
  for (const char* model : {"chunks", "model"}) {
    const ProcessResult result =
        run_program({"evaluate", "--model", path(model), path("held.txt")});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err.find(note) != std::string::npos, model == std::string("chunks"))
        << result.err;
  }
}

TEST_F(ModelCommands, EvaluatePrintsBitsPerByte) {
  const ProcessResult result = run_program(
      {"evaluate", "--model", path("model"), "--ngram-text", path("text.txt"), path("held.txt")});
  ASSERT_EQ(result.status, 0) << result.err;
  double bits = NAN;
  const auto colon = result.out.rfind(": ", result.out.find(" bits per byte"));
  std::istringstream(result.out.substr(colon + 2)) >> bits;
  EXPECT_TRUE(bits > 0 && bits < 4) << result.out;
  EXPECT_NE(result.out.find("6-gram"), std::string::npos);
  // --ngram-text takes one file. All further arguments are files to evaluate.
  const ProcessResult evaluation =
      run_program({"evaluate", "--model", path("model"), "--ngram-text", path("text.txt"),
                   path("held.txt"), path("text.txt")});
  EXPECT_EQ(std::count(evaluation.out.begin(), evaluation.out.end(), '\n'), 3)
      << evaluation.out << evaluation.err;
  expect_refusal(run_program({"evaluate", "--ngram-text", path("text.txt")}),
                 "expected text files");
  expect_refusal(
      run_program({"evaluate", "--model", path("model"), "--length", "0", path("held.txt")}),
      "--length");
  expect_refusal(run_program({"evaluate", "--model", path("model"), path("absent.txt")}),
                 "absent.txt");
}

TEST_F(ModelCommands, EvaluateReportsBitsPerByteByLength) {
  const auto evaluate = [](const std::string& lengths, std::vector<std::string> more) {
    std::vector<std::string> arguments{"evaluate",  "--model", path("model"),
                                       "--lengths", lengths,   path("held.txt")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  };
  const ProcessResult table =
      evaluate("16..64", {"--compare-model", path("model"), "-o", path("curves.csv")});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 1 + 3) << table.out;
  EXPECT_NE(table.out.find('*'), std::string::npos) << table.out;  // 64: beyond the context of 32
  const std::string csv = read_file(path("curves.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * 3) << csv;
  EXPECT_EQ(evaluate("16", {"-o", path("curves.json")}).status, 0);
  EXPECT_EQ(Json::parse(read_file(path("curves.json")))["models"][0]["trained_length"], 32);
  ASSERT_EQ(evaluate("16,32", {"-o", path("curves.png")}).status, 0);
  EXPECT_EQ(read_png_metadata(path("curves.png")).at("Title"), "bits per byte by window length");
  expect_refusal(evaluate("64..16", {}), "--lengths: expected lengths");
  expect_refusal(evaluate("16", {"--length", "16"}), "--lengths: expected text files");
  expect_refusal(evaluate("16", {"-o", path("curves.xyz")}), "curves.xyz");
  expect_refusal(evaluate("9000", {}), "the text has");
  expect_refusal(run_program({"evaluate", "--model", path("model"), "--returns"}),
                 "expected a model of trajectories");
}

TEST_F(ModelCommands, TrainsRepetitionAndEvaluateReportsAccuracy) {
  std::vector<std::string> arguments = {"train", "--task", "repeat", "-o", path("copies")};
  for (const char* word :
       {"--vocabulary", "256", "--layers", "1", "--width", "16", "--heads", "2", "--hidden", "0",
        "--context", "16", "--batch", "4", "--micro-batch", "0", "--steps", "3"}) {
    arguments.emplace_back(word);
  }
  const ProcessResult training = run_program(arguments);
  ASSERT_EQ(training.status, 0) << training.err;
  EXPECT_NE(training.out.find("accuracy 0."), std::string::npos) << training.out;
  const ProcessResult result = run_program({"evaluate", "--model", path("copies"), "--repeat"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("repeated tokens: accuracy 0."), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("of 16 tokens"), std::string::npos) << result.out;
  expect_refusal(run_program({"evaluate", "--model", path("copies")}), "expected files");
}

TEST_F(ModelCommands, ErrorsNameUnusableFile) {
  write_file(path("empty.txt"), "");
  expect_refusal(run_program({"evaluate", "--model", path("model"), path("empty.txt")}),
                 "empty.txt");
  std::vector<std::string> arguments = train_arguments("held.txt", 1);
  expect_refusal(run_program(arguments), "expected a folder, found the file");
}

TEST_F(ModelCommands, TrainRejectsUnknownTasks) {
  std::vector<std::string> arguments = train_arguments("refused", 5);
  arguments.insert(arguments.end(), {"--task", "nonesuch"});
  expect_refusal(run_program(arguments), "task: expected one of text, masked");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
