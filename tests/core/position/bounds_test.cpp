// Tests parameter limits of encodings up to the last valid value, weight shapes and illustrative
// weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/backend.h"
#include "core/attention/variant.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/position/encoding.h"
#include "core/position/illustrative_weights.h"
#include "core/position/offsets.h"
#include "core/position/sinusoid.h"
#include "core/position/slopes.h"
#include "core/position/t5_bucket.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::random_tensor;

Choice parse_encoding(const std::string& json) {
  return encoding_from_json(Json::parse(json), "position");
}

const WeightInfo& weight_of(const char* id, const std::string& name) {
  for (const WeightInfo& w : encoding(id).weights) {
    if (w.name == name) return w;
  }
  throw InputError(name + ": no such weight");
}

TEST(EncodingBounds, RejectInvalidParameters) {
  struct Case {
    const char* json;
    Situation situation;
    std::string expected_error;
  };
  const auto model = [](Index d) { return Situation{.dimensions = {.model = d}}; };
  const auto head = [](Index d_k) { return Situation{.dimensions = {.key = d_k}}; };
  const auto heads = [](Index h) { return Situation{.dimensions = {.heads = h}}; };
  const Situation any, causal{.dimensions = {}, .causal = true};
  const std::vector<Case> cases{
      {R"({"type": "alibi"})", heads(3), ""},
      {R"({"type": "alibi", "slopes": [1, 2, 3]})", heads(3), ""},
      {R"({"type": "alibi", "slopes": [1, 2]})", any, ""},
      {R"({"type": "alibi", "slopes": [1, 2]})", heads(3),
       "slopes: expected one slope for each of the 3 heads, found 2"},
      {R"({"type": "alibi", "slopes": [1, 2, 3]})",
       {.dimensions = {.heads = 1, .first_head = 2, .layer_heads = 3}},
       ""},
      {R"({"type": "alibi", "slopes": [1, 2, 3]})",
       {.dimensions = {.heads = 1, .first_head = 0, .layer_heads = 3}},
       ""},
      {R"({"type": "t5", "buckets": 8, "max_distance": 3})", any, ""},
      {R"({"type": "t5", "buckets": 8, "max_distance": 2})", any,
       "max_distance: expected more than the 2 exact distances, found 2"},
      {R"({"type": "t5", "buckets": 7})", any,
       "buckets: expected an even number when bidirectional, found 7"},
      {R"({"type": "t5", "buckets": 7})", causal, ""},
      {R"({"type": "t5", "buckets": 7, "bidirectional": false})", any, ""},
      {R"({"type": "t5", "buckets": 7, "bidirectional": true})", causal,
       "buckets: expected an even number when bidirectional, found 7"},
      {R"({"type": "t5", "buckets": 4})", any, ""},
      {R"({"type": "t5", "buckets": 2})", any, "buckets: expected at least 4, found 2"},
      {R"({"type": "t5", "buckets": 2})", causal, ""},
      {R"({"type": "t5", "buckets": 1})", causal, "buckets: expected at least 2, found 1"},
      {R"({"type": "t5", "buckets": 8, "max_distance": 4})", causal,
       "max_distance: expected more than the 4 exact distances, found 4"},
      {R"({"type": "t5", "buckets": 8, "max_distance": 5})", causal, ""},
      {R"({"type": "deberta", "clip": 1})", any, ""},
      {R"({"type": "deberta", "clip": 4, "max_distance": 4})", any, ""},
      {R"({"type": "deberta", "clip": 4, "max_distance": 3})", any,
       "max_distance: expected more than clip / 2 + 1 = 3 and a clip of at least 2, found "
       "3"},
      {R"({"type": "deberta", "clip": 1, "max_distance": 9})", any,
       "max_distance: expected more than clip / 2 + 1 = 1 and a clip of at least 2, found "
       "9"},
      {R"({"type": "deberta", "clip": 2, "max_distance": 3})", any, ""},
      {R"({"type": "learned"})", model(7), ""},
      {R"({"type": "learned", "row_width": 1})", model(8),
       "columns: expected above 0 with a row_width, found 0"},
      {R"({"type": "learned", "columns": 1, "row_width": 7})", model(8), ""},
      {R"({"type": "learned", "columns": 1, "row_width": 8})", model(8),
       "row_width: expected less than the model's width 8, found 8"},
      {R"({"type": "learned", "columns": 1, "row_width": 8})", any, ""},
      {R"({"type": "learned", "columns": 1, "row_width": 8})", model(kFreeModel), ""},
      {R"({"type": "sinusoidal"})", model(8), ""},
      {R"({"type": "sinusoidal"})", model(0), ""},
      {R"({"type": "sinusoidal"})", model(kFreeModel), ""},
      {R"({"type": "sinusoidal"})", model(1),
       "x: expected an even size d for sine and cosine, found 1"},
      {R"({"type": "universal"})", model(7),
       "x: expected an even size d for sine and cosine, found 7"},
      {R"({"type": "rope"})", head(6), ""},
      {R"({"type": "rope"})", any, ""},
      {R"({"type": "rope"})", head(5), "dims: expected an even number, found 5, the head size"},
      {R"({"type": "rope", "dims": 3})", any, "dims: expected an even number, found 3"},
      {R"({"type": "rope", "dims": 6})", head(6), ""},
      {R"({"type": "rope", "dims": 8})", head(6),
       "dims: expected at most the head size 6, found 8"},
      {R"({"type": "rope", "dims": 8})", any, ""},
      {R"({"type": "rope", "scaling": "dynamic", "original": 8})", head(2),
       "scaling: expected more than one rotated pair for \"dynamic\", found 1"},
      {R"({"type": "rope", "scaling": "dynamic", "original": 8})", head(1),
       "dims: expected an even number, found 1, the head size"},
      {R"({"type": "rope", "scaling": "dynamic", "original": 8})", any, ""},
      {R"({"type": "rope", "dims": 2, "scaling": "dynamic", "original": 8})", any,
       "scaling: expected more than one rotated pair for \"dynamic\", found 1"}};
  for (const Case& c : cases) {
    const Choice choice = parse_encoding(c.json);
    const Encoding& e = encoding(choice.id);
    EXPECT_EQ(e.objection ? e.objection(choice.values, c.situation) : "", c.expected_error)
        << c.json;
  }
}

