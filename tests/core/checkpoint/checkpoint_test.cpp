#include "core/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/model/weights.h"
#include "core/text/bpe.h"
#include "tests/core/checkpoint/files.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::message_of;
using testing::TemporaryFolder;

Checkpoint small_checkpoint() {
  Checkpoint checkpoint;
  checkpoint.model = make_model(
      testing::small_config({.vocabulary = 260, .context = 8, .head_size = 4, .hidden = 6}), 1);
  checkpoint.tokenizer = train_bpe("abababab cdcdcdcd", 258);
  return checkpoint;
}

std::string load_error(const std::filesystem::path& folder) {
  return message_of<InputError>([&] { load_checkpoint(folder.string()); });
}

testing::Tensors tensors_of(const Checkpoint& checkpoint) {
  testing::Tensors tensors;
  for (const auto& [name, weight] : checkpoint.model.weights) tensors[name] = weight.value();
  return tensors;
}

TEST(Checkpoint, RoundTripsThroughFolder) {
  const TemporaryFolder folder;
  const Checkpoint before = small_checkpoint();
  save_checkpoint(folder.path() / "new", before, false);
  const Checkpoint after = load_checkpoint((folder.path() / "new").string());
  EXPECT_EQ(after.name, "new");
  EXPECT_EQ(after.model.config, before.model.config);
  EXPECT_EQ(after.model.weights.size(), before.model.weights.size());
  for (const auto& [name, weight] : before.model.weights) {
    EXPECT_TRUE(testing::close(after.model.weights.find(name)->second.value(), weight.value(), 0));
  }
  ASSERT_NE(after.tokenizer, nullptr) << after.tokenizer_problem;
  EXPECT_EQ(after.tokenizer->encode("abab").size(), before.tokenizer->encode("abab").size());
}

TEST(Checkpoint, SuggestsCommandToConvertPickledWeights) {
  const TemporaryFolder folder;
  write_file(folder.path() / "config.json",
             R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"]})");
  write_file(folder.path() / "pytorch_model.bin", "pickled");
  const std::string message = load_error(folder.path());
  EXPECT_NE(message.find("pytorch_model.bin: expected model.safetensors"), std::string::npos);
  EXPECT_NE(message.find("python3 -c \"from transformers import AutoModelForCausalLM as M; "
                         "M.from_pretrained('"),
            std::string::npos)
      << message;
}

TEST(Checkpoint, StoresHalfPrecision) {
  const TemporaryFolder folder;
  const Checkpoint before = small_checkpoint();
  save_checkpoint(folder.path() / "half", before, true);
  save_checkpoint(folder.path() / "whole", before, false);
  const Checkpoint after = load_checkpoint((folder.path() / "half").string());
  for (const auto& [name, weight] : before.model.weights) {
    EXPECT_TRUE(
        testing::close(after.model.weights.find(name)->second.value(), weight.value(), 5e-4));
  }
  EXPECT_LT(std::filesystem::file_size(folder.path() / "half" / "model.safetensors"),
            0.6 * static_cast<double>(
                      std::filesystem::file_size(folder.path() / "whole" / "model.safetensors")));
}

