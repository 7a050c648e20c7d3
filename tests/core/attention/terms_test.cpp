#include "core/attention/terms.h"

#include <gtest/gtest.h>

#include "core/attention/backend.h"
#include "tests/core/attention/reference.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::named_parts;

TEST(ScoreTerms, SumToTheScores) {
  for (const auto& [name, part] : named_parts(20, false)) {
    if (part.normaliser == Normaliser::FeatureRatio) continue;
    SCOPED_TRACE(name);
    ResultRequest wanted;
    wanted.scores = true;
    const Tensor scores = cpu_backend().run(part, wanted).scores;
    const std::map<Term, Tensor> terms = score_terms(part);
    ASSERT_TRUE(terms.contains(Term::Content));
    Tensor total = Tensor::zeros(scores.shape());
    for (const auto& [term, numbers] : terms) {
      if (term == Term::Bias || term == Term::Factor) continue;
      for (Index i = 0; i < total.size(); ++i) total[i] += numbers[i];
    }
    for (Index i = 0; i < total.size(); ++i) {
      if (terms.contains(Term::Factor)) total[i] *= terms.at(Term::Factor)[i];
      if (terms.contains(Term::Bias)) total[i] += terms.at(Term::Bias)[i];
    }
    const float cap = part.score_cap;
    for (Index i = 0; i < total.size() && cap > 0; ++i) total[i] = cap * std::tanh(total[i] / cap);
    // Skips parts with scaled biases. Their term is Term::Bias here, which the sum above adds after
    // the factor instead of before it.
    if (!part.scaled_biases.empty()) continue;
    EXPECT_TRUE(close(total, scores));
  }
}

TEST(ScoreTerms, SplitTheProduct) {
  Part part = named_parts(20, false)[0].part;
  const Tensor content_q = testing::random_tensor(part.q.shape(), 50);
  Tensor position_q({8, 20, 5});
  for (Index i = 0; i < position_q.size(); ++i) position_q[i] = part.q.value()[i] - content_q[i];
  part.split = {{content_q, part.k, Term::Content}, {position_q, part.k, Term::PositionContent}};
  const std::map<Term, Tensor> terms = score_terms(part);
  ASSERT_EQ(terms.size(), 2U);
  ResultRequest wanted;
  wanted.scores = true;
  const Tensor scores = cpu_backend().run(part, wanted).scores;
  Tensor total({8, 20, 20});
  for (Index i = 0; i < total.size(); ++i) {
    total[i] = terms.at(Term::Content)[i] + terms.at(Term::PositionContent)[i];
  }
  EXPECT_TRUE(close(total, scores));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
