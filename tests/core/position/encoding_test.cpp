// Compares every encoding with its equation in double precision. Pair encodings are evaluated pair
// by pair. Queries and keys differ in number and may have different positions.
#include "core/position/encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/attention/backend.h"
#include "core/attention/variant.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/position/t5_bucket.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::random_tensor;

constexpr Index kHeads = 3, kKey = 6, kModel = 8, kQueries = 7, kKeys = 9;

struct TestCase {
  NamedVars weights;
  Tensor q, k, v;
  std::vector<std::int32_t> pos_q, pos_k;
  bool causal = false;

  double dot(Index a, Index i, Index c) const {
    double sum = 0;
    for (Index n = 0; n < kKey; ++n) sum += static_cast<double>(q(a, i, n)) * k(a, c, n);
    return sum;
  }
  const Tensor& weight(const char* name) const { return weights.find(name)->second.value(); }
  Index offset(Index i, Index c) const {
    return pos_q[static_cast<std::size_t>(i)] - pos_k[static_cast<std::size_t>(c)];
  }
};

// Score of query i and key c in head a, including the score scale.
using Score = std::function<double(const TestCase&, Index a, Index i, Index c)>;

const double kScale = 1 / std::sqrt(static_cast<double>(kKey));

Index clamp(Index x, Index min, Index max) {
  return std::min(std::max(x, min), max);
}

Tensor scores_of(const TestCase& s, const Choice& choice, std::optional<float> scale) {
  Part part;
  part.heads = kHeads;
  part.q = s.q;
  part.k = s.k;
  part.v = s.v;
  part.pos_q = s.pos_q;
  part.pos_k = s.pos_k;
  part.scale = scale.value_or(static_cast<float>(kScale));
  part.pattern = std::make_shared<const Pattern>(Pattern::all(kQueries, kKeys));
  Dimensions sizes = free_dimensions(kHeads, kHeads, kKey, kKey);
  check_weights(encoding(choice.id), choice.values, sizes, s.weights);
  encoding(choice.id).apply(part, {.values = choice.values,
                                   .weights = s.weights,
                                   .dimensions = sizes,
                                   .causal = s.causal,
                                   .scale = scale});
  return cpu_backend().run(part, {.output = true, .scores = true}).scores;
}

void expect_scores(const char* json, const Score& score, bool causal = false) {
  SCOPED_TRACE(json);
  const Choice choice = encoding_from_json(Json::parse(json), "position");
  for (const std::int32_t shift : {0, -4, 11}) {  // added to the positions of keys
    TestCase s;
    s.causal = causal;
    s.q = random_tensor({kHeads, kQueries, kKey}, 1);
    s.k = random_tensor({kHeads, kKeys, kKey}, 2);
    s.v = random_tensor({kHeads, kKeys, kKey}, 3);
    for (std::int32_t i = 0; i < kQueries; ++i) s.pos_q.push_back(i);
    for (std::int32_t c = 0; c < kKeys; ++c) s.pos_k.push_back(c + shift);
    const Encoding& e = encoding(choice.id);
    if (e.absolute && shift != 0) continue;
    Dimensions sizes{.model = kModel,
                     .heads = kHeads,
                     .kv_heads = kHeads,
                     .key = kKey,
                     .value = kKey,
                     .context = 12};
    std::uint64_t seed = 10;
    for (const WeightInfo& w : e.weights) {
      s.weights[w.name] = random_tensor(w.shape(sizes, choice.values), ++seed, 0.7);
    }
    Tensor expected({kHeads, kQueries, kKeys});
    for (Index a = 0; a < kHeads; ++a) {
      for (Index i = 0; i < kQueries; ++i) {
        for (Index c = 0; c < kKeys; ++c) {
          expected(a, i, c) = static_cast<float>(score(s, a, i, c));
        }
      }
    }
    EXPECT_TRUE(close(scores_of(s, choice, std::nullopt), expected, 5e-6)) << "shift " << shift;
  }
}

double wave(double position, Index n, Index d, double base) {
  const double frequency = std::pow(base, -static_cast<double>(n / 2 * 2) / static_cast<double>(d));
  return n % 2 == 0 ? std::sin(position * frequency) : std::cos(position * frequency);
}

