// Linformer's names of sharings, its causal refusal, and rotary encodings before the projection.
#include <gtest/gtest.h>

#include "core/attention/variant.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Choice linformer(const std::string& members) {
  return variant_from_json(Json::parse(R"({"type": "linformer", "k": 5)" + members + "}"),
                           "variant");
}

TEST(Linformer, ReadsEarlierNamesOfSharings) {
  EXPECT_EQ(linformer(R"(, "share": "layer")"), linformer(R"(, "share": "headwise")"));
  EXPECT_EQ(linformer(R"(, "share": "head")"), linformer(R"(, "share": "none")"));
  EXPECT_EQ(linformer("").values.choice("share"), "headwise");
}

TEST(Linformer, ExplainsItsCausalRefusal) {
  const std::string reason = refusal(linformer(""), default_encoding(), true, {}, 0, 0);
  EXPECT_EQ(reason.find("causal: expected false, found true"), 0u) << reason;
  EXPECT_NE(reason.find("mixes tokens of the whole text"), std::string::npos) << reason;
}

TEST(Linformer, RotatesKeysBeforeTheyAreMixed) {
  const Choice rope = encoding_from_json({{"type", "rope"}}, "position");
  for (const char* mode : {"projection", "mean", "max", "convolution"}) {
    const Choice choice = linformer(R"(, "mode": ")" + std::string(mode) + "\"");
    const OperationInput input = testing::random_operation({}, choice, rope, false, 5);
    OperationInput rotated = input;
    rotated.q = rotate_queries(input, input.q);
    rotated.k = rotate_keys(input, input.k);
    rotated.encoding = default_encoding();
    OperationInput plain = input;
    plain.encoding = default_encoding();
    const auto attention = [](const OperationInput& x) {
      return evaluate(x, cpu_backend(), {.output = true, .attention = true}).attention;
    };
    EXPECT_TRUE(testing::close(attention(input), attention(rotated), 1e-6)) << mode;
    EXPECT_TRUE(testing::differs(attention(input), attention(plain), 1e-3)) << mode;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
