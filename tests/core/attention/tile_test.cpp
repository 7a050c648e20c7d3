#include "core/attention/tile.h"

#include <gtest/gtest.h>

#include "core/attention/backend.h"
#include "core/attention/pooled_tile.h"
#include "tests/core/attention/reference.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

using testing::close;
using testing::named_parts;

TEST(AttentionTile, IsThatPieceOfTheMap) {
  for (const auto& [name, part] : named_parts(150, false)) {
    SCOPED_TRACE(name);
    Wanted wanted;
    wanted.attention = wanted.log_sum_exp = true;
    const PartResult whole = cpu_backend().run(part, wanted, {});
    struct Piece {
      Index head, row, col, height, width;
    };
    for (const auto& [head, row, col, height, width] :
         {Piece{0, 0, 0, 150, 150}, Piece{5, 17, 33, 1, 1}, Piece{7, 60, 3, 80, 140},
          Piece{3, 149, 0, 1, 150}}) {
      Tensor expected({height, width});
      for (Index r = 0; r < height; ++r) {
        for (Index c = 0; c < width; ++c) {
          expected(r, c) = whole.attention(head, row + r, col + c);
        }
      }
      EXPECT_TRUE(close(attention_tile(part, whole.log_sum_exp, head, row, col, height, width),
                        expected, 1e-5));
    }
  }
}

TEST(PooledAttentionTile, PoolsEveryPair) {
  const std::vector<testing::NamedPart> parts = named_parts(150, false);
  for (const std::size_t number : {0, 12, 16}) {
    const Part& part = parts[number].part;
    SCOPED_TRACE(parts[number].name);
    Wanted wanted;
    wanted.log_sum_exp = true;
    const Tensor sums = cpu_backend().run(part, wanted, {}).log_sum_exp;
    for (const Index step : {1, 3, 4, 70, 200}) {
      const Index height = 141, width = 130, row = 5, col = 13;
      const Tensor fine = attention_tile(part, sums, 2, row, col, height, width);
      const Index rows = (height + step - 1) / step, columns = (width + step - 1) / step;
      Tensor most = Tensor::full({rows, columns}, -1e30F), mean = Tensor::zeros({rows, columns});
      Tensor count = Tensor::zeros({rows, columns});
      for (Index r = 0; r < height; ++r) {
        for (Index c = 0; c < width; ++c) {
          float& cell = most(r / step, c / step);
          cell = std::max(cell, fine(r, c));
          mean(r / step, c / step) += fine(r, c);
          count(r / step, c / step) += 1;
        }
      }
      for (Index i = 0; i < mean.size(); ++i) mean[i] /= count[i];
      EXPECT_TRUE(
          close(pooled_attention_tile(part, sums, 2, row, col, height, width, step, Pooling::Max),
                most, 1e-6));
      EXPECT_TRUE(
          close(pooled_attention_tile(part, sums, 2, row, col, height, width, step, Pooling::Mean),
                mean, 1e-6));
    }
  }
}

TEST(ScoreTerms, AddUpToTheScores) {
  for (const auto& [name, part] : named_parts(20, false)) {
    if (part.normaliser == Normaliser::FeatureRatio) continue;
    SCOPED_TRACE(name);
    Wanted wanted;
    wanted.scores = true;
    const Tensor scores = cpu_backend().run(part, wanted, {}).scores;
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
    // scaled_biases of these parts carry Term::Bias too: they are outside of what SPEC has.
    if (!part.scaled_biases.empty()) continue;
    EXPECT_TRUE(close(total, scores));
  }
}

TEST(ScoreTerms, SplitTheProductWhereAsked) {
  Part part = named_parts(20, false)[0].part;
  const Tensor half_q = testing::random_tensor(part.q.shape(), 50);
  Tensor rest({8, 20, 5});
  for (Index i = 0; i < rest.size(); ++i) rest[i] = part.q.value()[i] - half_q[i];
  part.split = {{half_q, part.k, Term::Content}, {rest, part.k, Term::PositionContent}};
  const std::map<Term, Tensor> terms = score_terms(part);
  ASSERT_EQ(terms.size(), 2U);
  Wanted wanted;
  wanted.scores = true;
  const Tensor scores = cpu_backend().run(part, wanted, {}).scores;
  Tensor total({8, 20, 20});
  for (Index i = 0; i < total.size(); ++i) {
    total[i] = terms.at(Term::Content)[i] + terms.at(Term::PositionContent)[i];
  }
  EXPECT_TRUE(close(total, scores));
}

TEST(AllowedPairs, AreThoseWithAWeight) {
  for (const auto& [name, part] : named_parts(40, false)) {
    if (part.normaliser != Normaliser::SpanSoftmax && name != "by head, with empty rows") continue;
    SCOPED_TRACE(name);
    Wanted wanted;
    wanted.attention = true;
    const Tensor attention = cpu_backend().run(part, wanted, {}).attention;
    const ByteTensor allowed = allowed_pairs(part);
    ASSERT_EQ(allowed.shape(), attention.shape());
    for (Index i = 0; i < allowed.size(); ++i) ASSERT_EQ(allowed[i] != 0, attention[i] > 0) << i;
  }
}

}  // namespace
}  // namespace attnscope