TEST(EncodingBounds, DefineShapesOfAxialWeights) {
  const auto shapes = [](const std::string& json, const Dimensions& sizes) {
    const Choice choice = parse_encoding(json);
    return std::pair(weight_of("learned", "pos.row").shape(sizes, choice.values),
                     weight_of("learned", "pos.column").shape(sizes, choice.values));
  };
  const std::string three_columns = R"({"type": "learned", "columns": 3})";
  const std::string wide_rows = R"({"type": "learned", "columns": 3, "row_width": 5})";
  for (const auto& [context, rows] : {std::pair<Index, Index>{8, 3}, {9, 3}, {10, 4}, {1, 1}}) {
    const Dimensions sizes{.model = 8, .context = context};
    EXPECT_EQ(shapes(three_columns, sizes), std::pair(Shape({rows, 4}), Shape({3, 4})));
    EXPECT_EQ(shapes(wide_rows, sizes), std::pair(Shape({rows, 5}), Shape({3, 3})));
  }
  const auto [row, column] = shapes(wide_rows, {.model = kFreeModel, .context = kFreeContext});
  EXPECT_EQ(row[0], kFreeContext);
  EXPECT_EQ(column[0], 3);
  EXPECT_LT(row[1], 0);
  EXPECT_LT(column[1], 0);
  EXPECT_NE(row[1], column[1]) << "the sizes share a placeholder";
  const WeightInfo& embedding = weight_of("learned", "pos.embedding");
  EXPECT_TRUE(embedding.used(parse_encoding(R"({"type": "learned"})").values));
  EXPECT_FALSE(embedding.used(parse_encoding(R"({"type": "learned", "columns": 1})").values));
  EXPECT_TRUE(weight_of("learned", "pos.row").used(parse_encoding(three_columns).values));
  const Values no_parameters = parse_encoding(R"({"type": "sinusoidal"})").values;
  EXPECT_EQ(weight_of("sinusoidal", "pos.frequency").shape({.model = 8}, no_parameters), Shape{4});
  EXPECT_LT(weight_of("sinusoidal", "pos.frequency").shape({.model = kFreeModel}, no_parameters)[0],
            0);
}

