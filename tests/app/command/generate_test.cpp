// attnscope generate and --group, using the built program on small test models.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/tensor/safetensors.h"
#include "tests/core/checkpoint/files.h"
#include "tests/core/experiment/models.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::expect_refusal;
using testing::ProcessResult;

const std::string kProgram = testing::program_path();

// Byte model with two layers of four heads, context 24.
class Generate : public ::testing::Test {
 protected:
  Generate() { testing::save_byte_model(folder_.path() / "model", 2, 16, 24); }

  std::string path(const std::string& name) const { return folder_.path() / name; }
  std::vector<std::string> arguments(const std::string& command,
                                     std::initializer_list<std::string> extra) const {
    std::vector<std::string> command_line = {command, "--model", path("model"), "--backend", "cpu"};
    command_line.insert(command_line.end(), extra);
    return command_line;
  }
  ProcessResult generate(std::initializer_list<std::string> extra) const {
    return testing::run_process(kProgram, arguments("generate", extra));
  }
  Json generate_json(std::initializer_list<std::string> extra) const {
    std::vector<std::string> command_line = arguments("generate", extra);
    command_line.insert(command_line.end(), {"-o", path("made.json")});
    const ProcessResult result = testing::run_process(kProgram, command_line);
    EXPECT_EQ(result.status, 0) << result.err;
    Json object = Json::parse(read_file(path("made.json")));
    EXPECT_EQ(result.out, object["text"].get<std::string>() + "\n");
    return object;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Generate, SameSeedGivesSameText) {
  const Json first = generate_json({"--text", "abc", "--tokens", "12", "--seed", "7"});
  EXPECT_EQ(first["prompt"], Json({97, 98, 99}));
  EXPECT_EQ(first["ids"].size(), 12u);
  EXPECT_EQ(first["ended_by"], "tokens");
  EXPECT_EQ(generate_json({"--text", "abc", "--tokens", "12", "--seed", "7"}), first);
  EXPECT_NE(generate_json({"--text", "abc", "--tokens", "12", "--seed", "8"})["ids"], first["ids"]);
  EXPECT_EQ(generate_json({"--ids", "97,98,99", "--tokens", "12", "--seed", "7"})["ids"],
            first["ids"]);
}

// Each greedy token is the most likely one that `run` predicts.
TEST_F(Generate, GreedySelectsMostLikelyToken) {
  const Json object = generate_json({"--text", "abc", "--tokens", "3", "--temperature", "0"});
  std::string ids = "97,98,99";
  for (const Json& id : object["ids"]) {
    ASSERT_EQ(
        testing::run_process(kProgram, arguments("run", {"--ids", ids, "-o", path("t")})).status,
        0);
    const Tensor logits = read_safetensors(path("t")).tensors.at("logits").floats();
    const Tensor last = logits.slice(logits.dim(0) - 1, 1);
    EXPECT_EQ(id, std::max_element(last.begin(), last.end()) - last.begin());
    ids += "," + std::to_string(id.get<int>());
  }
  EXPECT_EQ(generate_json({"--text", "abc", "--tokens", "3", "--top-k", "1"})["ids"],
            object["ids"]);
  EXPECT_EQ(generate_json({"--text", "abc", "--tokens", "3", "--top-p", "1e-9"})["ids"],
            object["ids"]);
}

TEST_F(Generate, ReportsTruncationBeyondContext) {
  const ProcessResult sliding = generate({"--text", "abc", "--tokens", "60"});
  EXPECT_EQ(sliding.status, 0);
  EXPECT_NE(sliding.err.find("older half is dropped"), std::string::npos) << sliding.err;
  const Json object = generate_json({"--text", "abc", "--tokens", "60", "--beyond", "stop"});
  EXPECT_EQ(object["ended_by"], "context");
  EXPECT_EQ(object["ids"].size(), 22u);  // the last token follows a full context
  expect_refusal(generate({"--text", std::string(25, 'a'), "--beyond", "stop"}), "25 tokens");
}

TEST_F(Generate, RecomputesUncacheableModels) {
  const ProcessResult result =
      generate({"--text", "abcd", "--tokens", "4", "--variant", "lsh,buckets=2,rounds=1"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("every step computes the whole text again"), std::string::npos)
      << result.err;
}

// A Llama with a zero embedding predicts all tokens equally: greedy selects token 0.
TEST_F(Generate, StopsAtEndToken) {
  testing::Tensors tensors;
  tensors["model.embed_tokens.weight"] = Tensor::zeros({7, 4});
  tensors["model.layers.0.input_layernorm.weight"] = Tensor::zeros({4});
  tensors["model.layers.0.post_attention_layernorm.weight"] = Tensor::zeros({4});
  for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                           "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
    tensors[std::string("model.layers.0.") + name + ".weight"] = Tensor::zeros({4, 4});
  }
  tensors["model.norm.weight"] = Tensor::zeros({4});
  std::filesystem::create_directories(path("llama"));
  testing::write_checkpoint(path("llama"),
                            R"({"model_type": "llama", "vocab_size": 7, "hidden_size": 4,
    "intermediate_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1,
    "tie_word_embeddings": true, "eos_token_id": 0})",
                            tensors);
  std::string notes;
  const auto generate_with_llama = [&](std::initializer_list<std::string> extra) {
    std::vector<std::string> command_line = {
        "generate", "--model", path("llama"), "--ids",          "1,2", "--temperature", "0",
        "--tokens", "5",       "-o",          path("made.json")};
    command_line.insert(command_line.end(), extra);
    const ProcessResult result = testing::run_process(kProgram, command_line);
    EXPECT_EQ(result.status, 0) << result.err;
    notes = result.err;
    return Json::parse(read_file(path("made.json")));
  };
  const std::string note = "the model ended the text at once; --ignore-end continues past its end";
  const Json object = generate_with_llama({});
  EXPECT_EQ(object["ids"], Json({0}));
  EXPECT_EQ(object["ended_by"], "end");
  EXPECT_NE(notes.find(note), std::string::npos) << notes;
  EXPECT_EQ(generate_with_llama({"--ignore-end"})["ids"].size(), 5u);
  EXPECT_EQ(notes.find(note), std::string::npos) << notes;
}

