// Golden memory estimates. An estimate that omits a layer, a head or a tap still exceeds the memory
// of most runs, so only an exact comparison detects the error.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/memory_need.h"
#include "tests/support/golden.h"
#include "tests/support/places.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::string number_text(double bytes) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.8g", bytes);
  return text;
}

std::string need_text(const std::string& name, const Model& stored, const ModelConfig& config,
                      const RunMemoryRequest& request) {
  std::string text =
      name + ", " + std::to_string(request.length.tokens) + " tokens" +
      (request.length.target > 0 ? " to " + std::to_string(request.length.target) : "") +
      testing::describe({{"maps", request.maps}, {"gradients", request.gradients}}) + "\n";
  double total = 0;
  std::vector<std::string> entries;
  for (const MemoryItem& item : memory_need(stored, config, request)) {
    entries.push_back(number_text(item.bytes) + " " + describe(item.user));
    total += item.bytes;
  }
  EXPECT_NEAR(total_bytes(memory_need(stored, config, request)), total, 1e-6 * total) << name;
  return text + testing::wrapped_entries(entries);
}

std::string training_text(const ModelConfig& config, const TrainingMemoryRequest& request) {
  std::string text = "trained, " + std::to_string(request.micro_batch) + " at once\n";
  std::vector<std::string> entries;
  for (const MemoryItem& item : training_memory_need(config, request)) {
    entries.push_back(number_text(item.bytes) + " " + describe(item.user));
  }
  return text + testing::wrapped_entries(entries);
}

std::vector<std::filesystem::path> model_cases() {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::source_folder() / "tests" / "model-cases")) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && !name.starts_with("reject")) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