// The vector of a position concatenates the vectors of its row and its column.
TEST(Encoding, AddsAxialPositions) {
  for (const Index width : {4, 5}) {
    const Choice choice =
        parse_encoding(width == 4 ? R"({"type": "learned", "columns": 3})"
                                  : R"({"type": "learned", "columns": 3, "row_width": 5})");
    const Tensor rows = random_tensor({4, width}, 1), columns = random_tensor({3, 8 - width}, 2);
    const NamedVars weights{{"pos.row", rows}, {"pos.column", columns}};
    const std::vector<std::int32_t> positions{0, 2, 3, 7, 11};
    const Tensor x = random_tensor({2, 5, 8}, 3);
    const Tensor got =
        encoding("learned")
            .embed(x, positions,
                   {.values = choice.values, .weights = weights, .dimensions = {}, .scale = {}})
            .value();
    for (Index b = 0; b < 2; ++b) {
      for (Index i = 0; i < 5; ++i) {
        const Index position = positions[static_cast<std::size_t>(i)];
        for (Index c = 0; c < 8; ++c) {
          const float added = c < width ? rows(position / 3, c) : columns(position % 3, c - width);
          EXPECT_EQ(got(b, i, c), x(b, i, c) + added) << position << " " << c;
        }
      }
    }
  }
}

TEST(Encoding, AddsSinusoidsInHalves) {
  const Choice choice = parse_encoding(R"({"type": "sinusoidal", "style": "half", "base": 30})");
  const Tensor x = random_tensor({1, 3, 6}, 3);
  const NamedVars no_weights;
  const Tensor got =
      encoding("sinusoidal")
          .embed(x, {0, 4, 9},
                 {.values = choice.values, .weights = no_weights, .dimensions = {}, .scale = {}})
          .value();
  const double positions[] = {0, 4, 9};
  for (Index i = 0; i < 3; ++i) {
    for (Index t = 0; t < 3; ++t) {
      const double angle = positions[i] * std::pow(30, -2.0 * static_cast<double>(t) / 6);
      EXPECT_NEAR(got(0, i, t) - x(0, i, t), std::sin(angle), 1e-6);
      EXPECT_NEAR(got(0, i, 3 + t) - x(0, i, 3 + t), std::cos(angle), 1e-6);
    }
  }
}

TEST(Positions, StayWithinTheirTable) {
  const NamedVars weights{{"pos.embedding", Var(random_tensor({5, 4}, 1))}};
  const Values values = parse_encoding(R"({"type": "learned"})").values;
  const auto embed = [&](std::int32_t last) {
    encoding("learned").embed(
        random_tensor({1, 1, 4}, 2), {last},
        {.values = values, .weights = weights, .dimensions = {}, .scale = {}});
  };
  EXPECT_NO_THROW(embed(4));
  try {
    embed(5);
    ADD_FAILURE() << "accepted position 5 of a table with 5 rows";
  } catch (const InputError& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("pos.embedding: expected at least 6"))
        << e.what();
  }
}

TEST(Offsets, CoverAllOccurringValues) {
  Part part;
  part.pattern = std::make_shared<const Pattern>(Pattern::all(7, 9));
  EXPECT_EQ(offset_range(part).min, -8);
  EXPECT_EQ(offset_range(part).max, 6);
  EXPECT_EQ(offset_range(part).farthest(), 8);
  part.pos_q = {4, 3, 20, 5, 6, 7, 8};
  EXPECT_EQ(offset_range(part).min, 3 - 8);
  EXPECT_EQ(offset_range(part).max, 20);
  EXPECT_EQ(offset_range(part).farthest(), 20);
  part.pos_k = {10, 11, 12, 13, 14, 15, 16, 17, 2};
  EXPECT_EQ(offset_range(part).min, 3 - 17);
  EXPECT_EQ(offset_range(part).max, 18);
  part.pos_q = part.pos_k = {};
  part.pattern = std::make_shared<const Pattern>(Pattern::all(0, 1));
  EXPECT_EQ(offset_range(part).count(), 1);
  EXPECT_EQ(position_at({}, 3), 3);
  EXPECT_EQ(position_at({7, 8}, 1), 8);
}

