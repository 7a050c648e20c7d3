#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/files.h"
#include "tests/core/checkpoint/small_models.h"
#include "tests/core/model/reference.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::Rows;
using testing::TemporaryFolder;
using testing::Tensors;

std::string config(const std::string& more = "") {
  return R"({"model_type": "gpt2", "vocab_size": 17, "n_positions": 9, "n_embd": 12, "n_layer": 2,
    "n_head": 3, "n_inner": null, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5)" +
         more + "}";
}

Tensors tensors() {
  Tensors t;
  std::uint64_t seed = 1;
  const auto add = [&](const std::string& name, Shape shape) {
    t[name] = testing::random_tensor(std::move(shape), ++seed, 0.4);
  };
  const auto add_affine = [&](const std::string& name, Shape shape) {
    add(name + ".bias", {shape.back()});
    add(name + ".weight", std::move(shape));
  };
  add("transformer.wte.weight", {17, 12});
  add("transformer.wpe.weight", {9, 12});
  for (const std::string at : {"transformer.h.0.", "transformer.h.1."}) {
    add_affine(at + "ln_1", {12});
    add_affine(at + "attn.c_attn", {12, 36});
    add_affine(at + "attn.c_proj", {12, 12});
    add_affine(at + "ln_2", {12});
    add_affine(at + "mlp.c_fc", {12, 48});
    add_affine(at + "mlp.c_proj", {48, 12});
    t[at + "attn.bias"] = Tensor::zeros({1, 1, 9, 9});
  }
  add_affine("transformer.ln_f", {12});
  return t;
}

Rows columns(const Rows& rows, std::size_t first, std::size_t count) {
  Rows result;
  for (const auto& row : rows) {
    const auto begin = row.begin() + static_cast<std::ptrdiff_t>(first);
    result.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return result;
}

Rows reference(const Tensors& t, const std::vector<std::size_t>& ids) {
  using namespace testing;
  const auto linear = [&](const Rows& x, const std::string& name) {
    return times(x, t.at(name + ".weight"), &t.at(name + ".bias"));
  };
  const auto norm = [&](const Rows& x, const std::string& name) {
    return layer_norm_rows(x, t.at(name + ".weight"), t.at(name + ".bias"), 1e-5);
  };
  const Rows table = rows_of(t.at("transformer.wte.weight"));
  Rows x, positions = rows_of(t.at("transformer.wpe.weight"));
  for (const std::size_t id : ids) x.push_back(table[id]);
  positions.resize(x.size());
  x = sum(x, positions);
  for (const std::string at : {"transformer.h.0.", "transformer.h.1."}) {
    const Rows qkv = linear(norm(x, at + "ln_1"), at + "attn.c_attn");
    const Rows mixed = reference_attention(columns(qkv, 0, 12), columns(qkv, 12, 12),
                                           columns(qkv, 24, 12), 3, 3, true)
                           .output;
    x = sum(x, linear(mixed, at + "attn.c_proj"));
    const auto gelu = [](double value) { return gelu_tanh(value); };
    x = sum(x,
            linear(each(linear(norm(x, at + "ln_2"), at + "mlp.c_fc"), gelu), at + "mlp.c_proj"));
  }
  return times_transposed(norm(x, "transformer.ln_f"), t.at("transformer.wte.weight"));
}

std::string load_error(const TemporaryFolder& folder) {
  return testing::message_of<InputError>([&] { load_checkpoint(folder.path().string()); });
}

TEST(Gpt2, MatchesReference) {
  const TemporaryFolder folder;
  const Tensors t = tensors();
  testing::write_checkpoint(folder.path(), config(), t);
  const Checkpoint checkpoint = load_checkpoint(folder.path().string());
  EXPECT_EQ(checkpoint.model.config.context, 9);
  const Tensor logits =
      forward(checkpoint.model, IntTensor::from({1, 5}, {3, 16, 0, 5, 5})).value();
  EXPECT_TRUE(
      testing::close(logits.reshaped({5, 17}), testing::tensor_of(reference(t, {3, 16, 0, 5, 5}))));
}

// Another score scale is equivalent to the default scale with scaled queries.
TEST(Gpt2, SupportsOtherScoreScales) {
  const TemporaryFolder folder;
  Tensors t = tensors();
  for (const auto& [layer, divisor] : {std::pair("0", 1.0f), std::pair("1", 2.0f)}) {
    const std::string name = std::string("transformer.h.") + layer + ".attn.c_attn";
    const float factor = 2 / divisor;  // 2: sqrt(d_k)
    Tensor weight = t.at(name + ".weight").copy(), bias = t.at(name + ".bias").copy();
    for (Index column = 0; column < 12; ++column) {
      for (Index row = 0; row < 12; ++row) weight(row, column) *= factor;
      bias[column] *= factor;
    }
    t[name + ".weight"] = weight;
    t[name + ".bias"] = bias;
  }
  testing::write_checkpoint(
      folder.path(),
      config(R"(, "scale_attn_weights": false, "scale_attn_by_inverse_layer_idx": true)"),
      tensors());
  const Checkpoint checkpoint = load_checkpoint(folder.path().string());
  const Tensor logits =
      forward(checkpoint.model, IntTensor::from({1, 5}, {3, 16, 0, 5, 5})).value();
  EXPECT_TRUE(
      testing::close(logits.reshaped({5, 17}), testing::tensor_of(reference(t, {3, 16, 0, 5, 5}))));
}

TEST(Gpt2, RejectsUnsupportedSettingsByName) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& more) {
    testing::write_checkpoint(folder.path(), config(more), tensors());
    return load_error(folder);
  };
  EXPECT_NE(error(R"(, "add_cross_attention": true)").find("add_cross_attention"),
            std::string::npos);
  Tensors t = tensors();
  t.erase("transformer.wpe.weight");
  testing::write_checkpoint(folder.path(), config(), t);
  EXPECT_NE(load_error(folder).find("transformer.wpe.weight is missing"), std::string::npos);
}

// Each element of "attention_types" is a list of kinds and its number of repetitions.
TEST(GptNeo, ReadsAttentionTypesAsRuns) {
  const std::string config_begin = R"({"attention_layers": null, "attention_types": )";
  const auto layers = [&](const std::string& types) {
    std::string kinds;
    for (const auto& groups :
         testing::changed_layout("gpt_neo", config_begin + types + "}").model.config.groups) {
      kinds += groups[0].variant.id == default_variant().id ? 'g' : 'l';
    }
    return kinds;
  };
  const std::string default_kinds = layers("null");
  ASSERT_GE(default_kinds.size(), 2u);
  EXPECT_EQ(default_kinds.substr(0, 2), "gl");  // alternating by default
  const std::string count = std::to_string(default_kinds.size());
  EXPECT_EQ(layers(R"([[["local"], )" + count + "]]"), std::string(default_kinds.size(), 'l'));
  EXPECT_EQ(layers(R"([[["global"], )" + count + R"(], [["local"], 0]])"),
            std::string(default_kinds.size(), 'g'));
  for (const std::string& wrong :
       {R"([[["local"], )" + std::to_string(default_kinds.size() + 1) + "]]",
        std::string(R"([[["local"], -1]])"), std::string(R"([[["local"], 1.5]])"),
        std::string(R"([[["local"]]])"), std::string(R"([["local", 2]])"),
        std::string(R"([[["local"], 1, 1]])"), std::string(R"([[["near"], 2]])"),
        std::string(R"([[["local"], 1]])")}) {
    testing::expect_input_error("gpt_neo", config_begin + wrong + "}", "attention_types: expected");
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
