#include "core/experiment/expected_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

const ExpectedPairs& bundled_pairs() {
  static const ExpectedPairs pairs =
      read_expected_pairs(testing::source_folder() / "assets" / "samples" / "expected-pairs.json");
  return pairs;
}

ExpectedPairs parsed(const std::string& kinds, const std::string& scores = "[]") {
  return expected_pairs_from_json(
      parse_json(R"({"kinds": )" + kinds + R"(, "recorded": )" + scores + "}", "f"), "f");
}

std::string one_kind(const std::string& pair, int count = 4) {
  std::string pairs = pair;
  for (int n = 1; n < count; ++n) pairs += ", " + pair;
  return R"([{"kind": "k", "label": "K", "pairs": [)" + pairs + "]}]";
}
constexpr const char* kPair =
    R"({"text": "The cat sat, and it slept.", "query": "it", "key": "cat"})";
constexpr const char* kScore =
    R"({"model": "m", "kind": "k", "layer": 1, "head": 2, "right": 5, "weight": 0.6, "others": 0.1,
        "found": 9})";

TEST(ExpectedPairs, BundledFileCoversFiveKinds) {
  std::set<std::string> kinds, recorded;
  for (const ExpectedKind& kind : bundled_pairs().kinds) {
    kinds.insert(kind.id);
    EXPECT_GE(kind.pairs.size(), 12u) << kind.id;
    std::set<std::string> texts;
    for (const ExpectedPair& pair : kind.pairs) texts.insert(pair.text);
    EXPECT_EQ(texts.size(), kind.pairs.size()) << kind.id;
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"bracket", "induction", "name_mover", "pronoun",
                                          "subject_verb"}));
  for (const char* model : {"default", "SmolLM2-135M-Instruct.Q4_1.gguf"}) {
    recorded.clear();
    for (const ExpectedPairScore& score : bundled_pairs().scores) {
      if (score.model == model) recorded.insert(score.kind);
    }
    EXPECT_EQ(recorded, kinds) << model;
  }
}

// The recorded scores are those of the documentation.
TEST(ExpectedPairs, DefaultModelHasRecordedScores) {
  ExperimentRun runner(cpu_only());
  for (const ExpectedKind& kind : bundled_pairs().kinds) {
    const ExpectedPairScore score = score_pairs("default", kind, runner);
    EXPECT_EQ(shortfall(score, bundled_pairs().scores), "") << kind.id;
    const auto recorded = std::ranges::find_if(
        bundled_pairs().scores,
        [&](const ExpectedPairScore& r) { return r.model == "default" && r.kind == kind.id; });
    ASSERT_NE(recorded, bundled_pairs().scores.end());
    EXPECT_EQ(score.layer, recorded->layer) << kind.id;
    EXPECT_EQ(score.head, recorded->head) << kind.id;
    EXPECT_NEAR(static_cast<double>(score.right), static_cast<double>(recorded->right), 1);
    EXPECT_NEAR(score.weight, recorded->weight, 0.01) << kind.id;
    EXPECT_NEAR(score.others, recorded->others, 0.01) << kind.id;
    EXPECT_NEAR(static_cast<double>(score.found), static_cast<double>(recorded->found), 1);
    EXPECT_EQ(score.sentences, static_cast<Index>(kind.pairs.size()));
    EXPECT_EQ(score.measured, score.sentences / 2);
    EXPECT_GT(score.chance, 0.05);
    EXPECT_LT(score.chance, 0.3);
  }
}

TEST(ExpectedPairs, RejectsInvalidFiles) {
  EXPECT_EQ(parsed(one_kind(kPair)).kinds.at(0).pairs.at(3).key, "cat");
  EXPECT_THROW(parsed(one_kind(kPair, 3)), InputError);  // no two halves of couples
  EXPECT_THROW(parsed(one_kind(R"({"text": "a", "query": "b"})")), InputError);
  EXPECT_THROW(parsed("{}"), InputError);
  EXPECT_EQ(parsed(one_kind(kPair), "[" + std::string(kScore) + "]").scores.at(0).found, 9);
  EXPECT_THROW(parsed("[]", "[" + std::string(kScore) + "]"), InputError);  // unknown kind
  EXPECT_THROW(read_expected_pairs("/no/such/file.json"), InputError);
}

TEST(ExpectedPairs, RejectsPairsThatAreNotInTheText) {
  ExperimentRun runner(cpu_only());
  for (const char* pair : {R"({"text": "The cat sat.", "query": "sat", "key": "dog"})",
                           R"({"text": "The cat sat.", "query": "cat", "key": "sat"})",
                           R"({"text": "The cat sat.", "query": "cat", "key": "The"})"}) {
    EXPECT_THROW(score_pairs("default", parsed(one_kind(pair)).kinds.at(0), runner), InputError)
        << pair;
  }
}

TEST(ExpectedPairs, ReportsShortfallsBeyondTolerance) {
  const std::vector<ExpectedPairScore> recorded =
      parsed(one_kind(kPair), "[" + std::string(kScore) + "]").scores;
  ExpectedPairScore score = recorded.at(0);
  EXPECT_EQ(shortfall(score, recorded), "");
  score.right = 4;
  EXPECT_EQ(shortfall(score, recorded), "");
  score.right = 3;
  score.found = 7;
  score.weight = 0.5;
  EXPECT_EQ(shortfall(score, recorded),
            "3 right, recorded 5, 7 found, recorded 9, 50% of the weight, recorded 60%");
  score.weight = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(shortfall(score, recorded), "");
  score.model = "another";
  EXPECT_EQ(shortfall(score, recorded), "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