TEST(Slopes, MatchPublishedValues) {
  for (Index heads = 1; heads <= 17; ++heads) {
    const Index power = Index{1} << static_cast<int>(std::log2(static_cast<double>(heads)));
    const std::vector<double> slopes = default_slopes(heads);
    ASSERT_EQ(static_cast<Index>(slopes.size()), heads);
    for (Index a = 0; a < heads; ++a) {
      // Heads beyond the largest power of two p have every other slope of a model with 2 p heads.
      const double n =
          a < power ? static_cast<double>(a + 1) : (static_cast<double>(2 * (a - power)) + 1) / 2;
      EXPECT_NEAR(slopes[static_cast<std::size_t>(a)],
                  std::exp2(-8 * n / static_cast<double>(power)), 1e-15)
          << a << " of " << heads;
    }
  }
}

double wave(double position, Index c, Index d) {
  const double frequency =
      std::pow(10000, -static_cast<double>(c / 2 * 2) / static_cast<double>(d));
  return c % 2 == 0 ? std::sin(position * frequency) : std::cos(position * frequency);
}

TEST(IllustrativeWeights, AreSinusoidsOfPositionsAndOffsets) {
  for (const Index d : {6, 7}) {
    const Shape shape{5, d};
    const Tensor positions = illustrative_positions(0.25)(shape, {}, {});
    const Tensor offsets = illustrative_offsets(0.5)(shape, {}, {});
    for (Index n = 0; n < 5; ++n) {
      for (Index c = 0; c < d; ++c) {
        EXPECT_NEAR(positions(n, c), 0.25 * wave(static_cast<double>(n), c, d + d % 2), 1e-6);
        EXPECT_NEAR(offsets(n, c), 0.5 * wave(static_cast<double>(n - 2), c, d + d % 2), 1e-6);
      }
    }
  }
  for (const Shape& shape : {Shape{3, 5}, Shape{5, 3}}) {
    const Tensor identity = illustrative_identity()(shape, {}, {});
    for (Index i = 0; i < shape[0]; ++i) {
      for (Index j = 0; j < shape[1]; ++j) EXPECT_EQ(identity(i, j), i == j ? 1 : 0);
    }
  }
}

Tensor illustrative(const char* id, const char* name, const std::string& json,
                    const Dimensions& sizes, bool causal = false) {
  const Values values = parse_encoding(json).values;
  const WeightInfo& w = weight_of(id, name);
  return w.illustrative(w.shape(sizes, values), {.dimensions = sizes, .causal = causal}, values);
}

