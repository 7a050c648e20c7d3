#include "core/analysis/linear_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

RowMatrix random_matrix(Index rows, Index columns, std::uint64_t seed) {
  return matrix_of(testing::random_tensor({rows, columns}, seed));
}

TEST(LinearFit, RecoversLinearMaps) {
  const RowMatrix map = random_matrix(5, 3, 1);
  const Eigen::RowVectorXd offset = random_matrix(1, 3, 2).row(0);
  const auto outputs_of = [&](const RowMatrix& x) -> RowMatrix {
    RowMatrix y = x * map;
    y.rowwise() += offset;
    return y;
  };
  const RowMatrix x = random_matrix(40, 5, 3), other = random_matrix(7, 5, 4);
  const LinearFit fit = fit_linear(x, outputs_of(x));
  EXPECT_TRUE((fit.weights - map).norm() <= 1e-6);
  EXPECT_TRUE((fit.predict(other) - outputs_of(other)).norm() <= 1e-5);
  EXPECT_TRUE(explained_variance(outputs_of(x), held_out_predictions(x, outputs_of(x))) > 0.9999);
}

// Fewer rows than columns, but the inputs vary in two directions only.
TEST(LinearFit, RecoversMapsOfFewDirections) {
  const RowMatrix x = random_matrix(20, 2, 5) * random_matrix(2, 60, 6);
  const RowMatrix y = x * random_matrix(60, 1, 7);
  EXPECT_TRUE(explained_variance(y, held_out_predictions(x, y)) > 0.999);
}

// Outputs that do not depend on the inputs are predicted about as well as by their mean.
TEST(LinearFit, PredictsNothingFromNoise) {
  const RowMatrix x = random_matrix(60, 100, 8), y = random_matrix(60, 1, 9);
  const double explained = explained_variance(y, held_out_predictions(x, y));
  EXPECT_TRUE(explained <= 0.15 && explained >= -0.6) << explained;
}

TEST(LinearFit, EqualInputsPredictTheMean) {
  const RowMatrix x = RowMatrix::Ones(6, 3), y = random_matrix(6, 2, 10);
  const RowMatrix mean = y.colwise().mean().replicate(6, 1);
  EXPECT_TRUE((fit_linear(x, y).predict(x) - mean).norm() <= 1e-12);
}

TEST(LinearFit, ExplainedVarianceOfTheMeanIsZero) {
  const RowMatrix y = random_matrix(9, 1, 11);
  const RowMatrix mean = y.colwise().mean().replicate(9, 1);
  EXPECT_TRUE(std::abs(explained_variance(y, mean)) <= 1e-12);
  EXPECT_EQ(explained_variance(y, y), 1);
  EXPECT_THROW(fit_linear(y, random_matrix(8, 1, 12)), std::logic_error);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
