// Reformer reader: metadata, errors and the ingredients specific to Reformers. layouts_test.cpp
// compares the computed numbers.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/checkpoint/torch_random.h"
#include "core/model/residual_connection.h"
#include "tests/core/checkpoint/small_models.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// torch.manual_seed(7); torch.randn(20)
TEST(TorchNormal, MatchesTorch) {
  const Tensor expected = Tensor::from(
      {20}, {-0.82013f, 0.39563f,  0.89891f,  -1.3884f,  0.19845f,  0.78207f,  1.03911f,
             -0.72451f, -0.84891f, -1.21693f, -0.08102f, 1.36149f,  -2.06148f, 0.6741f,
             -1.32335f, -1.35977f, -0.8667f,  -0.56401f, -2.05646f, -0.35672f});
  EXPECT_TRUE(testing::close(torch_normal(20, 7), expected, 1e-5));
}

Checkpoint changed(const char* members) {
  return testing::changed_layout("reformer", members);
}

TEST(Reformer, RejectsUnsupportedSettingsByName) {
  const auto expect_error = [](const char* members, const char* named) {
    testing::expect_input_error("reformer", members, named);
  };
  expect_error(R"({"attn_layers": ["lsh", "global"]})", "attn_layers");
  expect_error(R"({"num_buckets": 5})", "buckets");
  expect_error(R"({"num_buckets": [2, 2, 2]})", "num_buckets");
  expect_error(R"({"axial_pos_shape": [5, 8]})", "axial_pos_shape");
  expect_error(R"({"axial_pos_embds_dim": [12, 19]})", "axial_pos_embds_dim");
  expect_error(R"({"axial_pos_embds_dim": [11, 21]})", "position_embeddings.weights.0");
  expect_error(R"({"tie_word_embeddings": true})", "tie_word_embeddings");
}

TEST(Reformer, NotesOriginOfHashes) {
  const Model seeded = changed("{}").model;
  EXPECT_TRUE(seeded.weights.contains("layers.1.groups.0.lsh.rotation"));
  EXPECT_NE(seeded.notes.at(0).find("hash_seed"), std::string::npos);
  const Model drawn = changed(R"({"hash_seed": null, "num_buckets": null})").model;
  EXPECT_FALSE(drawn.weights.contains("layers.1.groups.0.lsh.rotation"));
  ASSERT_EQ(drawn.notes.size(), 2u);
  EXPECT_NE(drawn.notes[0].find("num_buckets"), std::string::npos);
  EXPECT_EQ(drawn.config.groups[1][0].variant.values.integer("buckets"), 16);  // 2^n <= 2 · 80/8
}

ModelConfig reversible_config() {
  ModelConfig config;
  config.vocabulary = 11;
  config.context = 14;
  config.width = 8;
  config.layers = 2;
  config.heads = config.kv_heads = 2;
  config.head_size = 4;
  config.hidden = 6;
  config.gated = config.tied_output = false;
  config.residual_connection = default_choice(residual_connection("reversible"));
  config.residual_connection.values.set("end", std::string("both"));
  Choice positions{"learned", default_values(encoding("learned").parameters)};
  positions.values.set("columns", Index{4});
  positions.values.set("row_width", Index{3});
  Choice lsh{"lsh", default_values(variant("lsh").parameters)};
  lsh.values.set("form", std::string("released"));
  lsh.values.set("chunk", Index{2});
  lsh.values.set("buckets", Index{8});
  lsh.values.set("factor", Index{2});
  lsh.values.set("rounds", Index{3});
  Choice local{"block_local", default_values(variant("block_local").parameters)};
  local.values.set("block", Index{3});
  local.values.set("before", Index{1});
  local.values.set("circular", true);
  config.causal = false;
  config.groups = {{{2, lsh, positions}}, {{2, local, positions}}};
  return config;
}

TEST(Reformer, RoundTripsIngredientsAndRejectsInvalidOnes) {
  const ModelConfig config = reversible_config();
  EXPECT_EQ(model_config_from_json(to_json(config), "config.json"), config);
  const auto refusal = [](const ModelConfig& changed) {
    return testing::message_of<InputError>([&] { check(changed, "config.json"); });
  };
  const auto expect_error = [&](const ModelConfig& changed, const std::string& named) {
    EXPECT_NE(refusal(changed).find(named), std::string::npos) << refusal(changed);
  };
  ModelConfig other = config;
  other.tied_output = true;
  expect_error(other, "join.end");
  other = config;
  other.groups[0][0].variant.values.set("factor", Index{3});
  expect_error(other, "factor");
  other = config;
  other.groups[0][0].variant.values.set("chunk", Index{0});
  expect_error(other, "chunk");
  other = config;
  other.groups[0][0].variant.values.set("fill", Index{5});
  expect_error(other, "fill");
  other = config;
  for (auto& layer : other.groups) layer[0].encoding.values.set("row_width", Index{8});
  expect_error(other, "row_width");
}

