// Compares GGUF files with the folders of tests/layouts from which references/make_gguf.py
// converted them. Configuration, weights and the results of a forward pass must be bitwise equal.
#include "core/checkpoint/gguf_layouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/tensor/gguf.h"
#include "core/trace/trace.h"
#include "tests/core/checkpoint/files.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

// A GGUF file and the layout from which it was converted, without the parts that GGUF cannot store.
struct Conversion {
  std::string file;            // tests/gguf/FILE.gguf
  std::string layout;          // folder of tests/layouts
  std::string members = "{}";  // members that replace members of the layout's config
  // Tensors whose names contain one of these texts are omitted.
  std::vector<std::string> left_out{};
};

std::ostream& operator<<(std::ostream& out, const Conversion& conversion) {
  return out << conversion.file;
}

const std::vector<Conversion> kConversions{
    {"llama", "llama"},
    {"llama-linear", "llama-linear"},
    {"llama-yarn", "llama-yarn"},
    {"llama-llama3", "llama-llama3"},
    {"mistral", "mistral", R"({"sliding_window": null})"},
    {"mixtral", "mixtral"},
    {"qwen2", "qwen2", R"({"use_sliding_window": false, "layer_types": null})"},
    {"qwen3", "qwen3"},
    {"qwen2_moe", "qwen2_moe"},
    {"qwen3_moe", "qwen3_moe"},
    {"gemma", "gemma"},
    {"gemma2", "gemma2", R"({"query_pre_attn_scalar": 8})"},
    {"gemma3_text", "gemma3_text", R"({"query_pre_attn_scalar": 8})"},
    {"phi", "phi", R"({"qk_layernorm": false})", {"q_layernorm", "k_layernorm"}},
    {"phi3", "phi3"},
    {"gpt2", "gpt2"},
    {"gpt_bigcode", "gpt_bigcode"},
    {"gpt_neox", "gpt_neox"},
    {"falcon", "falcon"},
    {"falcon-40b", "falcon-40b"},
    {"bloom", "bloom"},
    {"mpt", "mpt"},
    {"starcoder2", "starcoder2", R"({"sliding_window": null})"},
    {"stablelm", "stablelm"},
    {"olmo", "olmo"},
    {"olmo2", "olmo2"},
    {"olmo3", "olmo3"},
    {"granite", "granite"},
    {"cohere", "cohere"},
    {"smollm3", "smollm3", R"({"no_rope_layers": null})"},
    {"gpt_oss", "gpt_oss"},
    {"bert", "bert", "{}", {"cls."}},
    {"roberta", "roberta", "{}", {"lm_head."}},
    {"distilbert", "distilbert", "{}", {"vocab_"}},
    {"nomic_bert", "nomic_bert", "{}", {"cls."}},
    {"t5", "t5", R"({"relative_attention_max_distance": 128})"},
    {"t5-gated", "t5-gated", R"({"relative_attention_max_distance": 128})"},
    {"t5-encoder", "t5-encoder", R"({"relative_attention_max_distance": 128})"},
};

fs::path tests_folder() {
  return testing::source_folder() / "tests";
}

Model load(const CheckpointSource& source) {
  const std::string type = format_type(source.config, source.config_place, "");
  for (const CheckpointFormat& format : checkpoint_formats()) {
    if (format.model_type == type) return format.load(source);
  }
  throw InputError("no layout " + type);
}

CheckpointSource source_of(const GgufFile& file, const std::string& place) {
  CheckpointSource source;
  source.place = source.config_place = place;
  source.config = gguf_config(file.metadata, file.tensors, place);
  source.tensors = gguf_tensors(file.metadata, source.config, file.tensors, place);
  return source;
}

GgufFile read_file_of(const std::string& name) {
  return read_gguf(tests_folder() / "gguf" / (name + ".gguf"));
}

