#include "core/experiment/company.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/runner.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr const char* kShort =  // 13 tokens: a prime number
    "the old house stood by the sea and nobody knew why it was";
constexpr const char* kLong =
    "The old house stood by the sea and nobody knew why it was empty. The cat sat on the wall and "
    "looked at the sea. Nobody knew the cat.";

const ModelConfig& stored() {
  return model_store()->checkpoint("default")->model.config;
}

Experiment reading(const std::string& text) {
  Experiment e;
  e.text = text;
  return e;
}

std::shared_ptr<const Trace> run(const Experiment& experiment) {
  ExperimentRun runner(cpu_only(), model_store());
  return runner.run(experiment, Stop());
}

Index token_count(const std::string& text) {
  return static_cast<Index>(run(reading(text))->tokens.size());
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

// Every variant, one click away in the bundled model, whatever stands in its way.
TEST(Company, EveryVariantRunsOnTheDefaultModel) {
  for (const std::string text : {kShort, kLong, "sea"}) {
    const Index tokens = token_count(text);
    for (const Variant& v : variants()) {
      const Suited suited = with_variant(reading(text), for_all_heads(), v, stored(), tokens);
      ASSERT_EQ(suited.refusal, "") << v.id << " with " << tokens << " tokens";
      const auto trace = run(suited.experiment);
      ASSERT_FALSE(trace->attention.empty()) << v.id;
      for (const AttentionTap& tap : trace->attention) {
        EXPECT_EQ(tap.variant.id, v.id);
        EXPECT_TRUE(std::ranges::all_of(tap.result.attention, [](float a) {
          return std::isfinite(a);
        })) << v.id;
      }
    }
  }
}

// A choice of keys leaves some out, or its picture would be that of full attention.
TEST(Company, PatternsLeaveKeysOut) {
  const Index tokens = token_count(kLong);
  for (const Variant& v : variants()) {
    if (v.group != "Fixed patterns" && v.group != "Content-based patterns") continue;
    if (v.id == "sinkhorn") continue;  // a mixture of blocks: weights, not keys
    const Suited suited = with_variant(reading(kLong), for_all_heads(), v, stored(), tokens);
    const auto trace = run(suited.experiment);
    const AttentionTap& tap = trace->attention.front();
    const Pattern& pattern = *tap.result.pattern;
    const Index heads = static_cast<Index>(tap.heads.size());
    const Index length = pattern.queries();
    const Index all = tap.causal ? length * (length + 1) / 2 : length * length;
    const double share =
        static_cast<double>(pattern.pair_count(heads)) / static_cast<double>(heads * all);
    EXPECT_GT(share, 0.02) << v.id;
    EXPECT_LT(share, 0.7) << v.id;
  }
}

TEST(Company, MemoriesAreRead) {
  for (const char* id : {"segment_memory", "compressive", "memorizing"}) {
    const Suited suited =
        with_variant(reading(kLong), for_all_heads(), variant(id), stored(), token_count(kLong));
    EXPECT_EQ(joined(suited.along), "segments of 8 tokens") << id;
    const auto trace = run(suited.experiment);
    for (const std::string& note : trace->notes) {
      EXPECT_EQ(note.find("the memory is empty"), std::string::npos) << id << ": " << note;
    }
    const AttentionTap* tap = trace->find(head_ref(*trace, suited.experiment.view));
    ASSERT_NE(tap, nullptr) << id;
    EXPECT_GT(tap->keys(), tap->queries()) << id;
  }
}

TEST(Company, SaysWhatWasSetAlong) {
  const Index tokens = token_count(kShort);
  const auto along = [&](const char* id) {
    return joined(
        with_variant(reading(kShort), for_all_heads(), variant(id), stored(), tokens).along);
  };
  ASSERT_EQ(tokens, 13);
  EXPECT_EQ(along("local"), "");
  EXPECT_EQ(along("gmlp"), "no positions");
  EXPECT_EQ(along("linformer"), "no positions, both directions");
  EXPECT_EQ(along("sinkhorn"), "the first 12 of 13 tokens, no positions, both directions");
  EXPECT_EQ(along("image_2d"), "the first 12 of 13 tokens");
  for (const char* id : {"longformer", "bigbird", "etc"}) {  // global tokens look ahead
    EXPECT_EQ(along(id), "both directions");
  }
  EXPECT_EQ(along("linear"), "");  // RoPE turns what linear attention makes features of
}

// What a person picks stays; what it does not go with gives way.
TEST(Company, EncodingsAndDirectionsBringFullAttention) {
  const Index tokens = token_count(kShort);
  Experiment kernels =
      with_variant(reading(kShort), for_all_heads(), variant("linformer"), stored(), tokens)
          .experiment;
  const Suited t5 = with_encoding(kernels, for_all_heads(), encoding("t5"), stored(), tokens);
  EXPECT_EQ(t5.refusal, "");
  EXPECT_EQ(joined(t5.along), "full attention");
  EXPECT_EQ(t5.experiment.encoding->id, "t5");
  const Suited causal = with_direction(kernels, true, stored(), tokens);
  EXPECT_EQ(joined(causal.along), "full attention");
  EXPECT_EQ(run(causal.experiment)->attention.front().causal, true);
}

TEST(Company, EveryEncodingRunsOnTheDefaultModel) {
  const Index tokens = token_count(kShort);
  for (const Encoding& e : encodings()) {
    const Suited suited = with_encoding(reading(kShort), for_all_heads(), e, stored(), tokens);
    ASSERT_EQ(suited.refusal, "") << e.id;
    EXPECT_EQ(run(suited.experiment)->attention.front().encoding.id, e.id);
  }
}

// What has no default suits the text; what has one keeps it.
TEST(Company, CompletesWhatACommandLineLeavesOpen) {
  Experiment e = reading(kLong);
  e.variant = Choice{
      "local", some_values_from_json(variant("local").parameters, {{"type", "local"}}, "variant")};
  ASSERT_TRUE(has_open_choices(e));
  complete_choices(e);
  EXPECT_FALSE(has_open_choices(e));
  EXPECT_EQ(e.variant->values.integer("window"), 4);  // of 35 tokens
  EXPECT_EQ(e.variant->values.integer("dilation"), 1);
  e.groups = {{{0},
               {},
               Choice{"strided", some_values_from_json(variant("strided").parameters,
                                                       {{"type", "strided"}}, "variant")},
               std::nullopt}};
  complete_choices(e);
  EXPECT_EQ(e.groups[0].variant->values.integer("stride"), 6);
  EXPECT_EQ(e.groups[0].variant->values.choice("mode"), "first");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