// Returns the dot product of x and (row @ w + b), where w and b are restricted to the columns of
// head a.
double projected_product(const std::function<double(Index)>& x,
                         const std::function<double(Index)>& row, const Tensor& w, Index a,
                         const Tensor* b = nullptr) {
  double sum = 0;
  for (Index n = 0; n < kKey; ++n) {
    double y = b != nullptr ? static_cast<double>((*b)[a * kKey + n]) : 0;
    for (Index m = 0; m < w.dim(0); ++m) y += row(m) * w(m, a * kKey + n);
    sum += x(n) * y;
  }
  return sum;
}

// Without a model width, row and column vectors may have different widths, so their shapes contain
// different negative placeholders.
TEST(Encoding, AxialWidthsAreUnconstrainedWithoutModel) {
  const Choice choice =
      encoding_from_json(Json::parse(R"({"type": "learned", "columns": 4, "row_width": 6})"), "e");
  const auto shape = [&](const std::string& name, const Dimensions& n) {
    const auto& weights = encoding("learned").weights;
    return std::ranges::find(weights, name, &WeightInfo::name)->shape(n, choice.values);
  };
  const Dimensions no_model{.context = 10}, model_of_16{.model = 16, .context = 10};
  EXPECT_EQ(shape("pos.row", model_of_16), (Shape{3, 6}));
  EXPECT_EQ(shape("pos.column", model_of_16), (Shape{4, 10}));
  EXPECT_EQ(shape("pos.row", no_model)[0], 3);
  EXPECT_EQ(shape("pos.column", no_model)[0], 4);
  EXPECT_LT(shape("pos.row", no_model)[1], 0);
  EXPECT_LT(shape("pos.column", no_model)[1], 0);
  EXPECT_NE(shape("pos.row", no_model)[1], shape("pos.column", no_model)[1]);
}

TEST(Encoding, AlibiMatchesItsEquation) {
  expect_scores(R"({"type": "alibi", "slopes": [0.5, -0.25, 2]})", [](const TestCase& s, Index a,
                                                                      Index i, Index c) {
    const double slopes[] = {0.5, -0.25, 2};
    return kScale * s.dot(a, i, c) - slopes[a] * static_cast<double>(std::abs(s.offset(i, c)));
  });
  // Three heads have the two slopes for two heads and the first slope for four heads.
  expect_scores(R"({"type": "alibi"})", [](const TestCase& s, Index a, Index i, Index c) {
    const double slopes[] = {std::exp2(-4), std::exp2(-8), std::exp2(-2)};
    return kScale * s.dot(a, i, c) - slopes[a] * static_cast<double>(std::abs(s.offset(i, c)));
  });
}

TEST(Encoding, RopeMatchesItsEquation) {
  struct Form {
    const char* json;
    double base;
    Index dims;
    bool is_interleaved;
    double factor, shift;
  };
  for (const Form& form : {Form{R"({"type": "rope"})", 10000, 6, true, 1, 0},
                           Form{R"({"type": "rope", "dims": 4, "style": "half", "base": 50,
                                    "factor": 2.5, "offset": 3})",
                                50, 4, false, 2.5, 3},
                           Form{R"({"type": "rope", "dims": 2})", 10000, 2, true, 1, 0}}) {
    expect_scores(form.json, [form](const TestCase& s, Index a, Index i, Index c) {
      const auto rotated = [&](const Tensor& x, Index row, double position, Index n) {
        if (n >= form.dims) return static_cast<double>(x(a, row, n));
        const Index half = form.dims / 2;
        const Index t = form.is_interleaved ? n / 2 : n % half;
        const Index even = form.is_interleaved ? 2 * t : t,
                    odd = form.is_interleaved ? even + 1 : t + half;
        const double angle =
            (position + form.shift) / form.factor *
            std::pow(form.base, -2.0 * static_cast<double>(t) / static_cast<double>(form.dims));
        const double p = x(a, row, even), r = x(a, row, odd);
        return n == even ? p * std::cos(angle) - r * std::sin(angle)
                         : p * std::sin(angle) + r * std::cos(angle);
      };
      double sum = 0;
      for (Index n = 0; n < kKey; ++n) {
        sum += rotated(s.q, i, s.pos_q[static_cast<std::size_t>(i)], n) *
               rotated(s.k, c, s.pos_k[static_cast<std::size_t>(c)], n);
      }
      return kScale * sum;
    });
  }
}