Model load_layout(const Conversion& conversion) {
  const fs::path folder = tests_folder() / "layouts" / conversion.layout;
  CheckpointSource source = checkpoint_container(folder).open(folder);
  const Json members = parse_json(conversion.members, "members");
  for (const auto& [key, value] : members.items()) source.config[key] = value;
  for (auto& [name, tensor] : source.read_tensors()) {
    const bool left_out = std::ranges::any_of(conversion.left_out, [&](const std::string& part) {
      return name.find(part) != std::string::npos;
    });
    if (!left_out) source.tensors.emplace(name, tensor);
  }
  return load(source);
}

// Attention, states and logits of 40 tokens.
Trace run_model(const Model& model) {
  std::vector<std::int32_t> ids, types;
  for (int n = 0; n < 40; ++n) {
    ids.push_back((7 * n * n + 3 * n + 5) % 99);
    types.push_back(n < 20 ? 0 : 1);
  }
  Batch batch;
  batch.ids = IntTensor::from({1, 40}, ids);
  if (model.config.architecture.id == "encoder_decoder") batch.source = batch.ids;
  if (model.config.embedding.types > 1) batch.types = IntTensor::from({1, 40}, types);
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  run(model, batch, options);
  return trace;
}

void expect_equal(const Tensor& got, const Tensor& expected, const std::string& what,
                  double tolerance) {
  ASSERT_EQ(got.defined(), expected.defined()) << what;
  if (!got.defined()) return;
  EXPECT_TRUE(testing::close(got, expected, tolerance)) << what;
}

void expect_same_results(const Model& got, const Model& expected, double tolerance) {
  const Trace one = run_model(got), other = run_model(expected);
  expect_equal(one.logits, other.logits, "logits", tolerance);
  ASSERT_EQ(one.taps.size(), other.taps.size());
  for (const auto& [name, tap] : one.taps) {
    expect_equal(tap, other.taps.at(name), name, tolerance);
  }
  ASSERT_EQ(one.attention.size(), other.attention.size());
  for (std::size_t n = 0; n < one.attention.size(); ++n) {
    const AttentionTap &a = one.attention[n], &b = other.attention[n];
    for (std::size_t head = 0; head < a.heads.size(); ++head) {
      expect_equal(a.attention(static_cast<Index>(head)), b.attention(static_cast<Index>(head)),
                   "attention " + std::to_string(n), tolerance);
    }
  }
}

class GgufLayouts : public ::testing::TestWithParam<Conversion> {};

TEST_P(GgufLayouts, EqualTheirSource) {
  Model expected = load_layout(GetParam());
  expected.config.architecture.values.erase("unplaced");  // llama.cpp's files have no such token
  const Model got = load(source_of(read_file_of(GetParam().file), GetParam().file));
  EXPECT_EQ(to_json(got.config).dump(1), to_json(expected.config).dump(1));
  EXPECT_TRUE(got.config == expected.config);
  ASSERT_EQ(got.weights.size(), expected.weights.size());
  for (const auto& [name, weight] : expected.weights) {
    ASSERT_TRUE(got.weights.contains(name)) << name;
    expect_equal(got.weights.at(name).value(), weight.value(), name, 0);
  }
  expect_same_results(got, expected, 0);
}

