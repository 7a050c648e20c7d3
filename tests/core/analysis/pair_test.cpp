#include "core/analysis/pair.h"

#include <gtest/gtest.h>

#include "core/attention/terms.h"
#include "core/attention/variant.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kHeads = 4, kLength = 7, kSize = 6;

// The part of an operation with this encoding and all its weights.
std::shared_ptr<const Part> part_with(const std::string& id) {
  const Encoding& info = encoding(id);
  OperationInput input;
  input.heads = kHeads;
  input.kv_heads = kHeads;
  input.q = testing::random_tensor({kHeads, kLength, kSize}, 1);
  input.k = testing::random_tensor({kHeads, kLength, kSize}, 2);
  input.v = testing::random_tensor({kHeads, kLength, kSize}, 3);
  input.encoding = {id, default_values(info.parameters)};
  const Dimensions dimensions{.model = kHeads * kSize,
                              .heads = kHeads,
                              .kv_heads = kHeads,
                              .key = kSize,
                              .value = kSize,
                              .context = kLength};
  std::uint64_t seed = 10;
  for (const WeightInfo& weight : info.weights) {
    const Shape shape = weight.shape(dimensions, input.encoding.values);
    input.weights[weight.name] = testing::random_tensor(shape, ++seed);
  }
  ResultRequest wanted;
  wanted.scores = true;
  return evaluate(input, cpu_backend(), wanted).part;
}

// For every encoding of pairs, terms and score match the operation's.
TEST(PairScore, AgreesWithTheTermsOfTheWholeOperation) {
  int checked = 0;
  for (const Encoding& e : encodings()) {
    if (e.embed) continue;  // acts on the input
    const auto part = part_with(e.id);
    ASSERT_NE(part, nullptr) << e.id;
    const auto terms = score_terms(*part);
    for (const auto& [head, query, key] :
         {std::tuple<Index, Index, Index>{0, 0, 0}, {3, 6, 0}, {1, 2, 5}, {2, 4, 3}}) {
      const auto pair = pair_score(*part, head, query, key);
      ASSERT_TRUE(pair) << e.id;
      ASSERT_EQ(pair->terms.size(), terms.size()) << e.id;
      double sum = 0, factor = 1, bias = 0;
      for (const auto& [term, values] : terms) {
        const auto expected = static_cast<double>(values(head, query, key));
        const double actual = pair->terms.at(term);
        EXPECT_TRUE(std::abs(actual - expected) <= 2e-5 * std::max(1.0, std::abs(expected)))
            << e.id << " " << to_string(term) << ": " << actual << " instead of " << expected;
        (term == Term::Factor ? factor : (term == Term::Bias ? bias : sum)) =
            term == Term::Factor || term == Term::Bias ? expected : sum + expected;
      }
      const double score = sum * factor + bias;
      EXPECT_TRUE(std::abs(pair->score - score) <= 1e-4 * std::max(1.0, std::abs(score))) << e.id;
      ++checked;
    }
  }
  EXPECT_GE(checked, 4 * 3);
}

TEST(PairScore, IsEmptyForScoresWithoutProducts) {
  Part part;
  part.source = Source::Logits;
  EXPECT_FALSE(pair_score(part, 0, 0, 0));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