TEST(Encoding, BiasesAndFactorsMatchTheirEquations) {
  expect_scores(
      R"({"type": "relative_bias", "clip": 3})", [](const TestCase& s, Index a, Index i, Index c) {
        return kScale * s.dot(a, i, c) + s.weight("pos.bias")(a, clamp(-s.offset(i, c), -3, 3) + 3);
      });
  for (const Index width : {1, 3, 4, 20}) {
    const std::string json =
        R"({"type": "relative_bias_2d", "clip": 2, "width": )" + std::to_string(width) + "}";
    expect_scores(json.c_str(), [width](const TestCase& s, Index a, Index i, Index c) {
      const Index row = clamp(c / width - i / width, -2, 2) + 2;
      const Index column = clamp(c % width - i % width, -2, 2) + 2;
      return kScale * s.dot(a, i, c) + s.weight("pos.bias")(a, 5 * row + column);
    });
  }
  for (const bool causal : {false, true}) {
    expect_scores(R"({"type": "t5", "buckets": 8, "max_distance": 9})",
                  [causal](const TestCase& s, Index a, Index i, Index c) {
                    return kScale * s.dot(a, i, c) +
                           s.weight("pos.bias")(t5_bucket({8, 9, !causal}, -s.offset(i, c)), a);
                  },
                  causal);
  }
  expect_scores(R"({"type": "relative_factor", "clip": 4})",
                [](const TestCase& s, Index a, Index i, Index c) {
                  return kScale * s.dot(a, i, c) *
                         s.weight("pos.factor")(a, clamp(std::abs(s.offset(i, c)), 0, 4));
                });
  expect_scores(R"({"type": "distance_aware"})", [](const TestCase& s, Index a, Index i, Index c) {
    const double alpha = s.weight("pos.alpha")[a], beta = s.weight("pos.beta")[a];
    const double r = alpha * static_cast<double>(std::abs(s.offset(i, c)));
    return kScale * std::max(0.0, s.dot(a, i, c)) * (1 + std::exp(beta)) / (1 + std::exp(beta - r));
  });
}

