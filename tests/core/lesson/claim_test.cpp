#include "core/lesson/claim.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/support/golden.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Claim read_claim(const Json& object, const Session& step = {}) {
  return claim_from_json(object, step, "claim");
}

TEST(Claim, InheritsLayerAndHeadFromStep) {
  Session step;
  step.view.layer = 2;
  step.view.head = 1;
  const Json object = {{"text", "a"}, {"measure", "entropy"}, {"most", 1}};
  EXPECT_EQ(read_claim(object, step).layer, 2);
  EXPECT_EQ(read_claim(object, step).head, 1);
  Json other_head = object;
  other_head["head"] = 5;
  EXPECT_EQ(read_claim(other_head, step).head, 5);
}

TEST(Claim, RejectsUnmeasurableClaims) {
  EXPECT_THROW(read_claim({{"text", "a"}, {"measure", "beauty"}, {"least", 1}}), InputError);
  EXPECT_THROW(read_claim({{"text", "a"}, {"measure", "entropy"}}), InputError);  // no bound
  EXPECT_THROW(read_claim({{"text", "a"}, {"measure", "weight"}, {"least", 1}}),
               InputError);  // neither "query" nor "key"
  EXPECT_THROW(read_claim({{"text", "a"}, {"measure", "difference"}, {"most", 1}}), InputError);
  EXPECT_THROW(read_claim({{"text", "a"}, {"measure", "entropy"}, {"most", 1}, {"query", 1}}),
               InputError);
}

TEST(Claim, MeasuresRunBOnRequest) {
  const Json object = {{"text", "a"}, {"measure", "entropy"}, {"most", 1}, {"other", true}};
  EXPECT_THROW(read_claim(object), InputError);  // there is no run B
  Session step;
  step.run.text = "a";
  step.b = step;
  const Claim claim = read_claim(object, step);
  EXPECT_TRUE(claim.other);
  EXPECT_THROW(check(claim, {std::make_shared<const Trace>(), nullptr}), InputError);
}

TEST(Claim, FormatsMeasuredValue) {
  Claim claim;
  claim.measure = "entropy";
  const auto text = [&](const ClaimCheck& check) { return to_string(measured_text(claim, check)); };
  claim.least = 0.9;
  EXPECT_EQ(text({0.934, true}), "0.934, expected at least 0.9");
  claim.most = 1;
  EXPECT_EQ(text({0.5, false}), "0.5, expected 0.9 to 1");
  claim.least = claim.most = 5;
  EXPECT_EQ(text({5, true}), "5");
  EXPECT_EQ(text({6, false}), "6, expected 5");
  claim.least = 0.4999;
  claim.most = 0.5001;
  EXPECT_EQ(text({0.50001, true}), "0.5");
  claim.least.reset();
  claim.most = 1e-5;
  EXPECT_EQ(text({1.17e-7, true}), "below 1e-5");
  EXPECT_EQ(text({0.2, false}), "0.2, expected at most 1e-5");
  EXPECT_EQ(text({2048, false}), "2048, expected at most 1e-5");
  EXPECT_EQ(text({2048.5, false}), "2048, expected at most 1e-5");
}

TEST(Claim, FormatsSharesAsPercentages) {
  Claim claim;
  claim.measure = "weight";
  claim.least = 0.8;
  const auto text = [&](const ClaimCheck& check) { return to_string(measured_text(claim, check)); };
  EXPECT_EQ(text({0.867, true}), "87%, expected at least 80%");
  EXPECT_EQ(text({0.7968, false}), "79.7%, expected at least 80%");  // not "80%"
  EXPECT_EQ(text({0.8, true}), "80%");
  claim.most = 0.9;
  EXPECT_EQ(text({0.5, false}), "50%, expected 80% to 90%");
}

TEST(Claim, MeasureIdsAreUnique) {
  for (const Measure& a : measures()) {
    EXPECT_FALSE(a.help.empty()) << a.id;
    int same = 0;
    for (const Measure& b : measures()) same += a.id == b.id;
    EXPECT_EQ(same, 1) << a.id;
  }
}

TEST(Measures, DescriptionsMatchGolden) {
  std::string text;
  for (const Measure& m : measures()) {
    text += m.id +
            testing::describe(
                {{"query", m.requires_query}, {"key", m.requires_key}, {"compares", m.compares}}) +
            "\n  " + m.help + "\n";
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/lesson/measures.txt"));
}

TEST(Claim, FormatsLimits) {
  const auto text = [](std::optional<double> least, std::optional<double> most, double value,
                       bool holds = true) {
    Claim claim;
    claim.measure = "entropy";
    claim.least = least;
    claim.most = most;
    return to_string(measured_text(claim, {value, holds}));
  };
  EXPECT_EQ(text(0.9, std::nullopt, 0.9), "0.9");  // the limit itself
  EXPECT_EQ(text(std::nullopt, 0.5, 0.5), "0.5");
  EXPECT_EQ(text(std::nullopt, 0.5, 0.2), "0.2, expected at most 0.5");
  EXPECT_EQ(text(0.9, 1, 0.90001), "0.9, expected 0.9 to 1");
  EXPECT_EQ(text(std::nullopt, 0, -0.5), "-0.5, expected at most 0");  // "below 0" would be wrong
  EXPECT_EQ(text(std::nullopt, 1e-3, 0.0005), "5e-4, expected at most 0.001");
  EXPECT_EQ(text(std::nullopt, 9e-4, 0.0005), "below 9e-4");
  EXPECT_EQ(text(2e6, std::nullopt, 999999, false), "999999, expected at least 2e6");
  EXPECT_EQ(text(2e6, std::nullopt, 1e6, false), "1e6, expected at least 2e6");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
