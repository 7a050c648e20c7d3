#include "core/experiment/partial_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/run.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr const char* kText = "the old house stood by the sea and nobody knew why it was";

RunView view_of_text() {
  RunView viewed;
  viewed.run.text = kText;
  return viewed;
}

RequestedChoices request(const std::string& variant_id, const std::string& encoding_id = "") {
  RequestedChoices requested;
  if (!variant_id.empty()) requested.variant = Choice{variant_id, {}};
  if (!encoding_id.empty()) requested.encoding = Choice{encoding_id, {}};
  return requested;
}

RequestedChoices strict(RequestedChoices requested) {
  requested.kept = {.direction = true, .segments = true, .length = true};
  return requested;
}

// Makes the offered changes by hand, as a user does who follows a refusal.
void follow(const std::vector<SettingChange>& offer, RunView& viewed, RequestedChoices& requested) {
  for (const SettingChange& change : offer) {
    switch (change.setting) {
      case SettingChange::Setting::Encoding:
        requested.encoding = Choice{change.value, {}};
        break;
      case SettingChange::Setting::Variant:
        requested.variant = Choice{change.value, {}};
        break;
      case SettingChange::Setting::Direction:
        viewed.run.causal = change.value == "true";
        break;
      default:
        FAIL() << change.description << ": resolves no conflict";
    }
  }
}

// All queries see a key, and all weights are numbers.
void expect_drawable(const RunView& viewed, const std::string& name) {
  ExperimentRun runner(cpu_only(), model_store());
  const auto trace = runner.run(viewed.run);
  ASSERT_FALSE(trace->attention.empty()) << name;
  Index empty_rows = 0;
  for (const AttentionTap& tap : trace->attention) {
    for (const float a : tap.result.attention) ASSERT_TRUE(std::isfinite(a)) << name;
    const Pattern& pattern = *tap.result.pattern;
    for (Index head = 0; head < pattern.heads(); ++head) {
      for (Index i = 0; i < pattern.queries(); ++i) empty_rows += pattern.row(head, i).empty();
    }
  }
  // Before the first complete block, a causal memory-compressed decoder has no keys.
  const bool may_be_empty = viewed.run.variant && viewed.run.variant->id == "memory_compressed";
  EXPECT_TRUE(may_be_empty || empty_rows == 0) << name << ": " << empty_rows;
}

// Every combination is drawn, with stated changes where it conflicts. A strict selection refuses
// conflicts with an offer that works if the user follows it.
TEST(PartialChoice, DrawsEveryCombinationAndOffersChangesForConflicts) {
  Index conflicts = 0;
  for (const Variant& v : variants()) {
    for (const Encoding& e : encodings()) {
      const std::string name = v.id + " with " + e.id;
      const RequestedChoices requested = request(v.id, e.id);
      const CompatibleChoice chosen = select_requested(view_of_text(), requested);
      ASSERT_EQ(chosen.refusal, "") << name;
      EXPECT_EQ(chosen.viewed.run.variant->id, v.id) << name;
      const bool keeps_encoding = chosen.viewed.run.encoding->id == e.id;
      EXPECT_TRUE(keeps_encoding || !chosen.implied.empty()) << name;
      expect_drawable(chosen.viewed, name);

      const CompatibleChoice refused = select_requested(view_of_text(), strict(requested));
      if (refused.conflict.empty()) {
        EXPECT_TRUE(refused.implied.empty()) << name << ": " << describe(refused.implied);
        continue;
      }
      ++conflicts;
      ASSERT_FALSE(refused.implied.empty()) << name << ": " << refused.conflict;
      RunView followed = view_of_text();
      RequestedChoices again = requested;
      follow(refused.implied, followed, again);
      const CompatibleChoice accepted = select_requested(followed, strict(again));
      EXPECT_EQ(accepted.conflict, "") << name;
      EXPECT_TRUE(accepted.implied.empty()) << name;
      ExperimentRun(cpu_only(), model_store()).run(accepted.viewed.run);
    }
  }
  EXPECT_GT(conflicts, 0);
}

TEST(PartialChoice, GivenParametersReplaceIllustrativeValues) {
  RequestedChoices requested = request("strided");
  EXPECT_EQ(select_requested(view_of_text(), requested).viewed.run.variant->values.choice("mode"),
            "merged");
  requested.variant->values.set("mode", std::string("first"));
  requested.variant->values.set("stride", Index{3});
  const Values values = select_requested(view_of_text(), requested).viewed.run.variant->values;
  EXPECT_EQ(values.choice("mode"), "first");
  EXPECT_EQ(values.integer("stride"), 3);
}

// Illustrative values show the idea of each paper.
TEST(PartialChoice, IllustrativeValuesShowTheIdea) {
  const auto values = [](const char* id) {
    return select_requested(view_of_text(), request(id)).viewed.run.variant->values;
  };
  EXPECT_EQ(values("fixed").choice("mode"), "merged");
  EXPECT_FALSE(values("longformer").get<std::vector<Index>>("global").empty());
  EXPECT_GT(values("lsh").integer("chunk"), 0);
  EXPECT_TRUE(values("routing").flag("shared"));
  EXPECT_GT(values("etc").integer("global"), 0);
}

TEST(PartialChoice, KeepsSettingsOfTheUser) {
  RunView viewed = view_of_text();
  viewed.run.causal = true;
  RequestedChoices requested = request("longformer");
  requested.has_direction = requested.kept.direction = true;
  EXPECT_EQ(describe(select_requested(viewed, requested).implied), "");
  requested = request("linformer");
  requested.has_direction = requested.kept.direction = true;
  const CompatibleChoice conflict = select_requested(viewed, requested);
  EXPECT_NE(describe(conflict.implied).find("bidirectional"), std::string::npos);
  requested = request("segment_memory");
  requested.kept.segments = true;
  EXPECT_EQ(describe(select_requested(view_of_text(), requested).implied), "");
}

TEST(PartialChoice, ChoicesForSomeHeadsChangeTheseHeads) {
  RequestedChoices requested;
  requested.groups = {{{0}, {1}, Choice{"gmlp", {}}, std::nullopt}};
  const CompatibleChoice chosen = select_requested(view_of_text(), requested);
  ASSERT_EQ(chosen.implied.size(), 1u);
  EXPECT_EQ(chosen.implied[0].group, 0);
  ASSERT_EQ(chosen.viewed.run.groups.size(), 1u);
  EXPECT_EQ(chosen.viewed.run.groups[0].encoding->id, "none");
  EXPECT_FALSE(chosen.viewed.run.encoding.has_value());
}

TEST(PartialChoice, OffersTheNearestSettingsAfterARefusedRun) {
  RunView viewed = view_of_text();
  viewed.run.variant = select_requested(view_of_text(), request("gmlp")).viewed.run.variant;
  viewed.run.encoding = select_requested(view_of_text(), request("", "t5")).viewed.run.encoding;
  std::string error;
  try {
    ExperimentRun(cpu_only(), model_store()).run(viewed.run);
  } catch (const InputError& e) {
    error = e.what();
  }
  const auto offer = offer_after(error, viewed);
  ASSERT_TRUE(offer.has_value()) << error;
  EXPECT_EQ(describe(offer->implied), "no positions");
  ExperimentRun(cpu_only(), model_store()).run(offer->viewed.run);
  EXPECT_FALSE(offer_after("config.json: missing", viewed).has_value());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
