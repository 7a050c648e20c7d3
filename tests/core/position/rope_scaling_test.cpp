// Compares scaled RoPE frequencies with their definitions, and tests invalid parameters.
#include "core/position/rope_scaling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/attention/variant.h"
#include "core/base/json.h"
#include "core/position/encoding.h"
#include "core/position/rope.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kDims = 16;

Values rope_values(const std::string& members) {
  return encoding_from_json(Json::parse(R"({"type": "rope", )" + members + "}"), "position").values;
}

double unscaled(Index t, double base = 10000) {
  return std::pow(base, -2.0 * static_cast<double>(t) / kDims);
}

void expect_frequencies(const std::string& members, Index length,
                        const std::function<double(Index t)>& expected) {
  const std::vector<double> found = rope_frequencies(rope_values(members), kDims, length);
  ASSERT_EQ(found.size(), static_cast<std::size_t>(kDims / 2)) << members;
  for (Index t = 0; t < kDims / 2; ++t) {
    const double w = expected(t);
    EXPECT_NEAR(found[static_cast<std::size_t>(t)] / w, 1, 1e-12)
        << members << ", " << length << " tokens, pair " << t;
  }
}

TEST(RopeScaling, LinearDividesFrequencies) {
  expect_frequencies(R"("factor": 4)", 0, [](Index t) { return unscaled(t) / 4; });
  expect_frequencies(R"("factor": 4, "scaling": "linear")", 100,
                     [](Index t) { return unscaled(t) / 4; });
}

TEST(RopeScaling, DynamicSlowsDownBeyondTheOriginalContext) {
  const std::string members = R"("factor": 3, "scaling": "dynamic", "original": 64)";
  for (const Index length : {0, 63, 64, 65, 200}) {
    expect_frequencies(members, length, [&](Index t) {
      if (length <= 64) return unscaled(t);
      const double stretched = 3 * static_cast<double>(length) / 64 - 3 + 1;
      return unscaled(t, 10000 * std::pow(stretched, 16.0 / 14));
    });
  }
  const Values values = rope_values(members);
  EXPECT_FALSE(rope_depends_on_length(values, 64));
  EXPECT_TRUE(rope_depends_on_length(values, 65));
}

TEST(RopeScaling, Llama3DependsOnTheRotationsOfAPair) {
  struct Form {
    const char* members;
    double slow, fast;
  };
  for (const Form& form :
       {Form{R"("factor": 8, "scaling": "llama3", "original": 512)", 1, 4},
        Form{R"("factor": 8, "scaling": "llama3", "original": 512, "slow_turns": 2.5,
                "fast_turns": 20)",
             2.5, 20}}) {
    int between = 0;
    expect_frequencies(form.members, 0, [&](Index t) {
      const double turns = 512 * unscaled(t) / (2 * M_PI);
      const double fraction = (turns - form.slow) / (form.fast - form.slow);
      between += fraction > 0 && fraction < 1;
      if (fraction >= 1) return unscaled(t);
      if (fraction <= 0) return unscaled(t) / 8;
      return fraction * unscaled(t) + (1 - fraction) * unscaled(t) / 8;
    });
    EXPECT_GT(between, 0);
    EXPECT_FALSE(rope_depends_on_length(rope_values(form.members), 1000));
  }
}

TEST(RopeScaling, YarnInterpolatesByPair) {
  struct Form {
    const char* members;
    double original, slow, fast;
    bool rounds_to_whole_pairs;
  };
  for (const Form& form :
       {Form{R"("factor": 8, "scaling": "yarn", "original": 2048)", 2048, 1, 32, true},
        Form{R"("factor": 8, "scaling": "yarn", "original": 2048, "whole_pairs": true)", 2048, 1,
             32, true},
        Form{R"("factor": 8, "scaling": "yarn", "original": 2048, "whole_pairs": false)", 2048, 1,
             32, false},
        Form{R"("factor": 8, "scaling": "yarn", "original": 300, "slow_turns": 0.5,
                "fast_turns": 60, "whole_pairs": false)",
             300, 0.5, 60, false},
        Form{R"("factor": 8, "scaling": "yarn", "original": 2147483647, "slow_turns": 0.5,
                "fast_turns": 60)",
             2147483647.0, 0.5, 60, true}}) {
    const auto pair = [&](double turns) {
      return kDims * std::log(form.original / (turns * 2 * M_PI)) / (2 * std::log(10000.0));
    };
    double first = pair(form.fast), last = pair(form.slow);
    if (form.rounds_to_whole_pairs) {
      first = std::floor(first);
      last = std::ceil(last);
    }
    first = std::max(first, 0.0);
    last = std::min(last, kDims - 1.0);
    expect_frequencies(form.members, 0, [&](Index t) {
      const double index = static_cast<double>(t);
      const double slowed = index <= first  ? 0
                            : index >= last ? 1
                                            : (index - first) / (last - first);
      return unscaled(t) * (1 - slowed) + unscaled(t) / 8 * slowed;
    });
  }
  // With equal bounds, no pair is interpolated. Pairs up to the bound keep their frequencies, and
  // the frequencies of other pairs are divided by the factor.
  expect_frequencies(
      R"("factor": 8, "scaling": "yarn", "original": 2147483647, "slow_turns": 1000,
         "fast_turns": 1000, "whole_pairs": false, "base": 1e30)",
      0, [](Index t) {
        const double index = 16 * std::log(2147483647.0 / (1000 * 2 * M_PI)) / (2 * std::log(1e30));
        return unscaled(t, 1e30) / (static_cast<double>(t) <= index ? 1 : 8);
      });
}

