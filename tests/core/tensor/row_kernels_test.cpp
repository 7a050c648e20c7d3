// Compares the row kernels of every available instruction set with scalar loops.
#include "core/tensor/row_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/compare.h"

namespace attnscope::cpu {
namespace ATTNSCOPE_FILE {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> random_numbers(Index count, std::uint64_t seed) {
  const Tensor t = testing::random_tensor({count}, seed);
  return {t.begin(), t.end()};
}

// Parametrised by instruction set.
class RowKernelsTest : public ::testing::TestWithParam<const RowKernels*> {
 protected:
  const RowKernels& kernels() const { return *GetParam(); }
};

TEST_P(RowKernelsTest, MultipliesMatricesOfAllSizes) {
  for (const Index m : {1, 3, 4, 7, 8, 9, 17, 64}) {
    for (const Index n : {1, 3, 4, 5, 8, 15, 16, 31, 32, 33, 67}) {
      for (const Index k : {0, 1, 2, 13, 64}) {
        for (const bool transposed : {false, true}) {
          for (const bool add : {false, true}) {
            const auto a = random_numbers(m * k, 1), b = random_numbers(k * n, 2);
            const Index row = n + 3;  // row stride of c; the gaps after rows must stay unchanged
            auto c = random_numbers(m * row, 3);
            const auto before = c;
            kernels().multiply(m, n, k, a.data(), transposed ? 1 : k, transposed ? m : 1, b.data(),
                               n, c.data(), row, add);
            for (Index r = 0; r < m; ++r) {
              for (Index x = 0; x < row; ++x) {
                const auto index = static_cast<std::size_t>(r * row + x);
                double sum = add || x >= n ? before[index] : 0;
                for (Index t = 0; t < k && x < n; ++t) {
                  sum += static_cast<double>(
                             a[static_cast<std::size_t>(transposed ? t * m + r : r * k + t)]) *
                         b[static_cast<std::size_t>(t * n + x)];
                }
                ASSERT_TRUE(std::abs(c[index] - sum) <= 4e-5)
                    << m << " " << n << " " << k << " at " << r << " " << x;
              }
            }
          }
        }
      }
    }
  }
}

TEST_P(RowKernelsTest, SelectsRowsByIndex) {
  constexpr Index rows = 50;
  for (const Index size : {1, 5, 16, 33, 64, 100}) {
    for (const Index count : {0, 1, 3, 4, 11, 16, 37}) {
      const auto a = random_numbers(size, 1), matrix = random_numbers(rows * size, 2),
                 p = random_numbers(count, 3);
      std::vector<std::int32_t> indices;
      for (Index x = 0; x < count; ++x) indices.push_back(static_cast<std::int32_t>(x * 13 % rows));
      for (const bool add : {false, true}) {
        auto s = random_numbers(count, 4);
        const auto before = s;
        kernels().dots(a.data(), matrix.data(), indices.data(), count, size, s.data(), add);
        for (std::size_t x = 0; x < s.size(); ++x) {
          double product = add ? before[x] : 0;
          for (Index t = 0; t < size; ++t) {
            product += static_cast<double>(a[static_cast<std::size_t>(t)]) *
                       matrix[static_cast<std::size_t>(indices[x] * size + t)];
          }
          ASSERT_TRUE(std::abs(s[x] - product) <= 4e-5) << size << " " << x;
        }
      }
      auto sum = random_numbers(size, 5);
      const auto before = sum;
      kernels().sum_rows(p.data(), matrix.data(), indices.data(), count, size, sum.data());
      for (std::size_t t = 0; t < sum.size(); ++t) {
        double expected = before[t];
        for (std::size_t x = 0; x < p.size(); ++x) {
          expected +=
              static_cast<double>(p[x]) * matrix[static_cast<std::size_t>(indices[x] * size) + t];
        }
        ASSERT_TRUE(std::abs(sum[t] - expected) <= 4e-5) << size << " " << t;
      }
    }
  }
}

TEST_P(RowKernelsTest, GathersAndScattersRows) {
  constexpr Index rows = 50;
  for (const Index size : {1, 5, 16, 33, 64, 100}) {
    for (const Index count : {0, 1, 9, 37}) {
      const auto row = random_numbers(size, 1), matrix = random_numbers(rows * size, 2),
                 p = random_numbers(count, 3);
      std::vector<std::int32_t> indices;
      for (Index x = 0; x < count; ++x) indices.push_back(static_cast<std::int32_t>(x * 13 % rows));
      std::vector<float> gathered(static_cast<std::size_t>(count * size));
      kernels().gather(matrix.data(), indices.data(), count, size, gathered.data());
      auto sums = matrix, scaled_sums = matrix;
      kernels().scatter(sums.data(), indices.data(), count, size, gathered.data());
      kernels().scatter_scaled(scaled_sums.data(), indices.data(), count, size, p.data(),
                               row.data());
      auto expected_sums = matrix, expected_scaled = matrix;
      for (std::size_t x = 0; x < indices.size(); ++x) {
        for (std::size_t t = 0; t < row.size(); ++t) {
          const std::size_t index = static_cast<std::size_t>(indices[x]) * row.size() + t;
          ASSERT_EQ(gathered[x * row.size() + t], matrix[index]) << size << " " << x;
          expected_sums[index] += matrix[index];
          expected_scaled[index] += p[x] * row[t];
        }
      }
      for (std::size_t index = 0; index < matrix.size(); ++index) {
        ASSERT_TRUE(std::abs(sums[index] - expected_sums[index]) <= 1e-6F) << size << " " << index;
        ASSERT_TRUE(std::abs(scaled_sums[index] - expected_scaled[index]) <= 1e-6F)
            << size << " " << index;
      }
    }
  }
}

TEST_P(RowKernelsTest, ComputesPowersOfProducts) {
  constexpr Index size = 13, panels = 3, width = panels * panel_width;
  struct Case {
    Index m, begin, end;
  };
  for (const auto& [m, begin, end] :
       {Case{1, 0, width}, Case{3, 0, width}, Case{4, 0, width}, Case{7, 0, width},
        Case{8, 0, width}, Case{8, 16, 80}, Case{7, 32, 48}, Case{8, 48, 96}, Case{3, 0, 16},
        Case{8, 32, 32}}) {
    const auto a = random_numbers(m * size, 1), columns = random_numbers(width * size, 2);
    std::vector<float> packed(columns.size());
    for (Index panel = 0; panel < panels; ++panel) {
      std::vector<const float*> rows;
      for (Index x = 0; x < panel_width; ++x) {
        rows.push_back(columns.data() + (panel * panel_width + x) * size);
      }
      kernels().pack(rows.data(), panel_width, size, packed.data() + panel * panel_width * size);
    }
    std::vector<float> shift;
    std::vector<std::int32_t> first, last;
    for (Index r = 0; r < m; ++r) {
      shift.push_back(static_cast<float>(3 * r - 4));
      // Full, partial and empty ranges of columns.
      first.push_back(static_cast<std::int32_t>(r == 1 ? -5 : 11 * r));
      last.push_back(static_cast<std::int32_t>(r == 2 ? first.back() : 200 - 16 * r));
    }
    constexpr Index row = width + 5;
    auto p = random_numbers(m * row, 3), sums = random_numbers(m * sum_lanes, 4);
    const auto p_before = p, sums_before = sums;
    kernels().powers(m, begin, end, size, a.data(), size, packed.data(), shift.data(), first.data(),
                     last.data(), p.data(), row, sums.data());
    for (Index r = 0; r < m; ++r) {
      const auto n = static_cast<std::size_t>(r);
      double expected_sum = 0, sum = 0;
      for (Index x = 0; x < row; ++x) {
        const auto index = static_cast<std::size_t>(r * row + x);
        if (x < begin || x >= end) {
          ASSERT_EQ(p[index], p_before[index]);
          continue;
        }
        double expected = 0;
        if (x >= first[n] && x < last[n]) {
          double product = 0;
          for (Index t = 0; t < size; ++t) {
            product += static_cast<double>(a[static_cast<std::size_t>(r * size + t)]) *
                       columns[static_cast<std::size_t>(x * size + t)];
          }
          expected = std::exp2(product - static_cast<double>(shift[n]));
        }
        expected_sum += expected;
        ASSERT_TRUE(std::abs(p[index] - expected) <= 1e-5 * expected) << m << ": " << r << " " << x;
      }
      for (std::size_t l = 0; l < sum_lanes; ++l) {
        sum += static_cast<double>(sums[n * sum_lanes + l]) - sums_before[n * sum_lanes + l];
      }
      EXPECT_TRUE(std::abs(sum - expected_sum) <= 1e-5 * (expected_sum + 10)) << m << ": " << r;
    }
  }
}

TEST_P(RowKernelsTest, ComputesPowersAtExponentLimits) {
  for (const float exponent : {-126.0F, -63.0F, 0.0F, 63.0F, 126.0F}) {
    std::vector<float> a{exponent}, panel(panel_width, 1.0F), p(panel_width), sums(sum_lanes);
    const float shift = 0;
    const std::int32_t first = 0, last = 1;
    kernels().powers(1, 0, panel_width, 1, a.data(), 1, panel.data(), &shift, &first, &last,
                     p.data(), panel_width, sums.data());
    EXPECT_EQ(p[0], std::exp2(exponent));
    EXPECT_EQ(p[1], 0);
  }
}

TEST_P(RowKernelsTest, PoolsPairsInPlace) {
  for (const Index n : {0, 1, 7, 16, 33, 100}) {
    const auto x = random_numbers(2 * n, 1);
    auto maxima = x, sums = x;
    kernels().max_of_pairs(maxima.data(), maxima.data(), n);
    kernels().sum_of_pairs(sums.data(), sums.data(), n);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      EXPECT_EQ(maxima[i], std::max(x[2 * i], x[2 * i + 1]));
      EXPECT_EQ(sums[i], x[2 * i] + x[2 * i + 1]);
    }
  }
}

TEST_P(RowKernelsTest, UpdatesMaximum) {
  for (const Index n : {0, 1, 7, 16, 33, 100}) {
    auto maxima = random_numbers(n, 1);
    const auto before = maxima, x = random_numbers(n, 2);
    kernels().update_maximum(maxima.data(), x.data(), n, 0.25F);
    for (std::size_t i = 0; i < maxima.size(); ++i) {
      EXPECT_EQ(maxima[i], std::max(before[i], x[i] - 0.25F));
    }
  }
  float maximum = -infinity;
  const float hidden = -infinity;
  kernels().update_maximum(&maximum, &hidden, 1, 3);
  EXPECT_EQ(maximum, -infinity);
}

TEST_P(RowKernelsTest, PacksRowsIntoPanels) {
  for (const Index count : {1, 3, 4, 7, 31, 32}) {
    for (const Index size : {1, 4, 5, 64}) {
      const auto rows = random_numbers(count * size, 1);
      std::vector<const float*> pointers;
      for (Index x = 0; x < count; ++x) pointers.push_back(rows.data() + x * size);
      auto panel = random_numbers(size * panel_width, 2);
      kernels().pack(pointers.data(), count, size, panel.data());
      for (Index t = 0; t < size; ++t) {
        for (Index x = 0; x < panel_width; ++x) {
          const float expected = x < count ? rows[static_cast<std::size_t>(x * size + t)] : 0;
          ASSERT_EQ(panel[static_cast<std::size_t>(t * panel_width + x)], expected);
        }
      }
    }
  }
}

TEST_P(RowKernelsTest, ExponentialsAreExact) {
  std::vector<float> x;
  for (float v = -20; v <= 0; v += 0.00173F) x.push_back(v);
  std::vector<float> e = x;
  double expected_sum = 0;
  const float sum = kernels().exponentials(e.data(), static_cast<Index>(e.size()), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp(static_cast<double>(x[i]));
    expected_sum += expected;
    ASSERT_TRUE(std::abs(e[i] - expected) <= 2e-6 * expected) << x[i];
  }
  EXPECT_TRUE(std::abs(sum - expected_sum) <= 1e-5 * expected_sum);
}

TEST_P(RowKernelsTest, ExponentialsOfExtremeValuesAreZeroOrOne) {
  constexpr float largest = std::numeric_limits<float>::max();
  for (const float shift : {0.0F, 1.0F, -3.5F, largest, -largest}) {
    std::vector<float> x{-infinity, -largest, shift, -infinity, -largest};
    for (Index n = 0; n < 40; ++n) x.push_back(-infinity);
    const float sum = kernels().exponentials(x.data(), static_cast<Index>(x.size()), shift);
    EXPECT_EQ(x[0], 0);
    EXPECT_EQ(x[1], shift == -largest ? 1 : 0);
    EXPECT_EQ(x[2], 1);
    EXPECT_EQ(x.back(), 0);
    EXPECT_EQ(sum, shift == -largest ? 3 : 1);
  }
}

TEST_P(RowKernelsTest, GeluMatchesItsDefinition) {
  for (const Index n : {0, 3, 16, 203}) {
    std::vector<float> x;
    for (Index i = 0; i < n; ++i) x.push_back(-10 + 20 * static_cast<float>(i) / 203);
    if (n > 3) x[1] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> gradient = random_numbers(n, 3), before = random_numbers(n, 4);
    std::vector<float> result(x.size()), slope = before, sum = before;
    kernels().gelu(result.data(), x.data(), n);
    kernels().gelu_gradient(slope.data(), gradient.data(), x.data(), n, false);
    kernels().gelu_gradient(sum.data(), gradient.data(), x.data(), n, true);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto v = static_cast<double>(x[i]);
      if (std::isnan(v)) {
        EXPECT_TRUE(std::isnan(result[i]) && std::isnan(slope[i]) && std::isnan(sum[i]));
        continue;
      }
      const double share = 0.5 * std::erfc(-v / std::sqrt(2.0));
      const double derivative = share + v * std::exp(-v * v / 2) / std::sqrt(2 * M_PI);
      EXPECT_NEAR(result[i], v * share, 2e-6) << v;
      EXPECT_NEAR(slope[i], gradient[i] * derivative, 3e-6) << v;
      EXPECT_NEAR(sum[i], before[i] + gradient[i] * derivative, 3e-6) << v;
    }
  }
}

