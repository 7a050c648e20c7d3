// Sinkhorn attention (spec.md, section 4.3) with sorting by block contents, in causal order, and
// mixed with full attention, against the equations in double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "core/attention/variant.h"
#include "core/attention/variants/shared/causal_matching.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using Matrix = std::vector<std::vector<double>>;

constexpr Index kBlock = 3, kBlocks = 5, kLength = kBlock * kBlocks;
constexpr int kRounds = 4;
constexpr double kTemperature = 0.7;
constexpr ResultRequest kMaps{.output = true, .attention = true};

struct Form {
  bool content = true, dense = false, causal = false;
};

Choice sinkhorn(const Form& form) {
  return variant_from_json({{"type", "sinkhorn"},
                            {"block", kBlock},
                            {"iterations", Index{kRounds}},
                            {"temperature", kTemperature},
                            {"sorting", form.content ? "content" : "stored"},
                            {"mixture", form.dense ? "dense" : "block"},
                            {"decoder", form.causal}},
                           "variant");
}

OperationInput make_input(const Form& form) {
  testing::OperationSizes sizes;
  sizes.length = kLength;
  return testing::random_operation(sizes, sinkhorn(form), default_encoding(), form.causal, 7);
}

Matrix zeros(Index rows, Index columns) {
  return Matrix(static_cast<std::size_t>(rows),
                std::vector<double>(static_cast<std::size_t>(columns), 0.0));
}
double& at(Matrix& m, Index i, Index j) {
  return m[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
}

// R of one head, from the sums of blocks, or from the sums up to the first token of each block.
Matrix scores(const OperationInput& input, const Form& form, Index head) {
  Matrix r = zeros(kBlocks, kBlocks);
  const auto w = [&](const char* name) -> const Tensor& {
    return weight(input.weights, name).value();
  };
  for (Index row = 0; row < kBlocks; ++row) {
    for (Index column = 0; column < kBlocks; ++column) {
      if (!form.content) {
        at(r, row, column) = w("sinkhorn.logits")(head, row, column);
        continue;
      }
      const Tensor &x = input.x.value(), &w1 = w("sinkhorn.w1");
      double score = w("sinkhorn.b2")(head, column);
      for (Index m = 0; m < w1.dim(2); ++m) {
        double hidden = w("sinkhorn.b1")(head, m);
        for (Index i = 0; i < kLength; ++i) {
          const bool is_read = form.causal ? i <= row * kBlock : i / kBlock == row;
          for (Index n = 0; is_read && n < w1.dim(1); ++n) {
            hidden += static_cast<double>(x(0, i, n)) * w1(head, n, m);
          }
        }
        score += std::max(0.0, hidden) * w("sinkhorn.w2")(head, m, column);
      }
      at(r, row, column) = score;
    }
  }
  return r;
}

Matrix matching(Matrix r, const Form& form) {
  Matrix p = zeros(kBlocks, kBlocks);
  for (Index i = 0; i < kBlocks; ++i) {
    for (Index j = 0; j < (form.causal ? i : kBlocks); ++j) {
      at(p, i, j) = std::exp(at(r, i, j) / kTemperature);
    }
  }
  const auto divide_rows = [&] {
    for (Index i = 0; i < kBlocks; ++i) {
      double sum = 0;
      for (Index j = 0; j < kBlocks; ++j) sum += at(p, i, j);
      for (Index j = 0; j < kBlocks; ++j) at(p, i, j) = sum > 0 ? at(p, i, j) / sum : 0;
    }
  };
  const auto divide_columns = [&] {
    const Matrix before = p;
    for (Index j = 0; j < kBlocks; ++j) {
      for (Index i = 0; i < kBlocks; ++i) {
        double sum = 0;
        for (Index k = 0; k < (form.causal ? i + 1 : kBlocks); ++k) {
          sum += before[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)];
        }
        at(p, i, j) = sum > 0 ? at(p, i, j) / sum : 0;
      }
    }
  };
  for (int round = 0; round < kRounds; ++round) {
    if (form.causal) divide_columns();
    divide_rows();
    if (!form.causal) divide_columns();
  }
  return p;
}