TEST(RopeScaling, LongropeHasFactorsPerPair) {
  const std::string members = R"("scaling": "longrope", "original": 64, "gain": 1.25,
      "short_factors": [1, 2, 3, 4, 5, 6, 7, 8], "long_factors": [9, 10, 11, 12, 13, 14, 15, 16])";
  for (const Index length : {0, 64, 65}) {
    expect_frequencies(members, length, [&](Index t) {
      return unscaled(t) / static_cast<double>(length > 64 ? t + 9 : t + 1);
    });
  }
  const Values values = rope_values(members);
  EXPECT_EQ(rope_gain(values), 1.25);
  EXPECT_EQ(rope_gain(rope_values(R"("factor": 2)")), 1);
  EXPECT_FALSE(rope_depends_on_length(values, 64));
  EXPECT_TRUE(rope_depends_on_length(values, 65));
}

TEST(RopeScaling, RejectsInconsistentParameters) {
  const auto objection = [](const std::string& members, Index dims) {
    return rope_scaling_objection(rope_values(members), dims);
  };
  const auto expect_refusal = [&](const std::string& members, Index dims,
                                  const std::string& prefix) {
    const std::string actual = objection(members, dims);
    EXPECT_TRUE(prefix.empty() ? actual.empty() : actual.starts_with(prefix))
        << members << ": " << actual;
  };
  expect_refusal(R"("factor": 2)", 2, "");
  expect_refusal(R"("scaling": "dynamic")", 4, "original: expected the original context length");
  expect_refusal(R"("scaling": "dynamic", "original": 8)", 2,
                 "scaling: expected more than one rotated pair for \"dynamic\", found 1");
  expect_refusal(R"("scaling": "dynamic", "original": 8)", 4, "");
  expect_refusal(R"("scaling": "yarn", "original": 8)", 2, "");
  expect_refusal(R"("scaling": "llama3", "original": 8)", 2, "");
  expect_refusal(R"("scaling": "llama3", "original": 8, "slow_turns": 4)", 2,
                 "fast_turns: expected more");
  expect_refusal(R"("scaling": "llama3", "original": 8, "fast_turns": 1)", 2,
                 "fast_turns: expected more");
  expect_refusal(R"("scaling": "llama3", "original": 8, "fast_turns": 1.5)", 2, "");
  expect_refusal(R"("scaling": "yarn", "original": 8, "slow_turns": 40)", 2, "");
  expect_refusal(R"("scaling": "yarn", "original": 8, "base": 1)", 2, "base: expected more than 1");
  expect_refusal(R"("scaling": "yarn", "original": 8, "base": 1.5)", 2, "");
  expect_refusal(R"("scaling": "llama3", "original": 8, "base": 1)", 2, "");
  expect_refusal(
      R"("scaling": "longrope", "original": 8, "short_factors": [1, 1], "long_factors": [1, 1])", 4,
      "");
  expect_refusal(R"("scaling": "longrope", "original": 8, "short_factors": [1, 1])", 4,
                 "long_factors: expected one factor for each of the 2");
  expect_refusal(
      R"("scaling": "longrope", "original": 8, "short_factors": [1], "long_factors": [1, 1])", 4,
      "short_factors: expected one factor for each of the 2");
}

TEST(RotaryPairs, JoinNeighboursOrHalves) {
  const std::vector<RotaryPair> neighbours = rotary_pairs(rope_values(R"("dims": 6)"), 8);
  const std::vector<RotaryPair> halves =
      rotary_pairs(rope_values(R"("dims": 6, "style": "half")"), 8);
  ASSERT_EQ(neighbours.size(), 3u);
  ASSERT_EQ(halves.size(), 3u);
  for (Index t = 0; t < 3; ++t) {
    const auto index = static_cast<std::size_t>(t);
    EXPECT_EQ(neighbours[index].first, 2 * t);
    EXPECT_EQ(neighbours[index].second, 2 * t + 1);
    EXPECT_EQ(halves[index].first, t);
    EXPECT_EQ(halves[index].second, t + 3);
    EXPECT_NEAR(halves[index].frequency, std::pow(10000, -static_cast<double>(t) / 3), 1e-12);
  }
  EXPECT_EQ(rotary_pairs(rope_values(R"("factor": 1)"), 8).size(), 4u);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
