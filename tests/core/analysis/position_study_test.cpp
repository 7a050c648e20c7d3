#include "core/analysis/position_study.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/linear_fit.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kWidth = 16;

EncodingUse use_of(const char* choice) {
  const Trace trace = testing::run_model({.encoding = choice});
  return encoding_use(trace.attention[0], kWidth);
}

// The shift is exact, and a rotation: its inverse is its transpose.
TEST(PositionStudy, ShiftOfSinusoidsIsARotation) {
  for (const char* choice :
       {"sinusoidal", R"({"type": "sinusoidal", "style": "half", "base": 100})"}) {
    const EncodingUse use = use_of(choice);
    const RowMatrix vectors = matrix_of(position_vectors(use, 60));
    for (const Index shift : {1, 3, 17}) {
      const PositionShift s = position_shift(use, vectors, shift);
      ASSERT_TRUE(s.is_exact);
      EXPECT_EQ(s.to.rows(), 60 - shift);
      EXPECT_TRUE((s.predicted - s.to).cwiseAbs().maxCoeff() <= 1e-5) << choice << shift;
      EXPECT_TRUE((s.predicted - s.from * s.map.transpose()).norm() <= 1e-12);
      EXPECT_TRUE((s.map * s.map.transpose() - RowMatrix::Identity(kWidth, kWidth)).norm() <= 1e-9);
      EXPECT_TRUE((s.from - s.to).norm() > 1);
    }
  }
}

// The block of each pair, from equation 4 of Prince (2021).
TEST(PositionStudy, ShiftMatrixHasBlocksOfPairs) {
  const EncodingUse use = use_of("sinusoidal");
  const PositionShift s = position_shift(use, matrix_of(position_vectors(use, 20)), 5);
  for (Index row = 0; row < kWidth; ++row) {
    for (Index column = 0; column < kWidth; ++column) {
      const double angle = 5 * std::pow(10000, -static_cast<double>(row / 2 * 2) / kWidth);
      double expected = 0;
      if (row == column) expected = std::cos(angle);
      if (row % 2 == 0 && column == row + 1) expected = std::sin(angle);
      if (row % 2 == 1 && column == row - 1) expected = -std::sin(angle);
      EXPECT_TRUE(std::abs(s.map(row, column) - expected) <= 1e-9) << row << " " << column;
    }
  }
}

// Untrained vectors of single positions have nothing in common: the fit fails on held-out ones.
TEST(PositionStudy, ShiftOfUnrelatedVectorsIsNoLinearMap) {
  const EncodingUse use = use_of("learned");
  const RowMatrix vectors = matrix_of(testing::random_tensor({60, kWidth}, 3));
  const PositionShift s = position_shift(use, vectors, 2);
  EXPECT_FALSE(s.is_exact);
  EXPECT_TRUE(explained_variance(s.to, s.predicted) <= 0.1);
}

TEST(PositionStudy, DirectionsAreOrthonormalAndComplete) {
  const RowMatrix vectors = matrix_of(testing::random_tensor({5, kWidth}, 1));
  const RowMatrix directions = leading_directions(vectors);
  ASSERT_EQ(directions.rows(), 5);
  EXPECT_TRUE((directions * directions.transpose() - RowMatrix::Identity(5, 5)).norm() <= 1e-9);
  const std::vector<double> shares = cumulative_shares(vectors, directions);
  EXPECT_EQ(shares.front(), 0);
  EXPECT_TRUE(std::abs(shares.back() - 1) <= 1e-9);
  for (std::size_t k = 2; k < shares.size(); ++k) {  // by decreasing share
    EXPECT_TRUE(shares[k] - shares[k - 1] <= shares[k - 1] - shares[k - 2] + 1e-12);
  }
}

TEST(PositionStudy, AnglesOfKnownSubspaces) {
  RowMatrix a = RowMatrix::Zero(2, 4), b = RowMatrix::Zero(2, 4);
  a(0, 0) = a(1, 1) = 1;
  b(0, 0) = 1;
  b(1, 1) = b(1, 2) = std::sqrt(0.5);
  const std::vector<double> angles = principal_angles(a, b);
  ASSERT_EQ(angles.size(), 2u);
  EXPECT_TRUE(std::abs(angles[0]) <= 1e-4);
  EXPECT_TRUE(std::abs(angles[1] - 45) <= 1e-4);
  const RowMatrix random = random_directions(3, kWidth, 1);
  EXPECT_TRUE((random * random.transpose() - RowMatrix::Identity(3, 3)).norm() <= 1e-9);
  EXPECT_TRUE((random - random_directions(3, kWidth, 2)).norm() > 0.1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