double dot(const OperationInput& input, Index head, Index i, Index j) {
  double sum = 0;
  for (Index n = 0; n < input.q.dim(2); ++n) {
    sum += static_cast<double>(input.q.value()(head, i, n)) * input.k.value()(head, j, n);
  }
  return sum / std::sqrt(static_cast<double>(input.q.dim(2)));
}

// Weights of query i on tokens.
std::vector<double> expected_row(const OperationInput& input, const Form& form, Matrix& p,
                                 Index head, Index i) {
  const Index row = i / kBlock, own = form.causal ? i % kBlock + 1 : kBlock;
  std::vector<double> weights(kLength, 0.0), exps;
  double sum = 0, dense_sum = 0;
  for (Index t = 0; t < own; ++t) {
    exps.push_back(std::exp(dot(input, head, i, row * kBlock + t)));
    sum += exps.back();
  }
  const bool has_sorted = !form.causal || row > 0;
  for (Index t = 0; t < kBlock && has_sorted; ++t) {
    double product = 0;
    for (Index j = 0; j < kBlocks; ++j) {
      product += at(p, row, j) * dot(input, head, i, j * kBlock + t);
    }
    exps.push_back(std::exp(product));
    sum += exps.back();
  }
  for (Index t = 0; t < own; ++t) {
    weights[static_cast<std::size_t>(row * kBlock + t)] += exps[static_cast<std::size_t>(t)] / sum;
  }
  for (Index t = 0; t < kBlock && has_sorted; ++t) {
    for (Index j = 0; j < kBlocks; ++j) {
      weights[static_cast<std::size_t>(j * kBlock + t)] +=
          at(p, row, j) * exps[static_cast<std::size_t>(own + t)] / sum;
    }
  }
  if (!form.dense) return weights;
  const Index end = form.causal ? i + 1 : kLength;
  for (Index j = 0; j < end; ++j) dense_sum += std::exp(dot(input, head, i, j));
  for (Index j = 0; j < kLength; ++j) {
    double& weight = weights[static_cast<std::size_t>(j)];
    weight = (weight + (j < end ? std::exp(dot(input, head, i, j)) / dense_sum : 0)) / 2;
  }
  return weights;
}

void expect_equations(const Form& form) {
  const OperationInput input = make_input(form);
  const OperationResult result = evaluate(input, cpu_backend(), kMaps);
  Tensor attention({2, kLength, kLength}), output({2, kLength, input.v.dim(2)});
  for (Index head = 0; head < 2; ++head) {
    Matrix p = matching(scores(input, form, head), form);
    for (Index i = 0; i < kLength; ++i) {
      const std::vector<double> row = expected_row(input, form, p, head, i);
      for (Index c = 0; c < output.dim(2); ++c) {
        double sum = 0;
        for (Index j = 0; j < kLength; ++j) {
          sum += row[static_cast<std::size_t>(j)] * input.v.value()(head, j, c);
        }
        output(head, i, c) = static_cast<float>(sum);
      }
      for (Index j = 0; j < kLength; ++j) {
        attention(head, i, j) = static_cast<float>(row[static_cast<std::size_t>(j)]);
      }
    }
  }
  EXPECT_TRUE(close(result.attention, attention));
  EXPECT_TRUE(close(result.output.value(), output));
  EXPECT_TRUE(close(evaluate(input, cpu_backend(), {.output = true}).output.value(), output));
}

TEST(Sinkhorn, MatchesTheEquations) {
  for (const bool content : {false, true}) {
    for (const bool dense : {false, true}) {
      for (const bool causal : {false, true}) {
        SCOPED_TRACE(std::to_string(content) + std::to_string(dense) + std::to_string(causal));
        expect_equations({content, dense, causal});
      }
    }
  }
}

// Other tokens in a block change the matching, and with it the sorting of the text.
TEST(Sinkhorn, SortsByContent) {
  OperationInput input = make_input({.content = true});
  const auto matching_of = [](const OperationInput& x) {
    return evaluate(x, cpu_backend(), kMaps).extra.at("sinkhorn.matching");
  };
  const Tensor before = matching_of(input);
  Tensor x = input.x.value().copy();
  for (Index n = 0; n < x.dim(2); ++n) x(0, 4, n) += 2;
  input.x = x;
  EXPECT_TRUE(testing::differs(matching_of(input), before, 1e-3));
}