// Interrupts after the first output, however slow the machine is.
TEST_F(Generate, InterruptKeepsGeneratedTokens) {
  const std::string script =
      "out=$0; \"$@\" > \"$out\" & n=0; "
      "while [ ! -s \"$out\" ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done; "
      "kill -INT $!; wait $!";
  std::vector<std::string> command_line = {"-c", script, path("out.txt"), kProgram};
  const auto extra =
      arguments("generate", {"--text", "abc", "--tokens", "1000000", "-o", path("made.json")});
  command_line.insert(command_line.end(), extra.begin(), extra.end());
  const ProcessResult result = testing::run_process("/bin/sh", command_line);
  EXPECT_EQ(result.status, 130) << result.err;
  const Json object = Json::parse(read_file(path("made.json")));
  EXPECT_EQ(object["ended_by"], "interrupt");
  EXPECT_GT(object["ids"].size(), 0u);
  EXPECT_EQ(read_file(path("out.txt")), object["text"].get<std::string>() + "\n");
}

TEST_F(Generate, RejectsInvalidOptionsInOneLine) {
  expect_refusal(generate({"--text", "a", "--tokens", "0"}), "--tokens");
  expect_refusal(generate({"--text", "a", "--temperature", "-1"}), "temperature");
  expect_refusal(generate({"--text", "a", "--top-k", "-1"}), "top-k");
  expect_refusal(generate({"--text", "a", "--top-p", "0"}), "top-p");
  expect_refusal(generate({"--text", "a", "--top-p", "nan"}), "top-p");
  expect_refusal(generate({"--text", "a", "--beyond", "wrap"}), "--beyond");
  expect_refusal(generate({"--text", "a", "--seed", "x"}), "--seed");
  expect_refusal(generate({"--text", "a", "--seed", "-1"}), "--seed: expected an integer of at");
  expect_refusal(generate({"--text", "a", "--seed", "99999999999999999999"}),
                 "found \"99999999999999999999\"");
  expect_refusal(generate({"--text", "a", "--tokens", "0x10"}), "--tokens");
  for (const char* ids : {"", ",", "1,,2", "1,", "010", "0x10", "-5", "1 2", "99999999999"}) {
    expect_refusal(generate({"--ids", ids}), "--ids");
  }
  expect_refusal(generate({"--text", "a", "--variant", "local,win=3"}), "variant.win: unknown key");
  for (const char* option : {"--variant", "--position", "--session", "--backend", "-o"}) {
    expect_refusal(generate({"--text", "a", option, ""}), "expected a value, found \"\"");
  }
  expect_refusal(generate({"--text", ""}), "found none");
  expect_refusal(generate({}), "--text");
}

TEST_F(Generate, AcceptsHeadGroups) {
  const auto attention = [&](std::initializer_list<std::string> extra) {
    std::vector<std::string> command_line =
        arguments("run", {"--text", "abcdefgh", "-o", path("t")});
    command_line.insert(command_line.end(), extra);
    const ProcessResult result = testing::run_process(kProgram, command_line);
    EXPECT_EQ(result.status, 0) << result.err;
    return read_safetensors(path("t")).tensors.at("attention").floats();
  };
  const Tensor map = attention({"--group", "layers=1;heads=0,2-3;variant=local,window=1", "--group",
                                "heads=3;variant=block_local,block=2;position=alibi"});
  EXPECT_GT(map(0, 0, 7, 0), 0);  // as trained
  EXPECT_EQ(map(1, 0, 7, 0), 0);  // local
  EXPECT_GT(map(1, 0, 7, 6), 0);
  EXPECT_GT(map(1, 1, 7, 0), 0);
  EXPECT_EQ(map(1, 2, 7, 5), 0);
  EXPECT_GT(map(1, 3, 7, 6), 0);  // the later choice overrides the earlier one: blocks of two
  EXPECT_EQ(map(1, 3, 6, 5), 0);
  EXPECT_EQ(map(0, 3, 6, 5), 0);
}

TEST_F(Generate, RejectsInvalidHeadGroupsInOneLine) {
  const auto expect_group_refusal = [&](const std::string& group, const std::string& message) {
    expect_refusal(testing::run_process(kProgram, arguments("run", {"--text", "ab", "-o", path("t"),
                                                                    "--group", group})),
                   message);
  };
  expect_group_refusal("heads=0", "expected variant, position or both");
  expect_group_refusal("heads=0;variant=local,window=-1", "window");
  expect_group_refusal("heads=4;variant=local,window=1",
                       "groups[0].heads: expected numbers from 0 to 3, found 4");
  expect_group_refusal("layers=2;position=alibi", "groups[0].layers");
  expect_group_refusal("heads=2-1;position=alibi", "heads: expected numbers and ranges");
  expect_group_refusal("heads=a;position=alibi", "heads: expected numbers and ranges");
  expect_group_refusal("head=0;position=alibi", "\"head\"");
  expect_group_refusal("heads=0;heads=1;position=alibi", "heads: expected once, found twice");
  expect_group_refusal("position", "KEY=VALUE");
  expect_group_refusal("heads=1;position=learned", "affects all heads");
  EXPECT_FALSE(std::filesystem::exists(path("t")));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
