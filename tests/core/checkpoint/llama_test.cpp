#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <fstream>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/tensor/storage.h"
#include "core/trace/trace.h"
#include "tests/core/checkpoint/files.h"
#include "tests/core/checkpoint/small_models.h"
#include "tests/core/model/reference.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::Rows;
using testing::TemporaryFolder;
using testing::Tensors;

std::string config(const std::string& more = "") {
  return R"({"model_type": "llama", "vocab_size": 17, "hidden_size": 12, "intermediate_size": 20,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6,
    "hidden_act": "silu", "max_position_embeddings": 32, "rms_norm_eps": 1e-6,
    "rope_theta": 500.0, "torch_dtype": "float32", "attention_bias": false)" +
         more + "}";
}

Tensors tensors() {
  Tensors t;
  std::uint64_t seed = 1;
  const auto add = [&](const std::string& name, Shape shape) {
    t[name] = testing::random_tensor(std::move(shape), ++seed, 0.4);
  };
  add("model.embed_tokens.weight", {17, 12});
  for (const std::string at : {"model.layers.0.", "model.layers.1."}) {
    add(at + "input_layernorm.weight", {12});
    add(at + "self_attn.q_proj.weight", {24, 12});
    add(at + "self_attn.k_proj.weight", {12, 12});
    add(at + "self_attn.v_proj.weight", {12, 12});
    add(at + "self_attn.o_proj.weight", {12, 24});
    add(at + "post_attention_layernorm.weight", {12});
    add(at + "mlp.gate_proj.weight", {20, 12});
    add(at + "mlp.up_proj.weight", {20, 12});
    add(at + "mlp.down_proj.weight", {12, 20});
  }
  add("model.norm.weight", {12});
  add("lm_head.weight", {17, 12});
  return t;
}

Rows reference(const Tensors& t, const std::vector<std::size_t>& ids) {
  using namespace testing;
  const Rows table = rows_of(t.at("model.embed_tokens.weight"));
  Rows x;
  for (const std::size_t id : ids) x.push_back(table[id]);
  for (const std::string at : {"model.layers.0.", "model.layers.1."}) {
    const Rows a = rms_norm_rows(x, t.at(at + "input_layernorm.weight"), 1e-6);
    const Rows q = rotated(times_transposed(a, t.at(at + "self_attn.q_proj.weight")), 4, 500, true);
    const Rows k = rotated(times_transposed(a, t.at(at + "self_attn.k_proj.weight")), 2, 500, true);
    const Rows v = times_transposed(a, t.at(at + "self_attn.v_proj.weight"));
    x = sum(x, times_transposed(reference_attention(q, k, v, 4, 2, true).output,
                                t.at(at + "self_attn.o_proj.weight")));
    const Rows f = rms_norm_rows(x, t.at(at + "post_attention_layernorm.weight"), 1e-6);
    x = sum(x, times_transposed(product(each(times_transposed(f, t.at(at + "mlp.gate_proj.weight")),
                                             testing::silu),
                                        times_transposed(f, t.at(at + "mlp.up_proj.weight"))),
                                t.at(at + "mlp.down_proj.weight")));
  }
  return times_transposed(rms_norm_rows(x, t.at("model.norm.weight"), 1e-6),
                          t.at("lm_head.weight"));
}

Tensor logits_of(const Checkpoint& checkpoint) {
  return forward(checkpoint.model, IntTensor::from({1, 6}, {3, 16, 0, 5, 5, 9}))
      .value()
      .reshaped({6, 17});
}

std::string load_error(const TemporaryFolder& folder) {
  return testing::message_of<InputError>([&] { load_checkpoint(folder.path().string()); });
}

TEST(Llama, MatchesReference) {
  const TemporaryFolder folder;
  const Tensors t = tensors();
  testing::write_checkpoint(folder.path(), config(), t);
  const Tensor logits = logits_of(load_checkpoint(folder.path().string()));
  EXPECT_TRUE(testing::close(logits, testing::tensor_of(reference(t, {3, 16, 0, 5, 5, 9}))));
}

TEST(Llama, TiesOutputIfConfigured) {
  const TemporaryFolder folder;
  Tensors t = tensors();
  t["lm_head.weight"] = t["model.embed_tokens.weight"];
  testing::write_checkpoint(folder.path(), config(R"(, "tie_word_embeddings": true)"), t);
  const Tensor logits = logits_of(load_checkpoint(folder.path().string()));
  EXPECT_TRUE(testing::close(logits, testing::tensor_of(reference(t, {3, 16, 0, 5, 5, 9}))));
}

