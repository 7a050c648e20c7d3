#include "core/analysis/flow.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Rollout, OneLayerIsTheMeanWithTheResidual) {
  const Tensor a = Tensor::from({2, 2}, {1, 0, 0.5f, 0.5f});
  EXPECT_TRUE(testing::close(attention_rollout({a}), Tensor::from({2, 2}, {1, 0, 0.25f, 0.75f})));
}

TEST(Rollout, LaterLayersMultiplyFromTheLeft) {
  const Tensor first = Tensor::from({2, 2}, {1, 0, 1, 0});   // with residual: 1 0 / .5 .5
  const Tensor second = Tensor::from({2, 2}, {0, 1, 0, 1});  // with residual: .5 .5 / 0 1
  EXPECT_TRUE(testing::close(attention_rollout({first, second}),
                             Tensor::from({2, 2}, {0.75f, 0.25f, 0.5f, 0.5f})));
}

TEST(Rollout, MaskedRowsKeepThemselves) {
  EXPECT_TRUE(testing::close(attention_rollout({Tensor::zeros({2, 2})}),
                             Tensor::from({2, 2}, {1, 0, 0, 1})));
}

TEST(Rollout, RejectsMapsThatAreNotSquareOrDiffer) {
  EXPECT_THROW(attention_rollout({}), InputError);
  EXPECT_THROW(attention_rollout({Tensor::zeros({2, 3})}), InputError);
  EXPECT_THROW(attention_rollout({Tensor::zeros({2, 2}), Tensor::zeros({3, 3})}), InputError);
}

// A band of width 1 reaches one more position per layer.
TEST(Reachability, BandWidensByItsWindowPerLayer) {
  PatternBuilder builder(1, 6, 6, {"window"});
  for (Index i = 0; i < 6; ++i) {
    builder.add(0, i - 1, i + 1);
    builder.next_row();
  }
  const Pattern band = builder.finish();
  const IntTensor reached = reachability({{&band}, {&band}, {&band}});
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) {
      const Index distance = i - j;
      EXPECT_EQ(reached(i, j), distance < 0 || distance > 3 ? -1 : distance) << i << " " << j;
    }
  }
}

TEST(Reachability, RejectsPatternsOfOtherSizes) {
  const Pattern small = Pattern::all(2, 2), large = Pattern::all(3, 3);
  EXPECT_THROW(reachability({{&small}, {&large}}), InputError);
  EXPECT_THROW(reachability({}), InputError);
}

// Compares many rows with the explicit matrix product.
TEST(Rollout, MatchesMatrixProductForLongTexts) {
  const Index size = 70;
  std::vector<Tensor> layers;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Tensor layer = testing::random_tensor({size, size}, seed);
    for (float& w : layer) w = std::abs(w);
    layers.push_back(layer);
  }
  std::vector<double> flow(static_cast<std::size_t>(size * size));
  for (Index i = 0; i < size; ++i) flow[static_cast<std::size_t>(i * size + i)] = 1;
  for (const Tensor& layer : layers) {
    std::vector<double> next(flow.size());
    for (Index i = 0; i < size; ++i) {
      double sum = 1;
      for (Index j = 0; j < size; ++j) sum += static_cast<double>(layer(i, j));
      for (Index k = 0; k < size; ++k) {
        const double weight = (static_cast<double>(layer(i, k)) + (i == k ? 1 : 0)) / sum;
        for (Index j = 0; j < size; ++j) {
          next[static_cast<std::size_t>(i * size + j)] +=
              weight * flow[static_cast<std::size_t>(k * size + j)];
        }
      }
    }
    flow = next;
  }
  const Tensor result = attention_rollout(layers);
  for (Index n = 0; n < result.size(); ++n) {
    EXPECT_NEAR(result[n], flow[static_cast<std::size_t>(n)], 1e-5);
  }
}

// Covers more positions than bits in a word, several heads and patterns per layer, stepped runs.
TEST(Reachability, MatchesPathsOfPairs) {
  for (const Index size : {5, 64, 65, 130}) {
    PatternBuilder strided(2, size, size, {"some"}), back(1, size, size, {"some"});
    for (Index head = 0; head < 2; ++head) {
      for (Index i = 0; i < size; ++i) {
        if (head == 0) strided.add(0, i % 3, i, 3);
        if (head == 1 && i > 0) strided.add_column(0, i * 7 % size);
        strided.next_row();
      }
    }
    for (Index i = 0; i < size; ++i) {
      back.add(0, i - 2, i);
      back.next_row();
    }
    const Pattern a = strided.finish(), b = back.finish();
    const std::vector<std::vector<const Pattern*>> layers{{&b}, {&a, &b}, {&a}, {&b}};
    const IntTensor result = reachability(layers);
    std::vector<std::vector<Index>> first(static_cast<std::size_t>(size),
                                          std::vector<Index>(static_cast<std::size_t>(size), -1));
    for (std::size_t i = 0; i < first.size(); ++i) first[i][i] = 0;
    for (std::size_t depth = 0; depth < layers.size(); ++depth) {
      const auto previous = first;
      for (Index i = 0; i < size; ++i) {
        for (const Pattern* pattern : layers[depth]) {
          for (Index head = 0; head < pattern->heads(); ++head) {
            for (Index k = 0; k < size; ++k) {
              if (!pattern->allowed(head, i, k)) continue;
              for (std::size_t j = 0; j < first.size(); ++j) {
                Index& reached = first[static_cast<std::size_t>(i)][j];
                const bool is_reached = previous[static_cast<std::size_t>(k)][j] >= 0;
                if (is_reached && reached < 0) reached = static_cast<Index>(depth) + 1;
              }
            }
          }
        }
      }
    }
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < size; ++j) {
        ASSERT_EQ(result(i, j), first[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
      }
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