INSTANTIATE_TEST_SUITE_P(All, GgufLayouts, ::testing::ValuesIn(kConversions), [](const auto& row) {
  std::string name = row.param.file;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(GgufLayouts, ListsArchitecturesOfAllFiles) {
  const std::vector<std::string> names = gguf_architectures();
  for (const auto& entry : fs::directory_iterator(tests_folder() / "gguf")) {
    if (entry.path().extension() != ".gguf") continue;
    const Json metadata = read_gguf(entry.path()).metadata;
    EXPECT_TRUE(std::ranges::binary_search(names, metadata["general.architecture"].text()));
  }
  EXPECT_TRUE(std::ranges::is_sorted(names));
}

// Stored numbers as floats, without transposition.
Tensor numbers_of(const StoredTensor& tensor) {
  StoredTensor plain = tensor;
  plain.transposed = false;
  return plain.floats();
}

// Decoding quantised tensors before or after their translation gives the same numbers.
TEST(GgufLayouts, ReorderQuantisedRows) {
  for (const char* name : {"llama.q8_0", "llama.q4_0", "mixtral.q8_0", "gpt2.q8_0", "gpt_neox.q4_0",
                           "gpt_oss.mxfp4"}) {
    const GgufFile file = read_file_of(name);
    GgufFile decoded = file;
    for (auto& [key, tensor] : decoded.tensors) tensor = stored(tensor.floats());
    const CheckpointSource blocks = source_of(file, name), floats = source_of(decoded, name);
    bool quantised = false;
    ASSERT_EQ(blocks.tensors.size(), floats.tensors.size()) << name;
    for (const auto& [key, tensor] : floats.tensors) {
      const StoredTensor& other = blocks.tensors.at(key);
      EXPECT_EQ(other.shape, tensor.shape) << name << key;
      EXPECT_EQ(other.transposed, tensor.transposed) << name << key;
      quantised |= is_quantised(other.dtype);
      expect_equal(numbers_of(other), numbers_of(tensor), name + key, 0);
    }
    EXPECT_TRUE(quantised) << name;
    expect_same_results(load(blocks), load(floats), 1e-5);
  }
}

// Copies of the queries and keys of a large model would need hundreds of megabytes.
TEST(GgufLayouts, LeaveQueriesAndKeysInMappedFile) {
  const GgufFile file = read_file_of("llama.q4_0");
  const CheckpointSource source = source_of(file, "llama.q4_0");
  const Model model = load(source);
  for (const char* letter : {"q", "k"}) {
    const StoredTensor& stored = file.tensors.at(std::string("blk.1.attn_") + letter + ".weight");
    ASSERT_TRUE(stored.mapped);
    EXPECT_EQ(model.narrow.at(std::string("layers.1.attn.w") + letter).bytes, stored.bytes);
  }
}

// ---- Metadata

// Message of the InputError that loading a changed file throws.
std::string error_after(const std::string& name, const std::function<void(GgufFile&)>& change) {
  GgufFile file = read_file_of(name);
  change(file);
  return testing::message_of<InputError>([&] { load(source_of(file, "model.gguf")); });
}

std::string error_with(const std::string& name, const std::string& key, const Json& value) {
  return error_after(name, [&](GgufFile& file) { file.metadata[key] = value; });
}

void expect_error(const std::string& error, const std::string& place, const std::string& part) {
  EXPECT_TRUE(error.starts_with("model.gguf: " + place)) << error;
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST(GgufLayouts, RejectUnknownArchitectures) {
  expect_error(error_with("llama", "general.architecture", "mamba"), "general.architecture",
               "found \"mamba\"");
  expect_error(error_with("llama", "general.architecture", 3), "general.architecture", "a string");
  expect_error(error_with("llama", "general.type", "adapter"), "general.type", "\"model\"");
  expect_error(error_after("llama", [](GgufFile& f) { f.metadata.erase("general.architecture"); }),
               "general.architecture", "found nothing");
}

TEST(GgufLayouts, RejectUnknownKeysByName) {
  expect_error(error_with("llama", "llama.attention.q_lora_rank", 3), "llama.attention.q_lora_rank",
               "does not support this key");
  expect_error(error_with("llama", "llama.rope.scaling.yarn_log_multiplier", 0.1),
               "llama.rope.scaling.yarn_log_multiplier", "does not support this key");
}

TEST(GgufLayouts, AllowKeysThatDoNotChangeStates) {
  EXPECT_EQ(error_with("qwen3", "qwen3.pooling_type", 3), "no error");
  EXPECT_EQ(error_with("qwen3", "qwen3.expert_count", 0), "no error");
  EXPECT_EQ(error_with("gemma3_text", "gemma3.vision.block_count", 27), "no error");
  EXPECT_EQ(error_with("gemma3_text", "gemma3.mm.tokens_per_image", 256), "no error");
  expect_error(error_with("qwen3", "qwen3.expert_count", 8), "qwen3.expert_count", "0 (nothing");
  expect_error(error_with("gemma2", "gemma2.rope.freq_base_swa", 500.0),
               "gemma2.rope.freq_base_swa", "10000 (nothing");
}

TEST(GgufLayouts, RejectHostileSizes) {
  for (const char* key :
       {"block_count", "context_length", "embedding_length", "attention.head_count",
        "attention.head_count_kv", "attention.key_length", "rope.dimension_count"}) {
    const std::string full = std::string("llama.") + key;
    for (const Json& value :
         {Json(0), Json(-1), Json(1e30), Json("3"), Json(std::uint64_t{1} << 63),
          Json::array({1, 2}), Json::array(), Json()}) {
      expect_error(error_with("llama", full, value), full, "expected");
    }
  }
  expect_error(error_with("llama", "llama.attention.head_count_kv", 3),
               "llama.attention.head_count_kv", "a divisor of 4");
  expect_error(error_with("llama", "llama.attention.value_length", 4),
               "llama.attention.value_length", "attention.key_length 8");
  expect_error(error_with("llama", "llama.rope.dimension_count", 4), "llama.rope.dimension_count",
               "8");
  expect_error(error_with("llama", "llama.rope.freq_base", 0), "llama.rope.freq_base",
               "from 0.001");
  expect_error(error_with("llama", "llama.attention.layer_norm_rms_epsilon", "x"),
               "llama.attention.layer_norm_rms_epsilon", "a number");
  // Sizes that contradict the tensors.
  expect_error(error_with("llama", "llama.attention.head_count", 2), "tensor blk.0.attn_q.weight",
               "16 rows");
  expect_error(error_with("llama", "llama.block_count", 1), "tensor model.layers.1.",
               "not part of the model");
}

TEST(GgufLayouts, AcceptListsOfEqualNumbers) {
  EXPECT_EQ(error_with("llama", "llama.attention.head_count_kv", Json::array({2, 2})), "no error");
  expect_error(error_with("llama", "llama.attention.head_count_kv", Json::array({2, 4})),
               "llama.attention.head_count_kv", "an integer");
}

TEST(GgufLayouts, RejectOtherKindsOfModels) {
  expect_error(error_with("llama", "llama.attention.causal", false), "llama.attention.causal",
               "true");
  expect_error(error_with("bert", "bert.attention.causal", true), "bert.attention.causal", "false");
  expect_error(error_with("qwen3_moe", "qwen3moe.expert_gating_func", 2),
               "qwen3moe.expert_gating_func", "1 (nothing else is supported)");
  expect_error(error_with("qwen3_moe", "qwen3moe.expert_count", 5),
               "tensor blk.0.ffn_down_exps.weight", "5 rows");
  expect_error(error_with("olmo", "olmo.attention.clamp_kqv", 8.0), "olmo.attention.clamp_kqv",
               "0 (nothing else");
  expect_error(error_with("olmo3", "olmo2.attention.sliding_window_pattern",
                          Json::array({true, false, true})),
               "olmo2.attention.sliding_window_pattern", "one for each of 2 layers");
  expect_error(error_with("gpt_bigcode", "starcoder.attention.head_count_kv", 4),
               "starcoder.attention.head_count_kv", "1");
}

TEST(GgufLayouts, RejectUnsupportedRopeScaling) {
  const std::string type = "llama.rope.scaling.type";
  expect_error(error_with("llama", type, "dynamic"), type, "\"linear\"");
  expect_error(error_with("llama", type, "longrope"), type, "\"linear\"");
  expect_error(error_with("llama-llama3", type, "yarn"), type, "rope_freqs.weight");
  expect_error(error_with("llama-yarn", "llama.rope.scaling.yarn_ext_factor", 0.5),
               "llama.rope.scaling.yarn_ext_factor", "1");
  expect_error(error_with("llama-yarn", "llama.rope.scaling.factor", 0),
               "llama.rope.scaling.factor", "from 1e-06");
  expect_error(
      error_after("phi3", [](GgufFile& f) { f.tensors.erase("rope_factors_short.weight"); }),
      "tensor rope_factors_short.weight", "missing");
}

TEST(GgufLayouts, RejectInvalidRopeFactors) {
  const auto with_factors = [](const Tensor& factors) {
    return error_after("llama-llama3", [&](GgufFile& file) {
      file.tensors.insert_or_assign("rope_freqs.weight", stored(factors));
    });
  };
  expect_error(with_factors(Tensor::full({3}, 1)), "tensor rope_freqs.weight", "8 positive");
  expect_error(with_factors(Tensor::full({8}, 0)), "tensor rope_freqs.weight", "8 positive");
  expect_error(with_factors(Tensor::full({2, 4}, 1)), "tensor rope_freqs.weight", "a vector");
}

// Factors that do not follow Llama 3's rule become LongRoPE factors.
TEST(GgufLayouts, KeepOtherRopeFactors) {
  GgufFile file = read_file_of("llama-llama3");
  const Tensor factors = Tensor::from({8}, {1, 1.5, 2, 1, 1, 1, 1, 5});
  file.tensors.insert_or_assign("rope_freqs.weight", stored(factors));
  const Json config = gguf_config(file.metadata, file.tensors, "model.gguf");
  EXPECT_EQ(config["rope_scaling"]["rope_type"], "longrope");
  EXPECT_EQ(config["rope_scaling"]["short_factor"].get<std::vector<double>>(),
            (std::vector<double>{1, 1.5, 2, 1, 1, 1, 1, 5}));
  EXPECT_EQ(config["rope_scaling"]["long_factor"], config["rope_scaling"]["short_factor"]);
  const Model model = load(source_of(file, "model.gguf"));
  EXPECT_EQ(model.config.groups[0][0].encoding.values.choice("scaling"), "longrope");
}

TEST(GgufLayouts, RejectUnknownTensorsByName) {
  const auto with_tensor = [](const std::string& name) {
    return error_after(
        "llama", [&](GgufFile& file) { file.tensors.emplace(name, stored(Tensor::full({4}, 1))); });
  };
  for (const char* name :
       {"v.blk.0.attn_q.weight", "blk.x.attn_q.weight", "blk.12345.attn_q.weight", "blk.0",
        "blk.0.ffn_gate_up_exps.weight", "blk.0.ssm_a", "output.scale", "blk..attn_q.weight",
        "blk.-1.attn_q.weight", ""}) {
    expect_error(with_tensor(name), std::string("tensor ") + name + ":", "expected");
  }
  EXPECT_EQ(with_tensor("blk.0.attn_rot_embd.weight"), "no error");
}

TEST(GgufLayouts, RejectMissingTensors) {
  for (const char* name : {"token_embd.weight", "output_norm.weight", "blk.1.attn_k.weight",
                           "blk.0.ffn_down.weight"}) {
    const std::string error =
        error_after("llama", [&](GgufFile& file) { file.tensors.erase(name); });
    EXPECT_NE(error.find("is missing"), std::string::npos) << error;
  }
}

TEST(GgufLayouts, RejectTensorsOfOtherShapes) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{5}, Shape{32}, Shape{32, 31}, Shape{31, 32},
                             Shape{2, 16, 32}, Shape{0, 32}}) {
    for (const char* name : {"blk.0.attn_q.weight", "blk.0.ffn_up.weight", "token_embd.weight",
                             "output.weight", "blk.0.attn_norm.weight"}) {
      if (shape == Shape{32} && std::string(name).ends_with("norm.weight")) continue;
      EXPECT_NE(
          error_after("llama",
                      [&](GgufFile& file) { file.tensors[name] = stored(Tensor::full(shape, 1)); }),
          "no error")
          << name << to_string(shape);
    }
    EXPECT_NE(error_after("qwen3_moe",
                          [&](GgufFile& file) {
                            file.tensors["blk.0.ffn_up_exps.weight"] =
                                stored(Tensor::full(shape, 1));
                          }),
              "no error");
  }
}

