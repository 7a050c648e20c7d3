#include "core/experiment/compatible_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/partial_choice.h"
#include "core/experiment/run.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr const char* kShortText =  // 13 tokens: a prime number
    "the old house stood by the sea and nobody knew why it was";
constexpr const char* kLongText =
    "The old house stood by the sea and nobody knew why it was empty. The cat sat on the wall and "
    "looked at the sea. Nobody knew the cat.";

const ModelConfig& stored() {
  return model_store()->checkpoint("default")->model.config;
}

RunView view_of_text(const std::string& text) {
  RunView viewed;
  viewed.run.text = text;
  return viewed;
}

std::shared_ptr<const Trace> run(const RunView& viewed) {
  ExperimentRun runner(cpu_only(), model_store());
  return runner.run(viewed.run);
}

Index token_count(const std::string& text) {
  return static_cast<Index>(run(view_of_text(text))->tokens.size());
}

// Every variant can be selected for the bundled model. Conflicting settings change with it.
TEST(CompatibleChoice, EveryVariantRunsOnTheDefaultModel) {
  for (const std::string text : {kShortText, kLongText, "sea"}) {
    const Index tokens = token_count(text);
    for (const Variant& v : variants()) {
      const CompatibleChoice compatible =
          select_variant(view_of_text(text), for_all_heads(), v, stored(), tokens);
      ASSERT_EQ(compatible.refusal, "") << v.id << " with " << tokens << " tokens";
      const auto trace = run(compatible.viewed);
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

// Selected patterns omit some keys, so that they differ visibly from full attention.
TEST(CompatibleChoice, PatternsAllowFewerPairsThanFullAttention) {
  const Index tokens = token_count(kLongText);
  for (const Variant& v : variants()) {
    if (v.group != "Fixed patterns" && v.group != "Content-based patterns") continue;
    // These mix blocks or couple all tokens: they restrict weights instead of keys.
    if (v.id == "sinkhorn" || v.id == "capsules") continue;
    const CompatibleChoice compatible =
        select_variant(view_of_text(kLongText), for_all_heads(), v, stored(), tokens);
    const auto trace = run(compatible.viewed);
    const AttentionTap& tap = trace->attention.front();
    const Pattern& pattern = *tap.result.pattern;
    const Index heads = static_cast<Index>(tap.heads.size());
    const Index length = pattern.queries();
    const Index full_pairs = tap.causal ? length * (length + 1) / 2 : length * length;
    const double fraction =
        static_cast<double>(pattern.pair_count(heads)) / static_cast<double>(heads * full_pairs);
    EXPECT_GT(fraction, 0.02) << v.id;
    EXPECT_LT(fraction, 0.7) << v.id;
    for (Index head = 0; head < heads; ++head) {
      for (Index i = 0; i < length; ++i) {
        EXPECT_FALSE(pattern.row(std::min(head, pattern.heads() - 1), i).empty())
            << v.id << ": head " << head << ", query " << i;
      }
    }
  }
}

TEST(CompatibleChoice, MemoryVariantsReadEarlierSegments) {
  for (const char* id : {"segment_memory", "compressive", "memorizing"}) {
    const CompatibleChoice compatible = select_variant(
        view_of_text(kLongText), for_all_heads(), variant(id), stored(), token_count(kLongText));
    EXPECT_EQ(describe(compatible.implied), "segments of 8 tokens") << id;
    const auto trace = run(compatible.viewed);
    for (const std::string& note : trace->notes) {
      EXPECT_EQ(note.find("the memory is empty"), std::string::npos) << id << ": " << note;
    }
    const AttentionTap* tap = trace->find(head_ref(*trace, compatible.viewed.view));
    ASSERT_NE(tap, nullptr) << id;
    EXPECT_GT(tap->keys(), tap->queries()) << id;
  }
}

TEST(CompatibleChoice, ReportsImpliedChanges) {
  const Index tokens = token_count(kShortText);
  const auto implied = [&](const char* id) {
    return describe(
        select_variant(view_of_text(kShortText), for_all_heads(), variant(id), stored(), tokens)
            .implied);
  };
  ASSERT_EQ(tokens, 13);
  EXPECT_EQ(implied("local"), "");
  EXPECT_EQ(implied("gmlp"), "no positions");
  EXPECT_EQ(implied("linformer"), "bidirectional");
  EXPECT_EQ(implied("sinkhorn"), "the first 12 of 13 tokens, no positions");
  EXPECT_EQ(implied("image_2d"), "the first 12 of 13 tokens");
  // Global tokens and permuted blocks are non-causal.
  for (const char* id : {"longformer", "bigbird", "etc", "blockwise"}) {
    EXPECT_EQ(implied(id), "bidirectional");
  }
  EXPECT_EQ(implied("linear"), "");  // RoPE rotates the feature map inputs of linear attention
}

// Selecting an encoding or direction replaces an incompatible variant.
TEST(CompatibleChoice, EncodingsAndDirectionsSelectFullAttention) {
  const Index tokens = token_count(kShortText);
  RunView linformer = select_variant(view_of_text(kShortText), for_all_heads(),
                                     variant("linformer"), stored(), tokens)
                          .viewed;
  const CompatibleChoice t5 =
      select_encoding(linformer, for_all_heads(), encoding("t5"), stored(), tokens);
  EXPECT_EQ(t5.refusal, "");
  EXPECT_EQ(describe(t5.implied), "full attention");
  EXPECT_EQ(t5.viewed.run.encoding->id, "t5");
  const CompatibleChoice causal = select_direction(linformer, true, stored(), tokens);
  EXPECT_EQ(describe(causal.implied), "full attention");
  EXPECT_EQ(run(causal.viewed)->attention.front().causal, true);
}

TEST(CompatibleChoice, EveryEncodingRunsOnTheDefaultModel) {
  const Index tokens = token_count(kShortText);
  for (const Encoding& e : encodings()) {
    const CompatibleChoice compatible =
        select_encoding(view_of_text(kShortText), for_all_heads(), e, stored(), tokens);
    ASSERT_EQ(compatible.refusal, "") << e.id;
    EXPECT_EQ(run(compatible.viewed)->attention.front().encoding.id, e.id);
  }
}

// Parameters without a default get values for the text length. The other parameters keep their
// default.
TEST(CompatibleChoice, FillsUnsetParametersFromTextLength) {
  RunView viewed = view_of_text(kLongText);
  viewed.run.variant = Choice{"local", partial_values_from_json(variant("local").parameters,
                                                                {{"type", "local"}}, "variant")};
  ASSERT_TRUE(has_unset_parameters(viewed.run));
  fill_unset_parameters(viewed.run);
  EXPECT_FALSE(has_unset_parameters(viewed.run));
  EXPECT_EQ(viewed.run.variant->values.integer("window"), 4);  // for 35 tokens
  EXPECT_EQ(viewed.run.variant->values.integer("dilation"), 1);
  viewed.run.groups = {
      {{0},
       {},
       Choice{"strided", partial_values_from_json(variant("strided").parameters,
                                                  {{"type", "strided"}}, "variant")},
       std::nullopt}};
  fill_unset_parameters(viewed.run);
  EXPECT_EQ(viewed.run.groups[0].variant->values.integer("stride"), 6);
  EXPECT_EQ(viewed.run.groups[0].variant->values.choice("mode"), "first");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