TEST(Reformer, GradientsMatchFiniteDifferences) {
  Model model = testing::make_random_model(reversible_config());
  testing::expect_gradients(model, IntTensor::from({1, 9}, {1, 2, 3, 4, 9, 5, 6, 7, 0}),
                            IntTensor::from({1, 9}, {2, 3, 4, 9, 5, 6, 7, 0, 8}),
                            [](const std::string& name) {
                              return name == "layers.0.attn.wk" || name.ends_with("lsh.rotation");
                            });
}

// The libraries' default number of buckets is the largest power of two up to twice the number of
// chunks of the longest text. Large numbers are stored as two factors.
TEST(Reformer, UsesDefaultBucketsOfLibraries) {
  struct Case {
    Index context, chunk, buckets, factor;
  };
  for (const Case& c : {Case{80, 8, 16, 0},
                        {80, 1, 128, 8},
                        {80, 2, 64, 8},
                        {80, 5, 32, 4},
                        {80, 16, 8, 0},
                        {64, 1, 128, 8},
                        {63, 1, 64, 8},
                        {64, 4, 32, 4},
                        {80, 40, 4, 0},
                        {80, 80, 2, 0},
                        {3, 1, 4, 2},
                        {2, 1, 4, 2},
                        {1, 1, 2, 0}}) {
    const std::string members =
        R"({"hash_seed": null, "num_buckets": null, "max_position_embeddings": )" +
        std::to_string(c.context) + R"(, "lsh_attn_chunk_length": )" + std::to_string(c.chunk) +
        "}";
    const Values lsh = changed(members.c_str()).model.config.groups[1][0].variant.values;
    EXPECT_EQ(lsh.integer("buckets"), c.buckets) << members;
    EXPECT_EQ(lsh.integer("factor"), c.factor) << members;
  }
}

TEST(Reformer, ValidatesNumberRanges) {
  const auto load_error = [](const std::string& members) {
    return testing::message_of<InputError>([&] { changed(members.c_str()); });
  };
  const auto expect_refusal = [&](const std::string& members, const char* named) {
    const std::string found = load_error(members);
    EXPECT_NE(found.find(named), std::string::npos) << members << ": " << found;
  };
  for (const char* shape : {"[0, 80]", "[80, 0]", "[80]", "[8, 10, 1]", "[8.5, 10]", "[8, 10.5]",
                            "[-8, 10]", "[99999999999, 8]", "[8, 99999999999]"}) {
    expect_refusal(std::string(R"({"axial_pos_shape": )") + shape + "}",
                   "axial_pos_shape: expected two numbers of at least 1");
  }
  // Rows times columns must equal the maximum text length.
  expect_refusal(R"({"axial_pos_shape": [1, 79]})",
                 "axial_pos_shape: expected two numbers with a product");
  EXPECT_EQ(load_error(R"({"axial_pos_shape": [1, 80]})").find("axial_pos_shape"),
            std::string::npos);
  expect_refusal(R"({"attn_layers": []})", "attn_layers: expected from 1 to 1024");
  std::string many = R"(["lsh")";
  for (int n = 1; n < 1025; ++n) many += R"(, "lsh")";
  expect_refusal(R"({"attn_layers": )" + many + "]}", "attn_layers: expected from 1 to 1024");
  // The product of two numbers of buckets has a limit.
  expect_refusal(R"({"num_buckets": [1024, 1025]})", "num_buckets: expected fewer");
  EXPECT_EQ(load_error(R"({"num_buckets": [1024, 1024]})").find("num_buckets: expected fewer"),
            std::string::npos);
  // The common multiple of both chunk lengths has a limit.
  expect_refusal(R"({"lsh_attn_chunk_length": 999983, "local_attn_chunk_length": 1000003})",
                 "lsh_attn_chunk_length: expected chunk lengths with a smaller common multiple");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
