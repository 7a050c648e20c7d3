// Mamba's selective state space (spec.md, section 4.4), against the equations in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/attention/variant.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;

// Projections of token t of the input.
struct Reference {
  double weight(const char* name, std::vector<Index> index) const {
    const Tensor& x = input.weights.at(name).value();
    Index offset = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      offset = offset * x.dim(static_cast<Index>(axis)) + index[axis];
    }
    return static_cast<double>(x[offset]);
  }
  double projected(const char* name, Index t, Index column) const {
    double sum = 0;
    for (Index n = 0; n < input.x.dim(2); ++n) {
      sum += static_cast<double>(input.x.value()(0, t, n)) * weight(name, {n, column});
    }
    return sum;
  }
  double step(Index head, Index t, Index c) const {
    double sum = weight("mamba.delta_bias", {head, c});
    for (Index r = 0; r < input.weights.at("mamba.delta_in").dim(1); ++r) {
      sum += projected("mamba.delta_in", t, r) *
             weight("mamba.delta_out", {r, head * input.v.dim(2) + c});
    }
    return std::log1p(std::exp(sum));
  }
  // a_ij of channel c, from the definition.
  double attention(Index head, Index i, Index j, Index c) const {
    double sum = 0;
    for (Index n = 0; n < input.weights.at("mamba.b").dim(1); ++n) {
      const double rate = -std::exp(weight("mamba.a_log", {head, c, n}));
      double decay = 1;
      for (Index r = j + 1; r <= i; ++r) decay *= std::exp(step(head, r, c) * rate);
      sum += projected("mamba.c", i, n) * decay * step(head, j, c) * projected("mamba.b", j, n);
    }
    return sum;
  }

  const OperationInput& input;
};

TEST(Mamba, MatchesTheEquations) {
  for (const Index states : {1, 4}) {
    for (const Index kv_heads : {1, 2}) {
      testing::OperationSizes sizes;
      sizes.length = 19;  // more rows than one block of the map
      sizes.kv_heads = kv_heads;
      const Choice choice =
          variant_from_json({{"type", "mamba"}, {"states", states}, {"rank", Index{3}}}, "variant");
      const OperationInput input =
          testing::random_operation(sizes, choice, default_encoding(), true, 6);
      const Reference reference{input};
      const OperationResult result =
          evaluate(input, cpu_backend(), {.output = true, .attention = true});
      const Index size = sizes.value;
      Tensor attention = Tensor::zeros({2, sizes.length, sizes.length});
      Tensor output({2, sizes.length, size});
      for (Index head = 0; head < 2; ++head) {
        for (Index i = 0; i < sizes.length; ++i) {
          for (Index c = 0; c < size; ++c) {
            const auto value = [&](Index t) {
              return static_cast<double>(input.v.value()(head * kv_heads / 2, t, c));
            };
            double sum = reference.weight("mamba.skip", {head, c}) * value(i);
            for (Index j = 0; j <= i; ++j) {
              const double a = reference.attention(head, i, j, c);
              sum += a * value(j);
              attention(head, i, j) += static_cast<float>(a / static_cast<double>(size));
            }
            output(head, i, c) = static_cast<float>(sum);
          }
        }
      }
      EXPECT_TRUE(close(result.output.value(), output, 2e-6));
      EXPECT_TRUE(close(result.attention, attention, 2e-6));
    }
  }
}

TEST(Mamba, HasSignedWeightsAndRefusesBidirectionalOrder) {
  const Choice choice = variant_from_json({{"type", "mamba"}}, "variant");
  const OperationInput input = testing::random_operation({}, choice, default_encoding(), true, 4);
  const Tensor map = evaluate(input, cpu_backend(), {.attention = true}).attention;
  bool has_positive = false, has_negative = false;
  for (const float x : map) {
    has_positive = has_positive || x > 0;
    has_negative = has_negative || x < 0;
  }
  EXPECT_TRUE(has_positive && has_negative);
  const std::string reason = refusal(choice, default_encoding(), false, {}, 9, 9);
  EXPECT_TRUE(reason.starts_with("causal: expected true, found false")) << reason;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