// A tied tensor may be stored under either name.
TEST(Llama, ReadsTiedEmbeddingUnderOutputName) {
  const TemporaryFolder folder;
  Tensors t = tensors();
  t["lm_head.weight"] = t["model.embed_tokens.weight"];
  const Rows expected = reference(t, {3, 16, 0, 5, 5, 9});
  t.erase("model.embed_tokens.weight");
  t["model.rotary_emb.inv_freq"] = Tensor::zeros({3});
  t["model.layers.0.self_attn.rotary_emb.inv_freq"] = Tensor::zeros({3});
  testing::write_checkpoint(folder.path(), config(R"(, "tie_word_embeddings": true)"), t);
  EXPECT_TRUE(testing::close(logits_of(load_checkpoint(folder.path().string())),
                             testing::tensor_of(expected)));
  testing::write_checkpoint(folder.path(), config(), t);
  EXPECT_NE(load_error(folder).find("model.embed_tokens.weight is missing"), std::string::npos);
}

// Returns the peak resident memory of this process in bytes since the last reset.
double peak_memory(bool reset) {
  if (reset) std::ofstream("/proc/self/clear_refs") << 5;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
  }
  return 0;
}

TEST(Llama, LoadsWithLittleExtraMemory) {
  { const Tensor freed({1}); }
  if (storage_statistics().cached_bytes == 0) GTEST_SKIP() << "AddressSanitizer keeps freed memory";
  const TemporaryFolder folder;
  double size = 0;
  {
    Tensors t = tensors();
    for (auto& [name, tensor] : t) {
      Shape shape = tensor.shape();
      for (Index& n : shape) n *= 96;  // 130 MB in total
      tensor = Tensor::full(shape, 0.5f);
      size += static_cast<double>(tensor.size()) * sizeof(float);
    }
    testing::write_checkpoint(folder.path(), R"({"model_type": "llama", "vocab_size": 1632,
      "hidden_size": 1152, "intermediate_size": 1920, "num_hidden_layers": 2,
      "num_attention_heads": 384, "num_key_value_heads": 192, "head_dim": 6})",
                              t);
  }
  release_cached_storage();
  malloc_trim(0);  // returns memory that earlier tests have freed
  const double before = peak_memory(true);
  const Checkpoint checkpoint = load_checkpoint(folder.path().string());
  const double used = peak_memory(false) - before;
  EXPECT_GE(used, 0.9 * size);  // otherwise the peak was not measured
  EXPECT_LE(used, 1.15 * size);
}

TEST(Llama, ReadsEndOfTextTokens) {
  const TemporaryFolder folder;
  const auto read_end_tokens = [&](const std::string& more) {
    testing::write_checkpoint(folder.path(), config(more), tensors());
    return load_checkpoint(folder.path().string()).end_tokens;
  };
  using Ids = std::vector<std::int32_t>;
  EXPECT_EQ(read_end_tokens(""), Ids{});
  EXPECT_EQ(read_end_tokens(R"(, "eos_token_id": null)"), Ids{});
  EXPECT_EQ(read_end_tokens(R"(, "eos_token_id": 2)"), Ids{2});
  EXPECT_EQ(read_end_tokens(R"(, "eos_token_id": [2, 16, 17, -1])"), (Ids{2, 16}));
  testing::write_checkpoint(folder.path(), config(R"(, "eos_token_id": "two")"), tensors());
  EXPECT_NE(load_error(folder).find("eos_token_id"), std::string::npos);
}