// Vectors cannot be quantised: each of their rows is one number, not a whole block.
TEST(GgufLayouts, RejectQuantisedVectors) {
  const std::string error = error_after("llama-linear", [](GgufFile& file) {
    StoredTensor bias = read_file_of("llama.q8_0").tensors.at("blk.0.attn_q.weight");
    bias.shape = {32};
    file.tensors["blk.0.attn_q.bias"] = bias;
  });
  expect_error(error, "tensor blk.0.attn_q.bias", "whole blocks");
}

// Files with changed members or tensors give an InputError or a model, but no other exception.
TEST(GgufLayouts, SurviveChangedMembers) {
  const std::vector<Json> values{{}, 0, 3, 1 << 20, 1e30, "x", true, Json::array({1, 2})};
  for (const char* name : {"llama-llama3", "mixtral", "phi3", "gemma3_text", "gpt_oss",
                           "falcon-40b", "bert", "t5", "mpt"}) {
    const Json metadata = read_file_of(name).metadata;
    const std::string prefix = metadata["general.architecture"].text() + ".";
    for (const auto& [key, value] : metadata.items()) {
      if (!key.starts_with(prefix)) continue;
      for (const Json& other : values) EXPECT_NO_THROW(error_with(name, key, other)) << key;
      EXPECT_NO_THROW(error_after(name, [&](GgufFile& file) { file.metadata.erase(key); })) << key;
    }
  }
}

