// Encodings that variants accept although their scores are not plain products of queries and keys:
// rotations before keys are mixed or queries move, and biases of predicted or additive scores.
#include <gtest/gtest.h>

#include <cmath>

#include "core/attention/variant.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"
#include "tests/support/golden.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::differs;

Choice parse_variant(const char* json) {
  return variant_from_json(Json::parse(json), "variant");
}
Choice parse_encoding(const char* type) {
  return encoding_from_json({{"type", type}}, "position");
}

OperationResult run(const OperationInput& input) {
  return evaluate(input, cpu_backend(), {.output = true, .attention = true});
}

// The operation equals the one without an encoding on rotated queries and keys.
TEST(VariantEncodings, RotateQueriesAndKeysOnce) {
  for (const char* json :
       {R"({"type": "memory_compressed", "stride": 3})",
        R"({"type": "sinkhorn", "block": 4, "iterations": 3})",
        R"({"type": "sinkhorn", "block": 4, "iterations": 3,
                               "sorting": "content", "mixture": "dense"})",
        R"({"type": "hopfield", "steps": 4, "tolerance": 0})", R"({"type": "capsules"})",
        R"({"type": "synthesizer", "plus": "dot"})"}) {
    const OperationInput input =
        testing::random_operation({}, parse_variant(json), parse_encoding("rope"), false, 5);
    OperationInput rotated = input, plain = input;
    rotated.q = rotate_queries(input, input.q);
    rotated.k = rotate_keys(input, input.k);
    rotated.encoding = plain.encoding = default_encoding();
    const OperationResult result = run(input), expected = run(rotated);
    EXPECT_TRUE(close(result.attention, expected.attention, 1e-6)) << json;
    EXPECT_TRUE(close(result.output.value(), expected.output.value(), 1e-5)) << json;
    EXPECT_TRUE(differs(result.attention, run(plain).attention, 1e-3)) << json;
  }
}

// Weights a_ij exp(bias) of a row, or of a column, divided by their sum.
Tensor biased(const Tensor& attention, bool by_column) {
  Tensor result(attention.shape());  // [h, L, L]
  const Index heads = attention.dim(0), rows = attention.dim(1), columns = attention.dim(2);
  const auto weight = [&](Index head, Index i, Index j) {
    const double slope = std::exp2(-8.0 * static_cast<double>(head + 1) / 2);  // of two heads
    return static_cast<double>(attention(head, i, j)) *
           std::exp(-slope * static_cast<double>(std::abs(i - j)));
  };
  for (Index head = 0; head < heads; ++head) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        double sum = 0;
        if (by_column) {
          for (Index r = 0; r < rows; ++r) sum += weight(head, r, j);
        } else {
          for (Index c = 0; c < columns; ++c) sum += weight(head, i, c);
        }
        result(head, i, j) = sum > 0 ? static_cast<float>(weight(head, i, j) / sum) : 0;
      }
    }
  }
  return result;
}

TEST(VariantEncodings, AddBiasToScores) {
  for (const char* json :
       {R"({"type": "full", "score": "additive"})", R"({"type": "graph", "mode": "additive"})",
        R"({"type": "synthesizer"})", R"({"type": "synthesizer", "mode": "random"})",
        R"({"type": "synthesizer", "mode": "factorised_dense", "plus": "dot"})",
        R"({"type": "dynamic_convolution", "width": 5})",
        R"({"type": "longformer", "window": 3, "global": [0, 5], "projections": "own"})",
        R"({"type": "hopfield", "steps": 1})", R"({"type": "capsules", "iterations": 1})"}) {
    const Choice choice = parse_variant(json);
    for (const bool causal : {false, true}) {
      if (causal && !variant(choice.id).causality.refusal.empty()) continue;
      const OperationInput input =
          testing::random_operation({}, choice, parse_encoding("alibi"), causal, 7);
      OperationInput plain = input;
      plain.encoding = default_encoding();
      const Tensor attention = run(input).attention;
      EXPECT_TRUE(close(attention, biased(run(plain).attention, choice.id == "capsules"), 1e-5))
          << json;
      EXPECT_TRUE(differs(attention, run(plain).attention, 1e-3)) << json;
    }
  }
}

// Every step of the retrieval adds the bias: states converge to a fixed point with the bias.
TEST(VariantEncodings, HopfieldAddsBiasInEveryStep) {
  const Choice choice =
      parse_variant(R"({"type": "hopfield", "steps": 200, "tolerance": 0, "beta": 0.5})");
  const OperationInput input =
      testing::random_operation({}, choice, parse_encoding("alibi"), false, 9);
  const OperationResult result = run(input);
  OperationInput settled = input;  // begins where the retrieval ends
  settled.v = settled.k;
  settled.q = run(settled).output;
  settled.variant.values.set("steps", Index{1});
  EXPECT_TRUE(close(run(settled).attention, result.attention, 1e-4));
}

// Refused encodings of each variant, and of parameter values with other scores.
TEST(VariantEncodings, RefusalsMatchGolden) {
  std::string text;
  for (const Variant& v : variants()) {
    for (const Values& values : testing::value_cases(v.parameters)) {
      const Choice choice = testing::small_choice(v, values);
      std::string refused, reason;
      for (const Encoding& e : encodings()) {
        const std::string message =
            refusal(choice, {e.id, default_values(e.parameters)}, false, {}, 0, 0);
        if (!message.starts_with("position.type: ")) continue;
        refused += " " + e.id;
        reason =
            message.substr(message.rfind(" (" + (v.encodings.relative_only ? e.id : v.label)) + 1);
      }
      if (refused.empty()) continue;
      const std::string line = v.id + ":" + refused + "\n  " + reason + "\n";
      if (text.find(line) == std::string::npos) text += line;
    }
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/attention/refused_encodings.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
