// Large 16-bit checkpoints: the model keeps their matrices in 16 bits and gives the same results as
// with float matrices.
#include "core/checkpoint/format.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/generate.h"
#include "core/model/logit_lens.h"
#include "core/model/weights.h"
#include "tests/core/checkpoint/files.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::TemporaryFolder;

// The embedding alone has kMinNarrowWeights weights, from which on models keep 16-bit matrices.
constexpr Index kWidth = 64, kVocabulary = kMinNarrowWeights / kWidth;

struct Layout {
  std::string name, config;
  std::map<std::string, Shape> tensors;
  std::size_t narrow;  // number of 16-bit matrices
};

Layout gpt2() {
  std::map<std::string, Shape> t{{"wte.weight", {kVocabulary, 64}}, {"wpe.weight", {8, 64}}};
  const auto add_affine = [&](const std::string& name, Shape shape) {
    t[name + ".bias"] = {shape.back()};
    t[name + ".weight"] = std::move(shape);
  };
  add_affine("h.0.ln_1", {64});
  add_affine("h.0.attn.c_attn", {64, 192});
  add_affine("h.0.attn.c_proj", {64, 64});
  add_affine("h.0.ln_2", {64});
  add_affine("h.0.mlp.c_fc", {64, 256});
  add_affine("h.0.mlp.c_proj", {256, 64});
  add_affine("ln_f", {64});
  return {"gpt2",
          R"({"model_type": "gpt2", "n_positions": 8, "n_embd": 64, "n_layer": 1, "n_head": 2,
              "vocab_size": )" +
              std::to_string(kVocabulary) + "}",
          t, 7};
}

Layout llama() {
  const std::string at = "model.layers.0.";
  return {"llama",
          R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
              "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2,
              "max_position_embeddings": 32, "vocab_size": )" +
              std::to_string(kVocabulary) + "}",
          {{"model.embed_tokens.weight", {kVocabulary, 64}},
           {at + "input_layernorm.weight", {64}},
           {at + "self_attn.q_proj.weight", {64, 64}},
           {at + "self_attn.k_proj.weight", {32, 64}},
           {at + "self_attn.v_proj.weight", {32, 64}},
           {at + "self_attn.o_proj.weight", {64, 64}},
           {at + "post_attention_layernorm.weight", {64}},
           {at + "mlp.gate_proj.weight", {96, 64}},
           {at + "mlp.up_proj.weight", {96, 64}},
           {at + "mlp.down_proj.weight", {64, 96}},
           {"model.norm.weight", {64}},
           {"lm_head.weight", {kVocabulary, 64}}},
          9};
}

// GPT-NeoX stores q, k and v of each head interleaved in one matrix.
Layout gpt_neox() {
  std::map<std::string, Shape> t{{"gpt_neox.embed_in.weight", {kVocabulary, 64}},
                                 {"embed_out.weight", {kVocabulary, 64}}};
  const auto add_affine = [&](const std::string& name, Shape shape) {
    t["gpt_neox." + name + ".bias"] = {shape.front()};
    t["gpt_neox." + name + ".weight"] = std::move(shape);
  };
  add_affine("final_layer_norm", {64});
  add_affine("layers.0.input_layernorm", {64});
  add_affine("layers.0.post_attention_layernorm", {64});
  add_affine("layers.0.attention.query_key_value", {192, 64});
  add_affine("layers.0.attention.dense", {64, 64});
  add_affine("layers.0.mlp.dense_h_to_4h", {96, 64});
  add_affine("layers.0.mlp.dense_4h_to_h", {64, 96});
  return {"gpt_neox",
          R"({"model_type": "gpt_neox", "vocab_size": )" + std::to_string(kVocabulary) +
              R"(, "max_position_embeddings": 8, "hidden_size": 64, "intermediate_size": 96,
              "num_hidden_layers": 1, "num_attention_heads": 4})",
          t, 8};
}

Layout native() {
  const ModelConfig config = testing::small_config(
      {.vocabulary = kVocabulary, .context = 8, .heads = 4, .head_size = 16, .hidden = 96});
  Layout layout{"native", to_json(config).dump(), {}, 8};
  for (const WeightSpec& spec : weight_specs(config)) layout.tensors[spec.name] = spec.shape;
  return layout;
}