TEST(GgufLayouts, SurviveChangedTensors) {
  for (const char* name : {"gpt_oss.mxfp4", "gpt_neox.q4_0", "gpt2.q8_0", "bert"}) {
    for (const auto& [key, tensor] : read_file_of(name).tensors) {
      const auto replace = [&](const StoredTensor& other) {
        EXPECT_NO_THROW(error_after(name, [&](GgufFile& file) { file.tensors[key] = other; }))
            << key;
      };
      StoredTensor reversed = tensor;
      std::ranges::reverse(reversed.shape);
      if (reversed.shape.back() % block_size(tensor.dtype) == 0) replace(reversed);
      for (const Shape& shape : {Shape{}, Shape{1}, Shape{0, 32}, Shape{32, 32}}) {
        replace(stored(Tensor::full(shape, 1)));
      }
    }
  }
}

// ---- Variants of files

TEST(GgufLayouts, ReadSeparatelyStoredExperts) {
  GgufFile file = read_file_of("mixtral");
  const Model expected = load(source_of(file, "mixtral"));
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    for (const std::string name : {"ffn_gate", "ffn_up", "ffn_down"}) {
      const auto all = file.tensors.extract(layer + name + "_exps.weight");
      const Tensor experts = all.mapped().floats();
      for (Index e = 0; e < experts.dim(0); ++e) {
        const Tensor one = experts.slice(e, 1).reshaped({experts.dim(1), experts.dim(2)});
        file.tensors.emplace(layer + name + "." + std::to_string(e) + ".weight", stored(one));
      }
    }
  }
  expect_same_results(load(source_of(file, "mixtral")), expected, 0);
}