TEST(Sinkhorn, HidesLaterTokensInCausalOrder) {
  for (const bool dense : {false, true}) {
    OperationInput input = make_input({.content = true, .dense = dense, .causal = true});
    const Tensor before = evaluate(input, cpu_backend(), kMaps).output.value();
    for (const Index changed : {3, 7, 14}) {
      OperationInput other = input;
      for (Var* var : {&other.x, &other.q, &other.k, &other.v}) {
        Tensor numbers = var->value().copy();
        for (Index a = 0; a < numbers.dim(0); ++a) {
          for (Index n = 0; n < numbers.dim(2); ++n) numbers(a, changed, n) += 1;
        }
        *var = numbers;
      }
      const Tensor after = evaluate(other, cpu_backend(), kMaps).output.value();
      for (Index a = 0; a < before.dim(0); ++a) {
        for (Index i = 0; i < changed; ++i) {
          for (Index n = 0; n < before.dim(2); ++n) {
            ASSERT_EQ(before(a, i, n), after(a, i, n)) << changed << " " << i;
          }
        }
      }
    }
  }
}

TEST(Sinkhorn, RefusesCausalOrderWithoutItsForm) {
  const Choice plain = sinkhorn({});
  const std::string reason = refusal(plain, default_encoding(), true, {}, 0, 0);
  EXPECT_NE(reason.find("decoder=true"), std::string::npos) << reason;
  EXPECT_EQ(refusal(sinkhorn({.causal = true}), default_encoding(), true, {}, 0, 0), "");
}

TEST(CausalMatching, HasRowsThatSumToOneAndDependOnEarlierPlaces) {
  Tensor logits = testing::random_tensor({2, 6, 6}, 3, 2);
  const Tensor p = causal_matching(Var(logits), 5).value();
  for (Index number = 0; number < 2; ++number) {
    for (Index place = 0; place < 6; ++place) {
      double sum = 0;
      for (Index block = 0; block < 6; ++block) {
        sum += static_cast<double>(p(number, place, block));
        if (block >= place) {
          EXPECT_EQ(p(number, place, block), 0);
        }
      }
      EXPECT_NEAR(sum, place > 0 ? 1 : 0, 1e-6);
    }
  }
  Tensor changed = logits.copy();
  for (Index block = 0; block < 6; ++block) changed(1, 4, block) += 3;
  const Tensor q = causal_matching(Var(changed), 5).value();
  for (Index place = 0; place < 4; ++place) {
    for (Index block = 0; block < 6; ++block) EXPECT_EQ(p(1, place, block), q(1, place, block));
  }
  EXPECT_TRUE(testing::differs(p, q, 1e-3));
}

TEST(CausalMatching, ApproachesThePreviousBlock) {
  const Tensor p = causal_matching(Var(testing::random_tensor({1, 5, 5}, 3)), 3000).value();
  for (Index place = 1; place < 5; ++place) EXPECT_NEAR(p(0, place, place - 1), 1, 1e-2);
}

TEST(CausalMatching, StaysFiniteForLargeScores) {
  const Tensor p = causal_matching(Var(testing::random_tensor({1, 6, 6}, 4, 300)), 5).value();
  for (Index place = 1; place < 6; ++place) {
    double sum = 0;
    for (Index block = 0; block < 6; ++block) sum += static_cast<double>(p(0, place, block));
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST(CausalMatching, MatchesFiniteDifferences) {
  const Var logits = Var::parameter(testing::random_tensor({2, 5, 5}, 8));
  const Tensor direction = testing::random_tensor({2, 5, 5}, 9);
  backward(sum(multiply(causal_matching(logits, 3), Var(direction))));
  const auto projected = [&] {
    return testing::projected(causal_matching(Var(logits.value()), 3).value(), direction);
  };
  EXPECT_TRUE(testing::is_gradient(logits.gradient(), logits.value(), projected,
                                   {{1e-2f, 3e-3f}, 2e-3, 50}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