// With illustrative weights, heads attend locally, with the slopes of ALiBi.
TEST(IllustrativeWeights, DecayWithDistancePerHead) {
  const Dimensions sizes{.model = 8, .heads = 3, .kv_heads = 3, .key = 4, .value = 4};
  const std::vector<double> slopes = default_slopes(3);
  const auto slope = [&](Index head) { return slopes[static_cast<std::size_t>(head)]; };
  const Tensor bias =
      illustrative("relative_bias", "pos.bias", R"({"type": "relative_bias", "clip": 2})", sizes);
  const Tensor factor = illustrative("relative_factor", "pos.factor",
                                     R"({"type": "relative_factor", "clip": 4})", sizes);
  const Tensor alpha =
      illustrative("distance_aware", "pos.alpha", R"({"type": "distance_aware"})", sizes);
  const Tensor beta =
      illustrative("distance_aware", "pos.beta", R"({"type": "distance_aware"})", sizes);
  ASSERT_EQ(bias.shape(), (Shape{3, 5}));
  ASSERT_EQ(factor.shape(), (Shape{3, 5}));
  for (Index head = 0; head < 3; ++head) {
    for (Index n = 0; n < 5; ++n) {
      EXPECT_NEAR(bias(head, n), -slope(head) * static_cast<double>(std::abs(n - 2)), 1e-6);
      EXPECT_NEAR(factor(head, n), std::exp(-slope(head) * static_cast<double>(n)), 1e-6);
    }
    EXPECT_NEAR(alpha[head], -slope(head), 1e-6);
    EXPECT_EQ(beta[head], 2);
  }
  for (const bool causal : {false, true}) {
    const Tensor buckets = illustrative(
        "t5", "pos.bias", R"({"type": "t5", "buckets": 12, "max_distance": 40})", sizes, causal);
    ASSERT_EQ(buckets.shape(), (Shape{12, 3}));
    for (Index bucket = 0; bucket < 12; ++bucket) {
      Index begin = -1;
      for (Index n = 0; n <= 40 && begin < 0; ++n) {
        for (const Index o : {n, -n}) {
          if (t5_bucket({12, 40, !causal}, o) == bucket) begin = n;
        }
      }
      const double log_distance = begin < 0 ? 0 : std::log2(1 + static_cast<double>(begin));
      for (Index head = 0; head < 3; ++head) {
        EXPECT_NEAR(buckets(bucket, head), -4 * slope(head) * log_distance, 1e-5)
            << bucket << causal;
      }
    }
  }
}

// Output with Shaw's value vectors w: o_i = sum_j a_ij (v_j + w[clamp(j - i)]).
TEST(Encoding, AddsShawsVectorsToValues) {
  const Values values = parse_encoding(R"({"type": "shaw", "clip": 2})").values;
  const auto run = [&](const NamedVars& weights) {
    Part part;
    part.heads = 2;
    part.q = random_tensor({2, 5, 4}, 1);
    part.k = random_tensor({2, 6, 4}, 2);
    part.v = random_tensor({2, 6, 3}, 3);
    part.pattern = std::make_shared<const Pattern>(Pattern::all(5, 6));
    encoding("shaw").apply(part,
                           {.values = values, .weights = weights, .dimensions = {}, .scale = {}});
    return cpu_backend().run(part, {.output = true, .attention = true});
  };
  const Tensor table = random_tensor({5, 3}, 4), v = random_tensor({2, 6, 3}, 3);
  const PartResult result = run({{"pos.value", Var(table)}});
  Tensor expected({2, 5, 3});
  for (Index a = 0; a < 2; ++a) {
    for (Index i = 0; i < 5; ++i) {
      for (Index c = 0; c < 3; ++c) {
        double sum = 0;
        for (Index j = 0; j < 6; ++j) {
          const Index row = std::clamp<Index>(j - i, -2, 2) + 2;
          sum += static_cast<double>(result.attention(a, i, j)) *
                 (static_cast<double>(v(a, j, c)) + table(row, c));
        }
        expected(a, i, c) = static_cast<float>(sum);
      }
    }
  }
  EXPECT_TRUE(close(result.output, expected, 1e-5));
  EXPECT_THROW(run({}), InputError);
  EXPECT_NO_THROW(run({{"pos.key", Var(random_tensor({5, 4}, 4))}}));
}

// Positions of keys differ between key heads. Two query heads share each key head.
TEST(Encoding, RopeRotatesSharedKeysByTheirPositions) {
  const Values values = parse_encoding(R"({"type": "rope", "base": 20})").values;
  const NamedVars no_weights;
  const EncodingContext context{
      .values = values, .weights = no_weights, .dimensions = {}, .scale = {}};
  Part part;
  part.heads = 4;
  part.q = random_tensor({4, 3, 6}, 1);
  part.k = random_tensor({2, 3, 6}, 2);
  part.v = part.k;
  const std::vector<std::int32_t> first{4, 0, 9}, second{1, 7, 5};
  for (const auto& list : {first, first, second, second}) {
    part.pos_k.insert(part.pos_k.end(), list.begin(), list.end());
  }
  const Tensor k = part.k.value();
  encoding("rope").apply(part, context);
  for (Index head = 0; head < 2; ++head) {
    const Tensor expected =
        encoding("rope").rotate(k.slice(head, 1), head == 0 ? first : second, context).value();
    EXPECT_TRUE(close(part.k.value().slice(head, 1), expected, 1e-6)) << head;
  }
  EXPECT_TRUE(close(
      part.q.value(),
      encoding("rope").rotate(random_tensor({4, 3, 6}, 1), {0, 1, 2}, context).value(), 1e-6));
}