TEST(MemoryNeed, MatchesGoldenForEveryModelKind) {
  std::string text;
  for (const std::filesystem::path& folder : model_cases()) {
    const Model stored = load_checkpoint(folder).model;
    const bool has_target =
        architecture(stored.config.architecture.id).reads == Reads::SourceAndTarget;
    for (const Index tokens : {7, 50}) {
      const RunLength length{tokens, has_target ? tokens + 3 : 0};
      text += need_text(folder.filename().string(), stored, stored.config,
                        {.length = length, .maps = true, .gradients = tokens > 7});
    }
    text += training_text(stored.config,
                          {.length = {11, has_target ? 11 : 0}, .micro_batch = 3, .batch = 6});
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/model/memory_of_models.txt"));
}

// Each variant has one head group of the first layer and both head groups of the second layer.
TEST(MemoryNeed, MatchesGoldenForEveryVariant) {
  std::string text;
  const ModelConfig base_config = testing::small_config({.context = 64, .layers = 2, .heads = 3});
  const Model stored = make_model(base_config, 1);
  for (const Variant& v : variants()) {
    for (const bool causal : {true, false}) {
      ModelConfig config = base_config;
      config.causal = causal;
      const HeadGroup one_head{
          1, {v.id, illustrative_values(v.parameters, 40)}, default_encoding()};
      HeadGroup two_heads = one_head;
      two_heads.heads = 2;
      const HeadGroup full{2, default_variant(), default_encoding()};
      config.groups = {{one_head, full}, {one_head, two_heads}};
      text +=
          need_text(v.id, stored, config, {.length = {.tokens = causal ? 40 : 90}, .maps = true});
    }
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/model/memory_of_variants.txt"));
}

class MemoryRefusals : public ::testing::Test {
 protected:
  MemoryRefusals() { set_memory_budget(kMinMemoryBudget); }
  ~MemoryRefusals() override { set_memory_budget(previous_budget_); }
  template <class Check>
  static std::string refusal(const Check& check) {
    try {
      check();
    } catch (const InputError& e) {
      return std::string(e.what()) + "\n";
    }
    return "fits\n";
  }
  template <class Check>
  static bool fits(const Check& check) {
    return refusal(check).starts_with("fits");
  }
  const std::size_t previous_budget_ = memory_budget();
};

TEST_F(MemoryRefusals, MatchGolden) {
  std::string text;
  ModelConfig config = testing::small_config({.context = 64, .layers = 2, .heads = 3});
  const Model stored = make_model(config, 1);
  for (const bool gradients : {false, true}) {
    text += refusal([&] { check_memory(stored, config, {.tokens = 200000}, gradients); });
  }
  ModelConfig performer_config = config;
  Choice choice{"performer", default_values(variant("performer").parameters)};
  choice.values.set("features", Index{3000000});
  performer_config.groups = uniform_groups(config, choice, default_encoding());
  text += refusal([&] { check_memory(stored, performer_config, {.tokens = 100}); });
  // No number of features fits; the message therefore suggests fewer tokens.
  text += refusal([&] { check_memory(stored, performer_config, {.tokens = 300000}); });
  ModelConfig large_vocabulary = testing::small_config({.vocabulary = 100000000, .hidden = 8});
  text += refusal([&] { check_memory(stored, large_vocabulary, {.tokens = 2}); });
  EXPECT_TRUE(testing::matches_golden(text, "core/model/memory_refusals.txt"));
}

TEST_F(MemoryRefusals, SuggestLargestSettingThatFits) {
  const ModelConfig config = testing::small_config({.context = 64, .layers = 2, .heads = 3});
  const Model stored = make_model(config, 1);
  const std::string message = refusal([&] { check_memory(stored, config, {.tokens = 200000}); });
  const std::string at_most = "at most ";
  const Index max_tokens = std::stol(message.substr(message.find(at_most) + at_most.size()));
  EXPECT_GT(max_tokens, 1000);
  EXPECT_TRUE(fits([&] { check_memory(stored, config, {.tokens = max_tokens}); }));
  EXPECT_FALSE(fits([&] { check_memory(stored, config, {.tokens = max_tokens + 1}); }));
}

// Maps are kept up to an eighth of the budget and at most 512 MB.
TEST_F(MemoryRefusals, KeepMapsUpToAnEighthOfTheBudget) {
  const ModelConfig config = testing::small_config({.context = 64, .layers = 2, .heads = 1});
  const auto keeps_maps = [&](Index length) { return keeps_attention(config, {.tokens = length}); };
  // 2 layers, 1 head, 4 bytes per weight: 8 bytes per pair.
  EXPECT_TRUE(keeps_maps(2048));  // 32 MB
  EXPECT_FALSE(keeps_maps(2049));
  set_memory_budget(std::size_t{64} << 30);
  EXPECT_TRUE(keeps_maps(8192));
  EXPECT_FALSE(keeps_maps(8193));
}

TEST_F(MemoryRefusals, AllowUsingTheWholeBudget) {
  const ModelConfig config = testing::small_config({.context = 64, .layers = 2, .heads = 3});
  const Model stored = make_model(config, 1);
  const RunLength length{.tokens = 100000};
  const double need = total_bytes(memory_need(stored, config, {.length = length}));
  set_memory_budget(static_cast<std::size_t>(need));
  EXPECT_TRUE(fits([&] { check_memory(stored, config, length); }));
  set_memory_budget(static_cast<std::size_t>(need) - 1);
  EXPECT_FALSE(fits([&] { check_memory(stored, config, length); }));
}

TEST_F(MemoryRefusals, OperationRefusalsMatchGolden) {
  std::string text;
  const auto add_refusals = [&](const char* id, Index queries, Index keys, Index features) {
    OperationInput input;
    input.heads = input.kv_heads = 2;
    input.q = Var(Tensor::zeros({2, queries, 8}));
    input.k = Var(Tensor::zeros({2, keys, 8}));
    input.v = Var(Tensor::zeros({2, keys, 12}));
    input.variant = {id, default_values(variant(id).parameters)};
    if (features > 0) input.variant.values.set("features", features);
    for (const bool maps : {false, true}) {
      text += std::string(id) + " " + std::to_string(queries) + " x " + std::to_string(keys) +
              (maps ? " with maps\n" : "\n") + refusal([&] { check_memory(input, maps); });
    }
  };
  add_refusals("full", 2000, 30000, 0);
  add_refusals("performer", 6000, 5000, 0);
  add_refusals("performer", 100, 100, 2000000);
  add_refusals("performer", 9000, 9000, 200000);
  EXPECT_TRUE(testing::matches_golden(text, "core/model/memory_of_operations.txt"));
}

// 16-bit matrices count as stored weights. Runs with gradients convert them to floats in addition.
TEST(MemoryNeed, CountsGradientsOfSixteenBitMatricesTwice) {
  const ModelConfig config = testing::small_config({.context = 64, .layers = 2});
  const Model float_model = make_model(config, 1);
  const auto bytes = [&](const Model& stored, const std::string& user) {
    const RunMemoryRequest request{.length = {.tokens = 9}, .gradients = true};
    for (const MemoryItem& item : memory_need(stored, config, request)) {
      if (item.user.name == user) return item.bytes;
    }
    return -1.0;
  };
  const std::string name = "layers.1.ffn.w_in";
  ASSERT_TRUE(float_model.weights.contains(name));
  Model without_matrix = float_model;
  const Shape shape = without_matrix.weights.at(name).shape();
  without_matrix.weights.erase(name);
  const double numbers = static_cast<double>(shape[0] * shape[1]);
  EXPECT_EQ(bytes(float_model, "newly created weights"), 0);
  EXPECT_EQ(bytes(without_matrix, "newly created weights"), 4 * numbers);
  EXPECT_EQ(bytes(without_matrix, "gradients"), bytes(float_model, "gradients") - 4 * numbers);
  Model sixteen_bit_model = without_matrix;
  sixteen_bit_model.narrow[name].rows = shape[0];
  sixteen_bit_model.narrow[name].columns = shape[1];
  EXPECT_EQ(bytes(sixteen_bit_model, "newly created weights"), 0);
  EXPECT_EQ(bytes(sixteen_bit_model, "gradients"),
            bytes(without_matrix, "gradients") + 2 * 4 * numbers);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
