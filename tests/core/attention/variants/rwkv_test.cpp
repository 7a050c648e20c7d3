// RWKV-4 (spec.md, section 4.4), against the equations in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/attention/variant.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;

constexpr ResultRequest kMaps{.output = true, .attention = true};

testing::OperationSizes equal_sizes() {
  testing::OperationSizes sizes;
  sizes.value = sizes.key;
  return sizes;
}

OperationInput rwkv_input(bool has_shift, const testing::OperationSizes& sizes) {
  const Choice choice = variant_from_json({{"type", "rwkv"}, {"shift", has_shift}}, "variant");
  return testing::random_operation(sizes, choice, default_encoding(), true, 4);
}

// Reference that evaluates every weight of every channel from its definition.
struct Reference {
  explicit Reference(const OperationInput& operation)
      : input(operation), has_shift(operation.variant.values.flag("shift")) {}

  // Number c of token t, after the token shift.
  double mixed(const Var& x, const char* mix, Index head, Index t, Index c) const {
    const Index row = head * x.dim(0) / input.heads;
    const auto at = [&](Index i) { return static_cast<double>(x.value()(row, i, c)); };
    if (!has_shift) return at(t);
    const double share = static_cast<double>(input.weights.at(mix).value()(head, c));
    return share * at(t) + (1 - share) * (t == 0 ? 0 : at(t - 1));
  }
  double key(Index head, Index t, Index c) const {
    return mixed(input.k, "rwkv.mix_k", head, t, c);
  }
  double parameter(const char* name, Index head, Index c) const {
    return static_cast<double>(input.weights.at(name).value()(head, c));
  }

  // Weights of query i on the tokens 0 .. i, in channel c.
  std::vector<double> weights(Index head, Index i, Index c) const {
    const double rate = std::exp(parameter("rwkv.decay", head, c));
    std::vector<double> a;
    double most = -1e300, sum = 0;
    for (Index j = 0; j <= i; ++j) {
      a.push_back(j == i ? parameter("rwkv.bonus", head, c) + key(head, i, c)
                         : key(head, j, c) - static_cast<double>(i - 1 - j) * rate);
      most = std::max(most, a.back());
    }
    for (double& x : a) sum += x = std::exp(x - most);
    for (double& x : a) x /= sum;
    return a;
  }

  const OperationInput& input;
  bool has_shift;
};

void expect_equation(const OperationInput& input) {
  const Reference reference(input);
  const OperationResult result = evaluate(input, cpu_backend(), kMaps);
  const Index heads = input.heads, length = input.q.dim(1), size = input.q.dim(2);
  Tensor attention = Tensor::zeros({heads, length, length}), output({heads, length, size});
  for (Index head = 0; head < heads; ++head) {
    for (Index i = 0; i < length; ++i) {
      std::vector<double> means(static_cast<std::size_t>(length));
      for (Index c = 0; c < size; ++c) {
        const std::vector<double> a = reference.weights(head, i, c);
        double sum = 0;
        for (Index j = 0; j <= i; ++j) {
          const auto index = static_cast<std::size_t>(j);
          sum += a[index] * reference.mixed(input.v, "rwkv.mix_v", head, j, c);
          means[index] += a[index] / static_cast<double>(size);
        }
        const double r = reference.mixed(input.q, "rwkv.mix_r", head, i, c);
        output(head, i, c) = static_cast<float>(sum / (1 + std::exp(-r)));
      }
      for (Index j = 0; j <= i; ++j) {
        attention(head, i, j) = static_cast<float>(means[static_cast<std::size_t>(j)]);
      }
    }
  }
  EXPECT_TRUE(close(result.output.value(), output, 2e-6));
  EXPECT_TRUE(close(result.attention, attention, 2e-6));
}

TEST(Rwkv, MatchesTheEquations) {
  for (const bool has_shift : {true, false}) {
    for (const Index kv_heads : {1, 2}) {
      for (const Index length : {1, 2, 40}) {
        testing::OperationSizes sizes = equal_sizes();
        sizes.kv_heads = kv_heads;
        sizes.length = length;
        expect_equation(rwkv_input(has_shift, sizes));
      }
    }
  }
}

// Keys whose exponentials exceed the range of double precision, and extreme decays.
TEST(Rwkv, StaysFiniteWithHugeKeysAndDecays) {
  OperationInput input = rwkv_input(false, equal_sizes());
  Tensor keys = input.k.value().copy();
  for (float& x : keys) x *= 1000;
  input.k = keys;
  expect_equation(input);
  input.weights["rwkv.decay"] = Tensor::full({2, 4}, 7);
  expect_equation(input);
  input.weights["rwkv.decay"] = Tensor::full({2, 4}, -100);  // no decay
  expect_equation(input);
}

TEST(Rwkv, RefusesBidirectionalOrderAndUnequalSizes) {
  const Choice choice = variant_from_json({{"type", "rwkv"}}, "variant");
  const std::string direction = refusal(choice, default_encoding(), false, {}, 9, 9);
  EXPECT_TRUE(direction.starts_with("causal: expected true, found false")) << direction;
  Dimensions sizes;
  sizes.key = 4;
  sizes.value = 3;
  const std::string values = refusal(choice, default_encoding(), true, sizes, 9, 9);
  EXPECT_TRUE(values.starts_with("v: expected as many numbers per head as k")) << values;
  sizes.value = 4;
  EXPECT_EQ(refusal(choice, default_encoding(), true, sizes, 9, 9), "");
}

// Tiles are computed on demand; they agree with the pooled map.
TEST(Rwkv, TilesMatchMaps) {
  testing::OperationSizes sizes = equal_sizes();
  sizes.length = 43;
  for (const char* json : {R"({"type": "rwkv"})", R"({"type": "mamba"})"}) {
    const Choice choice = variant_from_json(Json::parse(json), "variant");
    const OperationInput input =
        testing::random_operation(sizes, choice, default_encoding(), true, 4);
    const Tensor map = evaluate(input, cpu_backend(), kMaps).attention;
    const OperationResult tiled = evaluate(input, cpu_backend(), {.output = true, .tiles = true});
    ASSERT_NE(tiled.tiles, nullptr);
    EXPECT_FALSE(tiled.attention.defined());
    for (const Pooling pooling : {Pooling::Max, Pooling::Mean}) {
      for (const Index step : {1, 3, 20}) {
        const TileRequest request{1, 2, 5, 41, 33, step, pooling};
        const Tensor cells = tiled.tiles->tile(request);
        for (Index y = 0; y < request.cell_rows(); ++y) {
          for (Index x = 0; x < request.cell_columns(); ++x) {
            double sum = 0, strongest = 0;
            Index count = 0;
            for (Index i = 2 + y * step; i < std::min<Index>(43, 2 + (y + 1) * step); ++i) {
              for (Index j = 5 + x * step; j < std::min<Index>(38, 5 + (x + 1) * step); ++j) {
                const auto weight = static_cast<double>(map(1, i, j));
                if (std::abs(weight) > std::abs(strongest)) strongest = weight;
                sum += weight;
                ++count;
              }
            }
            const double expected =
                pooling == Pooling::Max ? strongest : sum / static_cast<double>(count);
            EXPECT_TRUE(std::abs(static_cast<double>(cells(y, x)) - expected) <= 1e-6)
                << json << " " << y << " " << x;
          }
        }
      }
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