TEST_P(RowKernelsTest, HandlesAllRowLengths) {
  for (const Index n : {0, 1, 5, 16, 17, 33, 100}) {
    const auto x = random_numbers(n, 1), y = random_numbers(n, 2);
    EXPECT_EQ(kernels().maximum(x.data(), n),
              n == 0 ? -infinity : *std::max_element(x.begin(), x.end()));
    for (Index bad = 0; bad < n; ++bad) {
      auto with_nan = x;
      with_nan[static_cast<std::size_t>(bad)] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_EQ(kernels().maximum(with_nan.data(), n), infinity) << bad << " of " << n;
    }
    double dot = 0;
    auto scaled = x, added = x, gradient = x;
    auto copied = y, stored = y;
    kernels().scale(scaled.data(), n, 2.5F);
    kernels().scale_to(copied.data(), x.data(), n, 2.5F);
    kernels().scale_to_memory(stored.data(), x.data(), n, 2.5F);
    double total = 0;
    kernels().add_scaled(added.data(), y.data(), n, 2.5F);
    kernels().softmax_gradient(gradient.data(), y.data(), n, 0.5F);
    for (std::size_t i = 0; i < x.size(); ++i) {
      dot += static_cast<double>(x[i]) * y[i];
      total += x[i];
      EXPECT_FLOAT_EQ(copied[i], 2.5F * x[i]);
      EXPECT_FLOAT_EQ(stored[i], 2.5F * x[i]);
      EXPECT_FLOAT_EQ(scaled[i], 2.5F * x[i]);
      EXPECT_NEAR(added[i], x[i] + 2.5F * y[i], 1e-5);
      EXPECT_NEAR(gradient[i], y[i] * (x[i] - 0.5F), 1e-5);
    }
    EXPECT_NEAR(kernels().dot(x.data(), y.data(), n), dot, 1e-4);
    EXPECT_NEAR(kernels().sum(x.data(), n), total, 1e-4);
  }
}

TEST_P(RowKernelsTest, FourDotsEqualSingleDots) {
  for (const Index n : {0, 1, 5, 16, 17, 33, 100}) {
    const Index row = n + 3;
    const auto x = random_numbers(n, 1), rows = random_numbers(4 * row, 2);
    float four[4];
    kernels().four_dots(x.data(), rows.data(), row, n, four);
    for (Index r = 0; r < 4; ++r) {
      EXPECT_EQ(four[r], kernels().dot(x.data(), rows.data() + r * row, n)) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, RowKernelsTest,
                         ::testing::ValuesIn(all_row_kernels().begin(), all_row_kernels().end()),
                         [](const auto& info) {
                           std::string name = info.param->name;
                           std::erase_if(name, [](char c) { return c == '-'; });
                           return name;
                         });

TEST(RowKernels, SelectsWidestInstructionSet) {
  EXPECT_EQ(&row_kernels(), all_row_kernels().end()[-1]);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::cpu