TEST(Checkpoint, RejectsSavingNonFiniteWeights) {
  const TemporaryFolder folder;
  Checkpoint broken = small_checkpoint();
  Tensor values = broken.model.weights.find("final_norm.weight")->second.value().copy();
  values[0] = 70000;  // overflows float16
  broken.model.weights.find("final_norm.weight")->second = Var(values);
  save_checkpoint(folder.path(), broken, false);
  EXPECT_THROW(save_checkpoint(folder.path(), broken, true), WorkError);
  values[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(save_checkpoint(folder.path(), broken, false), WorkError);
}

TEST(Checkpoint, NamesMissingMisshapenAndUnknownTensors) {
  const TemporaryFolder folder;
  const Checkpoint good = small_checkpoint();
  save_checkpoint(folder.path(), good, false);
  const auto file = folder.path() / "model.safetensors";

  testing::Tensors tensors = tensors_of(good);
  tensors.erase("layers.0.attn.wq");
  testing::write_tensors(file, tensors);
  EXPECT_NE(load_error(folder.path()).find("tensor layers.0.attn.wq is missing"),
            std::string::npos);

  tensors = tensors_of(good);
  tensors["layers.0.attn.wq"] = Tensor::zeros({8, 7});
  testing::write_tensors(file, tensors);
  EXPECT_NE(load_error(folder.path())
                .find("tensor layers.0.attn.wq: expected shape [8, 8], found [8, 7]"),
            std::string::npos);

  tensors = tensors_of(good);
  tensors["layers.1.attn.wq"] = Tensor::zeros({8, 8});
  testing::write_tensors(file, tensors);
  EXPECT_NE(load_error(folder.path()).find("tensor layers.1.attn.wq [8, 8] is not part of"),
            std::string::npos);

  tensors = tensors_of(good);
  tensors["final_norm.weight"] = Tensor::full({8}, std::numeric_limits<float>::infinity());
  testing::write_tensors(file, tensors);
  EXPECT_NE(load_error(folder.path()).find("final_norm.weight contains NaN or infinity"),
            std::string::npos);
}

TEST(Checkpoint, DistinguishesUnknownLayoutsFromInvalidFiles) {
  const TemporaryFolder folder;
  EXPECT_NE(load_error(folder.path()), "no error");
  EXPECT_NE(load_error(folder.path() / "absent").find("found \""), std::string::npos);
  save_checkpoint(folder.path(), small_checkpoint(), false);
  for (const auto& [type, relative] : {std::pair{"qwen2_vl", "qwen2"}, {"gemma3n", "gemma3"}}) {
    write_file(folder.path() / "config.json", std::string(R"({"model_type": ")") + type + "\"}");
    const std::string message = load_error(folder.path());
    EXPECT_NE(message.find("that assets/docs/layouts.md lists"), std::string::npos) << message;
    EXPECT_NE(message.find(std::string("nearest is \"") + relative), std::string::npos) << message;
  }
  write_file(folder.path() / "config.json", R"({"model_type": "attn)");
  EXPECT_NE(load_error(folder.path()).find("invalid JSON"), std::string::npos);
  write_file(folder.path() / "config.json", "[]");
  EXPECT_NE(load_error(folder.path()).find("expected an object"), std::string::npos);
}

TEST(Checkpoint, RejectsTruncatedFiles) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), small_checkpoint(), false);
  const auto file = folder.path() / "model.safetensors";
  const std::string whole = read_file(file);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{20}, whole.size() - 1}) {
    write_file(file, whole.substr(0, size));
    EXPECT_NE(load_error(folder.path()), "no error") << size;
  }
}

TEST(Checkpoint, RunsWithoutTokenizer) {
  const TemporaryFolder folder;
  Checkpoint without_tokenizer = small_checkpoint();
  without_tokenizer.tokenizer = nullptr;
  save_checkpoint(folder.path(), without_tokenizer, false);
  const Checkpoint loaded = load_checkpoint(folder.path().string());
  EXPECT_EQ(loaded.tokenizer, nullptr);
  EXPECT_FALSE(loaded.tokenizer_problem.empty());
}

TEST(Checkpoint, ReadsShards) {
  const TemporaryFolder folder;
  const Checkpoint good = small_checkpoint();
  save_checkpoint(folder.path(), good, false);
  std::filesystem::remove(folder.path() / "model.safetensors");
  testing::Tensors first = tensors_of(good), second;
  second["embed.weight"] = first["embed.weight"];
  first.erase("embed.weight");
  testing::write_tensors(folder.path() / "a.safetensors", first);
  testing::write_tensors(folder.path() / "b.safetensors", second);
  std::string map;
  for (const auto& [name, tensor] : first) map += "\"" + name + "\": \"a.safetensors\", ";
  const auto index = folder.path() / "model.safetensors.index.json";
  write_file(index, "{\"weight_map\": {" + map + "\"embed.weight\": \"b.safetensors\"}}");
  EXPECT_EQ(load_checkpoint(folder.path().string()).model.weights.size(),
            good.model.weights.size());
  write_file(index, "{\"weight_map\": {" + map + "\"embed.weight\": \"a.safetensors\"}}");
  EXPECT_NE(load_error(folder.path()).find("tensor embed.weight is missing"), std::string::npos);
  second["final_norm.weight"] = first["final_norm.weight"];
  testing::write_tensors(folder.path() / "b.safetensors", second);
  write_file(index, "{\"weight_map\": {" + map + "\"embed.weight\": \"b.safetensors\"}}");
  EXPECT_NE(load_error(folder.path())
                .find("final_norm.weight is present, but "
                      "model.safetensors.index.json lists it in a.safetensors"),
            std::string::npos);
  write_file(index, "{\"weight_map\": {" + map + "\"embed.weight\": \"c.safetensors\"}}");
  EXPECT_NE(load_error(folder.path()).find("c.safetensors"), std::string::npos);
  write_file(index,
             "{\"weight_map\": {\"embed.weight\": \"a.safetensors\", \"embed.weight\": "
             "\"b.safetensors\"}}");
  EXPECT_NE(load_error(folder.path()).find("embed.weight"), std::string::npos);
  write_file(index, "{\"weight_map\": {\"embed.weight\": 3}}");
  EXPECT_NE(load_error(folder.path()).find("weight_map"), std::string::npos);
  write_file(index, "{\"weight_map\": {\"embed.weight\": \"../b.safetensors\"}}");
  EXPECT_NE(load_error(folder.path()).find("plain file name"), std::string::npos);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
