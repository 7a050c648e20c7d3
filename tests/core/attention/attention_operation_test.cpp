// Gradients of the attention operation against central differences of the equations in double
// precision, for every ingredient (tensor of a Part) and normaliser.
#include "core/attention/attention_operation.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"
#include "tests/core/attention/reference.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::named_parts;
using testing::random_tensor;
using testing::reference;

// Probes all elements of small ingredients, and at most `max_probes` elements of large ones.
void check_gradients(const Part& part, Index max_probes) {
  for (Var ingredient : ingredients(part))
    ingredient.clear_gradient();  // other parts share ingredients
  const Var result = attention(part, cpu_backend(), {}, nullptr);
  const Tensor weights = random_tensor(result.shape(), 99);
  ASSERT_TRUE(result.requires_gradient());
  backward(sum(multiply(result, weights)));
  const auto reference_sum = [&] {
    const std::vector<double> output = reference(part).output;
    return std::inner_product(output.begin(), output.end(), weights.begin(), 0.0);
  };
  std::size_t number = 0;
  for (const Var& ingredient : ingredients(part)) {
    // The part shares the storage of these values, so that the reference sees their changes.
    EXPECT_TRUE(testing::is_gradient(ingredient.gradient(), ingredient.value(), reference_sum,
                                     {{1e-3F}, 2e-4, max_probes}))
        << "ingredient " << number << " " << to_string(ingredient.shape());
    ++number;
  }
}

TEST(AttentionOperation, MatchesFiniteDifferences) {
  for (const auto& [name, part] : named_parts(7, true)) {
    SCOPED_TRACE(name);
    check_gradients(part, 25);
  }
}

TEST(AttentionOperation, MatchesFiniteDifferencesOverSeveralBlocks) {
  for (const auto& [name, part] : named_parts(67, true)) {
    SCOPED_TRACE(name);
    check_gradients(part, 2);
  }
}

TEST(AttentionOperation, IsIndependentOfThreadCount) {
  const int initial_thread_count = thread_count();
  std::vector<Tensor> gradients[2];
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    const Part part = named_parts(257, true)[12].part;  // a part with all ingredients
    const Var result = attention(part, cpu_backend(), {}, nullptr);
    backward(sum(multiply(result, random_tensor(result.shape(), 99))));
    for (const Var& v : ingredients(part)) gradients[threads - 1].push_back(v.gradient());
  }
  set_thread_count(initial_thread_count);
  for (std::size_t n = 0; n < gradients[0].size(); ++n) {
    for (Index i = 0; i < gradients[0][n].size(); ++i) {
      ASSERT_EQ(gradients[0][n][i], gradients[1][n][i]) << "ingredient " << n;
    }
  }
}

TEST(AttentionOperation, RecordsNothingWithoutParameters) {
  const Part part = named_parts(5, false)[0].part;
  EXPECT_FALSE(attention(part, cpu_backend(), {}, nullptr).requires_gradient());
}

TEST(AttentionOperation, ComputesOnlyRequestedGradients) {
  Part part = named_parts(9, false)[0].part;
  part.v = Var::parameter(part.v.value());
  const Var result = attention(part, cpu_backend(), {}, nullptr);
  backward(sum(result));
  EXPECT_TRUE(part.v.gradient().defined());
}

TEST(AttentionOperation, ReportsRequestedResults) {
  const Part part = named_parts(9, true)[0].part;
  ResultRequest wanted;
  wanted.attention = true;
  AttentionMaps report;
  const Var result = attention(part, cpu_backend(), wanted, &report);
  EXPECT_EQ(report.attention.shape(), (Shape{8, 9, 9}));
  EXPECT_EQ(result.shape()[1], 9);
}

TEST(AttentionOperation, StopsDuringBackwardPass) {
  const Part part = named_parts(9, true)[0].part;
  const Stop stop;
  const StopScope scope(stop);
  const Var loss = sum(attention(part, cpu_backend(), {}, nullptr));
  stop.request();
  EXPECT_THROW(backward(loss), Stopped);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
