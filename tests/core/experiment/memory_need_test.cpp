#include "core/experiment/memory_need.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/experiment/chosen.h"
#include "core/experiment/runner.h"
#include "core/tensor/storage.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

class MemoryNeed : public ::testing::Test {
 protected:
  MemoryNeed() { testing::save_byte_model(folder_.path(), 2, 64, 64); }
  ~MemoryNeed() override { set_memory_budget(usual_); }

  Experiment experiment(const Variant& variant, Index tokens) const {
    Experiment e;
    e.model = folder_.path().string();
    for (Index n = 0; n < tokens; ++n) e.ids.push_back(static_cast<std::int32_t>(n * 7919 % 251));
    e.overlong = Overlong::All;
    e.variant = Choice{variant.id, telling_values(variant.parameters, tokens)};
    e.encoding = default_encoding();
    if (!variant.causal_refusal.empty()) e.causal = false;
    return e;
  }

  testing::TemporaryFolder folder_;
  const std::size_t usual_ = memory_budget();
  ExperimentRun run_{cpu_only()};
};

// Of the arrays that a run has at once.
TEST_F(MemoryNeed, IsAtLeastWhatARunTakesAndAboutTwiceAtMost) {
  constexpr Index kLength = 512;
  for (const Variant& variant : variants()) {
    for (const Index features : {0, 1024}) {
      Experiment e = experiment(variant, kLength);
      if (features > 0) {
        if (!e.variant->values.has("features")) continue;
        e.variant->values.set("features", features);
      }
      if (variant.remember) continue;  // of models that read in segments
      const std::string name = variant.id + " " + std::to_string(features);
      const Model& stored = run_.checkpoint(e)->model;
      ModelConfig config = stored.config;
      config.groups = chosen_groups(config, e);
      const double need =
          total_bytes(memory_need(stored, config, kLength, keeps_attention(config, kLength)));
      const std::size_t before = storage_statistics().live_bytes;
      reset_peak_storage();
      try {
        run_.run(e, Stop());
      } catch (const InputError& error) {
        ADD_FAILURE() << name << ": " << error.what();
        continue;
      }
      const auto peak = static_cast<double>(storage_statistics().peak_bytes - before);
      EXPECT_GE(need, peak) << name;
      // Maps of shortened keys have fewer columns than are counted.
      const double most = variant.id == "memory_compressed" ? 2.5 : 2.1;
      EXPECT_LE(need, most * peak) << name;
    }
  }
}

TEST_F(MemoryNeed, BeyondTheBudgetIsRefusedWithWhatWouldFit) {
  set_memory_budget(std::size_t{512} << 20);
  Experiment e = experiment(variant("performer"), 200);
  e.variant->values.set("features", Index{1000000});
  std::string refusal;
  const std::size_t before = storage_statistics().live_bytes;
  reset_peak_storage();
  try {
    run_.run(e, Stop());
  } catch (const InputError& error) {
    refusal = error.what();
  }
  EXPECT_NE(refusal.find("Performer with features=1000000"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("the budget is 512 MB"), std::string::npos) << refusal;
  EXPECT_LT(storage_statistics().peak_bytes, before + (std::size_t{8} << 20));
  const std::string at_most = "at most features=";
  const std::size_t at = refusal.find(at_most);
  ASSERT_NE(at, std::string::npos) << refusal;
  const Index fitting = std::stol(refusal.substr(at + at_most.size()));
  EXPECT_GT(fitting, 1000);
  const Model& stored = run_.checkpoint(e)->model;
  const auto check = [&](Index features) {
    e.variant->values.set("features", features);
    ModelConfig config = stored.config;
    config.groups = chosen_groups(config, e);
    check_memory(stored, config, 200);
  };
  EXPECT_NO_THROW(check(fitting));
  EXPECT_THROW(check(fitting + 1), InputError);
}

TEST_F(MemoryNeed, ArraysBeyondTheBudgetAreNotMade) {
  set_memory_budget(kLeastMemoryBudget);
  EXPECT_THROW(Tensor({Index{1} << 27}), WorkError);
  EXPECT_NO_THROW(Tensor({Index{1} << 20}));
}

TEST(MemoryBudget, ReadsAndWritesSizes) {
  EXPECT_EQ(memory_from_text("4G", "--memory"), std::size_t{4} << 30);
  EXPECT_EQ(memory_from_text("512MB", "--memory"), std::size_t{512} << 20);
  for (const char* wrong : {"", "4", "4T", "G", "-4G", "nanG", "1e99G", "12M", "4Gx"}) {
    EXPECT_THROW(memory_from_text(wrong, "--memory"), InputError) << wrong;
  }
  EXPECT_EQ(memory_text(1.5 * 1073741824), "1.5 GB");
  EXPECT_EQ(memory_text(33.0 * 1073741824), "33 GB");
  EXPECT_EQ(memory_text(512.0 * 1048576), "512 MB");
  EXPECT_GE(default_memory_budget(), kLeastMemoryBudget);
}

}  // namespace
}  // namespace attnscope