TEST(Encoding, RelativeVectorsMatchTheirEquations) {
  expect_scores(R"({"type": "shaw", "clip": 2})", [](const TestCase& s, Index a, Index i, Index c) {
    const Index e = clamp(-s.offset(i, c), -2, 2) + 2;
    double sum = s.dot(a, i, c);
    for (Index n = 0; n < kKey; ++n) {
      sum += static_cast<double>(s.q(a, i, n)) * s.weight("pos.key")(e, n);
    }
    return kScale * sum;
  });
  for (const Index global : {0, 1, 3, 9}) {
    const std::string json =
        R"({"type": "global_local", "clip": 2, "global": )" + std::to_string(global) + "}";
    expect_scores(json.c_str(), [global](const TestCase& s, Index a, Index i, Index c) {
      const bool is_query_global = i < global, is_key_global = c < global;
      const Index offset = clamp(c - i, -2, 2) + 2;
      const Index label = is_query_global != is_key_global ? (is_query_global ? 10 : 11)
                          : is_query_global                ? 5 + offset
                                                           : offset;
      double sum = s.dot(a, i, c);
      for (Index n = 0; n < kKey; ++n) {
        sum += static_cast<double>(s.q(a, i, n)) * s.weight("pos.label")(a, label, n);
      }
      return kScale * sum;
    });
  }
  const auto transformer_xl = [](Index farthest, bool sines_first) {
    return [=](const TestCase& s, Index a, Index i, Index c) {
      const auto r = [&](Index n) {
        const Index dimension = sines_first ? n % (kModel / 2) * 2 + n / (kModel / 2) : n;
        return wave(static_cast<double>(clamp(s.offset(i, c), -farthest, farthest)), dimension,
                    kModel, 70);
      };
      const Tensor& wr = s.weight("pos.wr");
      const auto q = [&](Index n) { return static_cast<double>(s.q(a, i, n)); };
      const auto v = [&](Index n) { return static_cast<double>(s.weight("pos.v")(a, n)); };
      double u_k = 0;
      for (Index n = 0; n < kKey; ++n) {
        u_k += static_cast<double>(s.weight("pos.u")(a, n)) * s.k(a, c, n);
      }
      return kScale * (s.dot(a, i, c) + projected_product(q, r, wr, a) + u_k +
                       projected_product(v, r, wr, a));
    };
  };
  expect_scores(R"({"type": "transformer_xl", "base": 70})", transformer_xl(100, false));
  expect_scores(R"({"type": "transformer_xl", "base": 70, "style": "half"})",
                transformer_xl(100, true));
  expect_scores(R"({"type": "transformer_xl", "base": 70, "clamp": 3})", transformer_xl(3, false));
  expect_scores(R"({"type": "transformer_xl", "base": 70, "clamp": 1})", transformer_xl(1, false));
  // DeBERTa looks up relative vectors by the offset o = query - key. The paper uses o for the query
  // term and -o for the key term. The released code ("query_key") uses o for both terms. With
  // max_distance, long distances share vectors: with a clip of 4 and a max_distance of 8, distances
  // 0, 1 and 2 have separate vectors, and distances 3 to 7 share one vector per sign of o.
  const auto disentangled = [](Index half, auto query_index, auto key_index) {
    return [=](const TestCase& s, Index a, Index i, Index c) {
      const Tensor& rel = s.weight("pos.rel");
      const auto row = [&](Index o) {
        return [&rel, at = clamp(o + half, 0, 2 * half - 1)](Index n) {
          return static_cast<double>(rel(at, n));
        };
      };
      const auto q = [&](Index n) { return static_cast<double>(s.q(a, i, n)); };
      const auto k = [&](Index n) { return static_cast<double>(s.k(a, c, n)); };
      const Index o = s.offset(i, c);
      return (s.dot(a, i, c) +
              projected_product(q, row(query_index(o)), s.weight("pos.wk"), a,
                                &s.weight("pos.bk")) +
              projected_product(k, row(key_index(o)), s.weight("pos.wq"), a, &s.weight("pos.bq"))) /
             std::sqrt(3.0 * kKey);
    };
  };
  const auto unchanged = [](Index o) { return o; };
  const auto negated = [](Index o) { return -o; };
  const auto bucketed = [](Index middle, Index max_distance) {
    return [=](Index o) {
      const Index distance = std::abs(o);
      if (distance <= middle) return o;
      const auto half = static_cast<double>(middle);
      const double log_ratio = std::log(static_cast<double>(distance) / half) /
                               std::log(static_cast<double>(max_distance - 1) / half);
      const auto bucket = static_cast<Index>(half + std::ceil(log_ratio * (half - 1)));
      return o < 0 ? -bucket : bucket;
    };
  };
  const auto in_buckets = bucketed(2, 8), in_wide_buckets = bucketed(4, 17);
  expect_scores(R"({"type": "deberta", "clip": 3})", disentangled(3, unchanged, negated));
  expect_scores(R"({"type": "deberta", "clip": 3, "key_side": "query_key"})",
                disentangled(3, unchanged, unchanged));
  expect_scores(R"({"type": "deberta", "clip": 4, "key_side": "query_key", "max_distance": 8})",
                disentangled(4, in_buckets, in_buckets));
  expect_scores(R"({"type": "deberta", "clip": 8, "key_side": "query_key", "max_distance": 17})",
                disentangled(8, in_wide_buckets, in_wide_buckets));
  expect_scores(R"({"type": "untied"})", [](const TestCase& s, Index a, Index i, Index c) {
    const Tensor& embedding = s.weight("pos.embedding");
    const auto at = [&](Index position) {
      return
          [&embedding, position](Index n) { return static_cast<double>(embedding(position, n)); };
    };
    const auto query = [&](Index n) {
      double sum = 0;
      for (Index m = 0; m < kModel; ++m) {
        sum += at(i)(m) * s.weight("pos.uq")(m, a * kKey + n);
      }
      return sum;
    };
    return kScale * (s.dot(a, i, c) + projected_product(query, at(c), s.weight("pos.uk"), a));
  });
}

// The factor stays finite even if exp(beta - r) overflows float32.
TEST(Encoding, DistanceAwareIsStable) {
  Part part;
  part.heads = 2;
  part.q = random_tensor({2, 5, 4}, 1);
  part.k = random_tensor({2, 5, 4}, 2);
  part.v = random_tensor({2, 5, 4}, 3);
  part.pattern = std::make_shared<const Pattern>(Pattern::all(5, 5));
  const NamedVars weights = {{"pos.alpha", Tensor::from({2}, {500, -500})},
                             {"pos.beta", Tensor::from({2}, {80, -200})}};
  const Values no_values;
  encoding("distance_aware")
      .apply(part, {.values = no_values, .weights = weights, .dimensions = {}, .scale = {}});
  const PartResult result = cpu_backend().run(part, {.attention = true});
  for (const float a : result.attention) EXPECT_TRUE(std::isfinite(a));
}