TEST(Llama, RejectsUnsupportedSettingsByName) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& more) {
    testing::write_checkpoint(folder.path(), config(more), tensors());
    return load_error(folder);
  };
  EXPECT_NE(error(R"(, "rope_scaling": {"rope_type": "spiral", "factor": 8.0})")
                .find("rope_scaling: rope_type: expected \"default\", \"linear\", \"llama3\""),
            std::string::npos);
  EXPECT_NE(error(R"(, "rope_scaling": {"rope_type": "llama3", "factor": 8.0})")
                .find("rope_scaling: low_freq_factor"),
            std::string::npos);
  EXPECT_EQ(error(R"(, "rope_scaling": null)"), "no error");
  EXPECT_EQ(error(R"(, "rope_scaling": {"type": "linear", "factor": 2.0})"), "no error");
  EXPECT_NE(error(R"(, "quantization_config": {"bits": 4})").find("quantization_config"),
            std::string::npos);
  EXPECT_NE(error(R"(, "hidden_act": "laplace")").find("hidden_act"), std::string::npos);
  EXPECT_NE(error(R"(, "mlp_bias": true)").find("mlp.gate_proj.bias is missing"),
            std::string::npos);
  // lm_head.weight differs from the embedding.
  EXPECT_NE(
      error(R"(, "tie_word_embeddings": true)").find("tensor lm_head.weight: expected the same"),
      std::string::npos);
  std::string uneven = config();
  uneven.replace(uneven.find("_heads\": 2"), 10, "_heads\": 3");
  testing::write_checkpoint(folder.path(), uneven, tensors());
  EXPECT_NE(load_error(folder).find(
                "num_attention_heads: expected a multiple of num_key_value_heads 3, found 4"),
            std::string::npos)
      << load_error(folder);
  testing::write_checkpoint(folder.path(), config(), tensors());
  SafetensorsFile integers = read_safetensors(folder.path() / "model.safetensors");
  integers.tensors["model.norm.weight"] = stored(IntTensor::zeros({12}));
  write_safetensors(folder.path() / "model.safetensors", integers);
  EXPECT_NE(load_error(folder).find("tensor model.norm.weight: expected dtype F32, F16, BF16 or "
                                    "F64, found I32"),
            std::string::npos)
      << load_error(folder);
  Tensors t = tensors();
  t["model.layers.0.self_attn.q_norm.weight"] = Tensor::zeros({6});
  testing::write_checkpoint(folder.path(), config(), t);
  EXPECT_NE(load_error(folder).find("q_norm.weight [6] is not part of"), std::string::npos);
}

// The gain is "attention_factor" if present. Otherwise it follows from "factor" with "mscale" and
// "mscale_all_dim" if both are present, or from "factor" alone.
TEST(Llama, DerivesYarnGainFromFactor) {
  const auto gain = [](const std::string& members) {
    const TemporaryFolder folder;
    testing::write_checkpoint(folder.path(),
                              config(R"(, "rope_parameters": {"rope_type": "yarn",
                                  "rope_theta": 500.0, "original_max_position_embeddings": 16, )" +
                                     members + "}"),
                              tensors());
    const ModelConfig read = load_checkpoint(folder.path().string()).model.config;
    return read.groups.at(0).at(0).encoding.values.real("gain");
  };
  const auto magnitude = [](double scale) { return 0.1 * scale * std::log(8.0) + 1; };
  EXPECT_NEAR(gain(R"("factor": 8.0)"), magnitude(1), 1e-12);
  EXPECT_NEAR(gain(R"("factor": 8.0, "mscale": 0.7)"), magnitude(1), 1e-12);
  EXPECT_NEAR(gain(R"("factor": 8.0, "mscale_all_dim": 0.7)"), magnitude(1), 1e-12);
  EXPECT_NEAR(gain(R"("factor": 8.0, "mscale": 0.7, "mscale_all_dim": 1.3)"),
              magnitude(0.7) / magnitude(1.3), 1e-12);
  EXPECT_EQ(gain(R"("factor": 8.0, "mscale": 0.7, "attention_factor": 1.25)"), 1.25);
  EXPECT_EQ(gain(R"("factor": 1.0, "mscale": 0.7, "mscale_all_dim": 1.3)"), 1);
}

TEST(Smollm3, OmitsPositionsAtInterval) {
  for (const auto& [every, has_rotary] : {std::pair<Index, std::vector<bool>>{1, {false, false}},
                                          {2, {true, false}},
                                          {3, {true, true}}}) {
    const Checkpoint checkpoint = testing::changed_layout(
        "smollm3",
        R"({"no_rope_layers": null, "no_rope_layer_interval": )" + std::to_string(every) + "}");
    std::vector<bool> found;
    for (const auto& layer : checkpoint.model.config.groups) {
      found.push_back(layer[0].encoding.id == "rope");
    }
    EXPECT_EQ(found, has_rotary) << every;
  }
}

TEST(QwenMoe, RejectsDenseLayersOutsideModel) {
  for (const char* layers : {"[2]", "[-1]", "[0.5]", R"(["1"])"}) {
    const std::string error = testing::message_of<InputError>([&] {
      testing::changed_layout("qwen2_moe", std::string(R"({"mlp_only_layers": )") + layers + "}");
    });
    EXPECT_NE(error.find("mlp_only_layers: expected a list of layers below 2"), std::string::npos)
        << error;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