// With dynamic scaling, frequencies depend on the last position of queries and keys.
TEST(Encoding, RopeMeasuresTextUpToItsLastPosition) {
  const Values values =
      parse_encoding(R"({"type": "rope", "scaling": "dynamic", "factor": 2, "original": 10})")
          .values;
  const NamedVars no_weights;
  const EncodingContext context{
      .values = values, .weights = no_weights, .dimensions = {}, .scale = {}};
  const auto rotated_query = [&](std::vector<std::int32_t> queries,
                                 std::vector<std::int32_t> keys) {
    Part part;
    part.q = random_tensor({1, 2, 6}, 1);
    part.k = random_tensor({1, 2, 6}, 2);
    part.v = part.k;
    part.pos_q = std::move(queries);
    part.pos_k = std::move(keys);
    encoding("rope").apply(part, context);
    return part.q.value();
  };
  const Tensor within = rotated_query({3, 4}, {8, 9});
  EXPECT_TRUE(close(rotated_query({3, 4}, {0, 1}), within, 0)) << "within the original context";
  const Tensor beyond = rotated_query({3, 4}, {9, 10});
  EXPECT_TRUE(testing::differs(beyond, within, 1e-4)) << "eleven tokens";
  EXPECT_TRUE(close(encoding("rope").rotate(random_tensor({1, 2, 6}, 1), {3, 4}, context).value(),
                    within, 0));
}

TEST(Encoding, AlibiUsesSlopesOfItsHeadGroup) {
  const auto first_bias = [](const std::string& json) {
    Part part;
    part.heads = 2;
    part.pattern = std::make_shared<const Pattern>(Pattern::all(3, 3));
    const Values values = parse_encoding(json).values;
    const NamedVars no_weights;
    encoding("alibi").apply(
        part, {.values = values,
               .weights = no_weights,
               .dimensions = {.heads = 2, .kv_heads = 2, .first_head = 1, .layer_heads = 4},
               .scale = {}});
    return std::pair(part.bias->table.value()(0, 1), part.bias->table.value()(1, 2));
  };
  EXPECT_EQ(first_bias(R"({"type": "alibi", "slopes": [1, 2, 4, 8]})"), std::pair(-2.0f, -8.0f));
  EXPECT_EQ(first_bias(R"({"type": "alibi", "slopes": [1, 2]})"), std::pair(-1.0f, -4.0f));
  EXPECT_EQ(first_bias(R"({"type": "alibi"})"),
            std::pair(-std::exp2(-4.0f), -2 * std::exp2(-6.0f)));
}

TEST(Encoding, DebertaKeepsAnExplicitScale) {
  const Values values = parse_encoding(R"({"type": "deberta", "clip": 2})").values;
  const NamedVars weights{{"pos.rel", Var(random_tensor({4, 4}, 1))},
                          {"pos.wq", Var(random_tensor({4, 6}, 2))},
                          {"pos.wk", Var(random_tensor({4, 6}, 3))}};
  for (const std::optional<float> scale : {std::optional<float>(), std::optional(0.75f)}) {
    Part part;
    part.heads = 2;
    part.q = random_tensor({2, 3, 3}, 1);
    part.k = part.v = part.q;
    part.pattern = std::make_shared<const Pattern>(Pattern::all(3, 3));
    part.scale = scale.value_or(0.5f);
    encoding("deberta").apply(
        part, {.values = values, .weights = weights, .dimensions = {}, .scale = scale});
    EXPECT_FLOAT_EQ(part.scale, scale.value_or(1.0f / 3));
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