class Layouts : public ::testing::TestWithParam<Layout (*)()> {
 protected:
  // Loads random weights that are rounded to `dtype`. The file stores them as floats if `wide`,
  // otherwise as `dtype`.
  Checkpoint load(DType dtype, bool wide) const {
    SafetensorsFile file;
    std::uint64_t seed = 1;
    for (const auto& [name, shape] : layout_.tensors) {
      const StoredTensor numbers = stored(testing::random_tensor(shape, ++seed, 0.1), dtype);
      file.tensors.emplace(name, wide ? stored(numbers.floats()) : numbers);
    }
    write_file(folder_.path() / "config.json", layout_.config);
    write_safetensors(folder_.path() / "model.safetensors", file);
    return load_checkpoint(folder_.path());
  }

  const Layout layout_ = GetParam()();
  TemporaryFolder folder_;
};

TEST_P(Layouts, KeepNarrowMatrices) {
  const auto ids = IntTensor::from({1, 6}, {3, 60000, 2, 2, 99, 4});
  for (const DType dtype : {DType::F16, DType::BF16}) {
    const Model wide = load(dtype, true).model, narrow = load(dtype, false).model;
    EXPECT_TRUE(wide.narrow.empty());
    EXPECT_EQ(narrow.narrow.size(), layout_.narrow);
    EXPECT_EQ(narrow.narrow.size() + narrow.weights.size(), wide.weights.size());
    Trace wide_trace, narrow_trace;
    ForwardOptions wide_options, narrow_options;
    wide_options.trace = &wide_trace;
    narrow_options.trace = &narrow_trace;
    const Tensor expected = forward(wide, ids, wide_options).value();
    EXPECT_TRUE(testing::close(forward(narrow, ids, narrow_options).value(), expected, 1e-5));
    const LogitLens lens = logit_lens(wide, wide_trace);
    EXPECT_TRUE(testing::close(logit_lens(narrow, narrow_trace).probability, lens.probability));
    // combine_heads() of the trace gives the attention output that the model computed.
    for (const Trace* trace : {&wide_trace, &narrow_trace}) {
      const AttentionTap& tap = trace->attention.front();
      const Tensor& heads = tap.output();  // [h, L, d_v]
      Tensor rows({6, heads.dim(0) * heads.dim(2)});
      for (Index i = 0; i < 6; ++i) {
        for (Index a = 0; a < heads.dim(0); ++a) {
          for (Index n = 0; n < heads.dim(2); ++n) {
            rows(i, a * heads.dim(2) + n) = heads(a, i, n);
          }
        }
      }
      EXPECT_TRUE(
          testing::close(tap.combine_heads(rows), trace->taps.at("layers.0.attention"), 1e-5));
    }
    // The user selects other attention than the checkpoint's.
    const auto groups =
        uniform_groups(wide.config, {"local", default_values(variant("local").parameters)},
                       {"alibi", default_values(encoding("alibi").parameters)});
    EXPECT_TRUE(testing::close(forward(with_groups(narrow, groups, true), ids).value(),
                               forward(with_groups(wide, groups, true), ids).value(), 1e-5));
  }
}

TEST_P(Layouts, RejectInfinity) {
  load(DType::F16, false);
  SafetensorsFile file = read_safetensors(folder_.path() / "model.safetensors");
  for (auto& [name, tensor] : file.tensors) {
    if (tensor.shape != Shape{kVocabulary, kWidth}) continue;
    Tensor numbers = tensor.floats();
    numbers[70] = std::numeric_limits<float>::infinity();
    tensor = stored(numbers, DType::F16);
    write_safetensors(folder_.path() / "model.safetensors", file);
    EXPECT_NE(testing::message_of<InputError>([&] {
                load_checkpoint(folder_.path());
              }).find("tensor " + name + " contains NaN or infinity"),
              std::string::npos);
    return;
  }
  FAIL() << "the file has no embedding";
}

INSTANTIATE_TEST_SUITE_P(Formats, Layouts, ::testing::Values(gpt2, llama, gpt_neox, native),
                         [](const auto& info) { return info.param().name; });

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