TEST(GgufLayouts, ReadSharedExpertGatesOfBothShapes) {
  GgufFile file = read_file_of("qwen2_moe");
  const Model expected = load(source_of(file, "qwen2_moe"));
  for (const char* layer : {"blk.0.", "blk.1."}) {
    Shape& shape = file.tensors.at(std::string(layer) + "ffn_gate_inp_shexp.weight").shape;
    ASSERT_EQ(shape, Shape{32});
    shape = {1, 32};
  }
  expect_same_results(load(source_of(file, "qwen2_moe")), expected, 0);
}

// llama.cpp derives missing widths of experts from feed_forward_length.
TEST(GgufLayouts, DeriveMissingWidthsOfExperts) {
  GgufFile file = read_file_of("qwen2_moe");
  EXPECT_EQ(source_of(file, "qwen2_moe").config["moe_intermediate_size"], 12);
  EXPECT_EQ(source_of(file, "qwen2_moe").config["shared_expert_intermediate_size"], 20);
  file.metadata.erase("qwen2moe.expert_feed_forward_length");
  file.metadata.erase("qwen2moe.expert_shared_feed_forward_length");
  file.metadata["qwen2moe.feed_forward_length"] = 26;  // two experts per token
  const Json config = gguf_config(file.metadata, file.tensors, "qwen2_moe");
  EXPECT_EQ(config["moe_intermediate_size"], 13);
  EXPECT_EQ(config["shared_expert_intermediate_size"], 26);
}