Tensor embedded(const char* json, const NamedVars& weights, Index length) {
  const Choice choice = encoding_from_json(Json::parse(json), "position");
  std::vector<std::int32_t> positions;
  for (std::int32_t i = 0; i < length; ++i) positions.push_back(i + 2);
  const Var x = random_tensor({2, length, kModel}, 1);
  return encoding(choice.id)
      .embed(x, positions,
             {.values = choice.values, .weights = weights, .dimensions = {}, .scale = {}})
      .value();
}

void expect_added(const Tensor& got, const std::function<double(Index position, Index n)>& added) {
  const Tensor x = random_tensor({2, got.dim(1), kModel}, 1);
  Tensor expected(x.shape());
  for (Index b = 0; b < 2; ++b) {
    for (Index i = 0; i < x.dim(1); ++i) {
      for (Index n = 0; n < kModel; ++n) {
        expected(b, i, n) = static_cast<float>(x(b, i, n) + added(i + 2, n));
      }
    }
  }
  EXPECT_TRUE(close(got, expected, 1e-6));
}

TEST(Encoding, InputEncodingsMatchTheirEquations) {
  expect_added(embedded(R"({"type": "sinusoidal", "base": 30})", {}, 5),
               [](Index i, Index n) { return wave(static_cast<double>(i), n, kModel, 30); });
  const Tensor frequency = Tensor::from({4}, {1, 0.5f, -2, 0});
  expect_added(embedded(R"({"type": "sinusoidal"})", {{"pos.frequency", frequency}}, 5),
               [&](Index i, Index n) {
                 const double angle = static_cast<double>(i) * frequency[n / 2];
                 return n % 2 == 0 ? std::sin(angle) : std::cos(angle);
               });
  expect_added(embedded(R"({"type": "universal", "step": 4, "base": 30})", {}, 5),
               [](Index i, Index n) {
                 return wave(static_cast<double>(i), n, kModel, 30) + wave(4, n, kModel, 30);
               });
  const Tensor table = random_tensor({7, kModel}, 5);
  expect_added(embedded(R"({"type": "learned"})", {{"pos.embedding", table}}, 5),
               [&](Index i, Index n) { return static_cast<double>(table(i, n)); });
  EXPECT_THROW(embedded(R"({"type": "learned"})", {{"pos.embedding", table}}, 6), InputError);
}

TEST(Encoding, LearnedBaseMatchesItsFormulaAndGradient) {
  const float log_base = std::log(30.0f);
  const NamedVars weights = {{"pos.log_base", Var(Tensor::full({1}, log_base))}};
  expect_added(embedded(R"({"type": "sinusoidal", "learned_base": true})", weights, 5),
               [](Index i, Index n) { return wave(static_cast<double>(i), n, kModel, 30); });
  for (const char* style : {"interleaved", "half"}) {
    const std::string json =
        R"({"type": "sinusoidal", "learned_base": true, "style": ")" + std::string(style) + "\"}";
    const Choice choice = encoding_from_json(Json::parse(json), "position");
    const Var x(Tensor::zeros({1, 5, kModel}));
    const Tensor projection = random_tensor({1, 5, kModel}, 7);
    const auto embed = [&](const Var& base) {
      const NamedVars bases = {{"pos.log_base", base}};
      return encoding("sinusoidal")
          .embed(x, {0, 3, 7, 20, 90},
                 {.values = choice.values, .weights = bases, .dimensions = {}, .scale = {}});
    };
    const Tensor value = Tensor::full({1}, log_base);
    const Var parameter = Var::parameter(value);
    backward(sum(multiply(embed(parameter), projection)));
    EXPECT_TRUE(testing::is_gradient(
        parameter.gradient(), value,
        [&] { return testing::projected(embed(Var(value)).value(), projection); },
        {.tolerance = 2e-3}))
        << style;
  }
}

TEST(Encoding, RejectsInfiniteAngles) {
  Part part;
  part.q = random_tensor({1, 5, 6}, 1);
  part.k = random_tensor({1, 5, 6}, 2);
  const Choice choice = encoding_from_json(
      Json::parse(R"({"type": "rope", "base": 1e-250, "factor": 1e-200})"), "position");
  const NamedVars none;
  EXPECT_THROW(encoding("rope").apply(
                   part, {.values = choice.values, .weights = none, .dimensions = {}, .scale = {}}),
               InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
