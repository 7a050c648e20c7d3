// Routing by agreement (spec.md, section 4.3), against the equations in double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "core/attention/variant.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;

constexpr Index kLength = 9;
using Matrix = std::vector<double>;  // [rows, columns], row-major

std::size_t cell(Index i, Index j, Index columns) {
  return static_cast<std::size_t>(i * columns + j);
}

// Softmax of each column.
Matrix column_softmax(const Matrix& b) {
  Matrix c(b.size());
  for (Index j = 0; j < kLength; ++j) {
    double sum = 0;
    for (Index i = 0; i < kLength; ++i) sum += std::exp(b[cell(i, j, kLength)]);
    for (Index i = 0; i < kLength; ++i) {
      c[cell(i, j, kLength)] = std::exp(b[cell(i, j, kLength)]) / sum;
    }
  }
  return c;
}

// Squashed weighted sums of the values of one head.
Matrix outputs(const Matrix& c, const Tensor& v, Index head) {
  const Index size = v.dim(2);
  Matrix o(static_cast<std::size_t>(kLength * size), 0.0);
  for (Index i = 0; i < kLength; ++i) {
    double squares = 0;
    for (Index n = 0; n < size; ++n) {
      double& sum = o[cell(i, n, size)];
      for (Index j = 0; j < kLength; ++j) sum += c[cell(i, j, kLength)] * v(head, j, n);
      squares += sum * sum;
    }
    for (Index n = 0; n < size; ++n) o[cell(i, n, size)] *= std::sqrt(squares) / (1 + squares);
  }
  return o;
}

TEST(Capsules, MatchTheEquations) {
  testing::OperationSizes sizes;
  sizes.length = kLength;
  for (const Index iterations : {1, 2, 5}) {
    const Choice choice =
        variant_from_json({{"type", "capsules"}, {"iterations", iterations}}, "variant");
    const OperationInput input =
        testing::random_operation(sizes, choice, default_encoding(), false, 4);
    const OperationResult result =
        evaluate(input, cpu_backend(), {.output = true, .attention = true});
    const Tensor &q = input.q.value(), &k = input.k.value(), &v = input.v.value();
    Tensor attention({2, kLength, kLength}), output({2, kLength, v.dim(2)});
    for (Index head = 0; head < 2; ++head) {
      Matrix b(kLength * kLength, 0.0), c, o;
      for (Index i = 0; i < kLength; ++i) {
        for (Index j = 0; j < kLength; ++j) {
          for (Index n = 0; n < q.dim(2); ++n) {
            b[cell(i, j, kLength)] += static_cast<double>(q(head, i, n)) * k(head, j, n) / 2;
          }
        }
      }
      for (Index round = 0; round < iterations; ++round) {
        c = column_softmax(b);
        o = outputs(c, v, head);
        for (Index i = 0; i < kLength; ++i) {
          for (Index j = 0; j < kLength; ++j) {
            for (Index n = 0; n < v.dim(2); ++n) {
              b[cell(i, j, kLength)] += v(head, j, n) * o[cell(i, n, v.dim(2))];
            }
          }
        }
      }
      std::copy(c.begin(), c.end(), attention.data() + head * kLength * kLength);
      std::copy(o.begin(), o.end(), output.data() + head * kLength * v.dim(2));
    }
    EXPECT_TRUE(close(result.attention, attention));
    EXPECT_TRUE(close(result.output.value(), output));
    const Tensor& rounds = result.extra.at("capsules.couplings");
    EXPECT_EQ(rounds.shape(), (Shape{iterations, 2, kLength, kLength}));
    EXPECT_TRUE(close(rounds.slice(iterations - 1, 1).reshaped(attention.shape()), attention));
  }
}

TEST(Capsules, HaveNoCausalForm) {
  const Choice choice = variant_from_json({{"type", "capsules"}}, "variant");
  const std::string reason = refusal(choice, default_encoding(), true, {}, 0, 0);
  EXPECT_NE(reason.find("compete"), std::string::npos) << reason;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