TEST(GgufLayouts, SeparateFusedQueriesKeysAndValues) {
  GgufFile file = read_file_of("phi");
  const Model expected = load(source_of(file, "phi"));
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    for (const auto& [kind, columns] : {std::pair{".weight", Index{32}}, {".bias", Index{1}}}) {
      std::vector<float> numbers;
      for (const char* name : {"attn_q", "attn_k", "attn_v"}) {
        const auto part = file.tensors.extract(layer + name + kind);
        const Tensor values = part.mapped().floats();
        numbers.insert(numbers.end(), values.begin(), values.end());
      }
      const Shape shape = columns == 1 ? Shape{96} : Shape{96, columns};
      file.tensors.emplace(layer + "attn_qkv" + kind, stored(Tensor::from(shape, numbers)));
    }
  }
  expect_same_results(load(source_of(file, "phi")), expected, 0);
}

TEST(GgufLayouts, TieMissingOrEqualOutput) {
  GgufFile file = read_file_of("llama");
  EXPECT_EQ(source_of(file, "llama").config["tie_word_embeddings"], false);
  file.tensors["output.weight"] = file.tensors["token_embd.weight"];
  EXPECT_EQ(source_of(file, "llama").config["tie_word_embeddings"], true);
  EXPECT_TRUE(load(source_of(file, "llama")).config.tied_output);
  file.tensors.erase("output.weight");
  EXPECT_TRUE(load(source_of(file, "llama")).config.tied_output);
}

TEST(GgufLayouts, ReadOldLinearScaling) {
  GgufFile file = read_file_of("llama");
  file.metadata["llama.rope.scale_linear"] = 4.0;
  const Model model = load(source_of(file, "llama"));
  EXPECT_EQ(model.config.groups[0][0].encoding.values.real("factor"), 4);
}

TEST(GgufLayouts, ReadStoredWindowsOfLlama) {
  GgufFile file = read_file_of("llama");
  file.metadata["llama.attention.sliding_window"] = 9;
  const Model model = load(source_of(file, "llama"));
  EXPECT_EQ(model.config.groups[0][0].variant.id, "local");
  EXPECT_EQ(model.config.groups[0][0].variant.values.integer("window"), 8);
}

TEST(GgufLayouts, ReadPeriodsOfWindows) {
  GgufFile file = read_file_of("gemma3_text");
  file.metadata["gemma3.attention.sliding_window_pattern"] = 1;
  EXPECT_EQ(load(source_of(file, "gemma3")).config.groups[0][0].variant.id, "full");
  file.metadata.erase("gemma3.attention.sliding_window_pattern");  // the default period is 6
  EXPECT_EQ(load(source_of(file, "gemma3")).config.groups[1][0].variant.id, "local");
  file.metadata.erase("gemma3.attention.sliding_window");
  EXPECT_EQ(load(source_of(file, "gemma3")).config.groups[0][0].variant.id, "full");
}

TEST(GgufLayouts, StateEndTokens) {
  GgufFile file = read_file_of("llama");
  file.metadata["tokenizer.ggml.eot_token_id"] = 7;
  EXPECT_EQ(source_of(file, "llama").config["eos_token_id"], Json::array({2, 7}));
  expect_error(error_with("llama", "tokenizer.ggml.eos_token_id", -3),
               "tokenizer.ggml.eos_token_id", "an integer");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
