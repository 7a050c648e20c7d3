// Compares LSH with loops over rounds, chunks and positions, for all options. Also tests random
// weights, weights for longer texts, and memories of other variants.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/attention/variant.h"
#include "core/attention/variants/shared/drawn.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::OperationSizes;

// Returns the bucket of each position, computed from the definition. `factors` has one or two
// factors of the number of buckets.
std::vector<Index> expected_buckets(const OperationInput& input, Index round, Index head,
                                    const std::vector<Index>& factors) {
  const Tensor& rotation = input.weights.at("lsh.rotation").value();  // [n, h, d_k, columns]
  const Tensor& q = input.q.value();
  const Index columns = rotation.dim(3), size = rotation.dim(2);
  std::vector<Index> result;
  for (Index i = 0; i < q.dim(1); ++i) {
    Index bucket = 0, stride = 1, first = 0;
    for (const Index factor : factors) {
      std::vector<double> rotated;
      for (const double sign : {1.0, -1.0}) {
        for (Index b = 0; b < factor / 2; ++b) {
          double sum = 0;
          for (Index n = 0; n < size; ++n) {
            const Index row = (round * rotation.dim(1) + head) * size + n;
            sum += sign * static_cast<double>(q(head, i, n)) *
                   static_cast<double>(rotation[row * columns + first + b]);
          }
          rotated.push_back(sum);
        }
      }
      bucket += stride * (std::max_element(rotated.begin(), rotated.end()) - rotated.begin());
      stride *= factor;
      first += factor / 2;
    }
    result.push_back(bucket);
  }
  return result;
}

struct Form {
  const char* json;
  std::vector<Index> factors;
  Index rounds, chunk, before, after, fill;
  bool is_released;
};

// Returns how many times each query of `head` sees each key over all rounds, [L, L].
std::vector<std::vector<int>> count_visits(const OperationInput& input, const Form& form,
                                           Index head, const OperationResult& result) {
  const Index length = input.q.dim(1), heads = input.heads;
  const auto to_size = [](Index n) { return static_cast<std::size_t>(n); };
  std::vector<std::vector<int>> visit_counts(to_size(length), std::vector<int>(to_size(length), 0));
  std::vector<std::vector<Index>> order, bucket;
  for (Index round = 0; round < form.rounds; ++round) {
    bucket.push_back(expected_buckets(input, round, head, form.factors));
    std::vector<Index> sorted_positions;
    for (Index i = 0; i < length; ++i) sorted_positions.push_back(i);
    std::ranges::stable_sort(sorted_positions, [&](Index a, Index b) {
      return bucket.back()[to_size(a)] < bucket.back()[to_size(b)];
    });
    order.push_back(sorted_positions);
    for (Index r = 0; r < length; ++r) {
      const Index row = (round * heads + head) * length;
      EXPECT_EQ(result.extra_counts.at("lsh.bucket")[row + r], bucket.back()[to_size(r)]);
      EXPECT_EQ(result.extra_counts.at("lsh.rank")[row + sorted_positions[to_size(r)]], r);
    }
  }
  const Index padding_unit = std::max(form.fill, std::max<Index>(1, form.chunk));
  const Index chunks = form.chunk == 0 ? 1
                                       : (length + padding_unit - 1) / padding_unit * padding_unit /
                                             form.chunk;  // chunks per round
  for (Index i = 0; i < length; ++i) {
    for (Index round = 0; round < form.rounds; ++round) {
      const auto& sorted_positions = order[to_size(round)];
      const Index rank = std::ranges::find(sorted_positions, i) - sorted_positions.begin();
      if (!form.is_released) {
        for (Index r = 0; r < length; ++r) {
          const Index j = sorted_positions[to_size(r)];
          const Index chunk_distance = form.chunk == 0 ? 0 : rank / form.chunk - r / form.chunk;
          if (j != i && bucket[to_size(round)][to_size(j)] == bucket[to_size(round)][to_size(i)] &&
              chunk_distance <= form.before && -chunk_distance <= form.after &&
              !(input.causal && j > i)) {
            visit_counts[to_size(i)][to_size(j)] = 1;
          }
        }
        continue;
      }
      if (chunks == 1 && round > 0) break;  // rounds of a single chunk are equal
      const Index all_chunks = chunks * form.rounds,
                  query_chunk = round * chunks + rank / form.chunk;
      const Index before = chunks == 1 ? 0 : form.before, after = chunks == 1 ? 0 : form.after;
      for (Index c = query_chunk - before; c <= query_chunk + after; ++c) {
        const Index neighbour = (c + 100 * all_chunks) % all_chunks;
        for (Index r = neighbour % chunks * form.chunk; r < (neighbour % chunks + 1) * form.chunk;
             ++r) {
          if (r >= length) break;
          const Index j = order[to_size(neighbour / chunks)][to_size(r)];
          if (j != i && !(input.causal && j > i)) ++visit_counts[to_size(i)][to_size(j)];
        }
      }
    }
    if (std::ranges::count(visit_counts[to_size(i)], 0) == length)
      visit_counts[to_size(i)][to_size(i)] = 1;
  }
  return visit_counts;
}

TEST(Lsh, MatchesRoundsAndChunks) {
  for (const Form& form :
       {Form{R"({"type": "lsh", "buckets": 6, "rounds": 2})", {6}, 2, 0, 1, 0, 0, false},
        Form{R"({"type": "lsh", "buckets": 8, "factor": 4, "rounds": 2, "chunk": 2})",
             {4, 2},
             2,
             2,
             1,
             0,
             0,
             false},
        Form{R"({"type": "lsh", "buckets": 4, "rounds": 3, "chunk": 2, "before": 2, "after": 1})",
             {4},
             3,
             2,
             2,
             1,
             0,
             false},
        Form{R"({"type": "lsh", "buckets": 4, "rounds": 2, "chunk": 3, "before": 0, "after": 0})",
             {4},
             2,
             3,
             0,
             0,
             0,
             false},
        Form{R"({"type": "lsh", "buckets": 4, "rounds": 2, "chunk": 3, "form": "released"})",
             {4},
             2,
             3,
             1,
             0,
             0,
             true},
        Form{R"({"type": "lsh", "buckets": 8, "factor": 2, "rounds": 3, "chunk": 2, "before": 1,
                 "after": 2, "form": "released"})",
             {2, 4},
             3,
             2,
             1,
             2,
             0,
             true},
        Form{R"({"type": "lsh", "buckets": 4, "rounds": 2, "chunk": 4, "fill": 8,
                 "form": "released"})",
             {4},
             2,
             4,
             1,
             0,
             8,
             true},
        Form{R"({"type": "lsh", "buckets": 4, "rounds": 2, "chunk": 16, "form": "released"})",
             {4},
             2,
             16,
             1,
             0,
             0,
             true}}) {
    for (const bool causal : {false, true}) {
      for (const Index length : {1, 2, 7, 16, 17}) {
        OperationSizes sizes;
        sizes.length = length;
        sizes.heads = sizes.kv_heads = 3;
        const Choice choice = variant_from_json(Json::parse(form.json), "variant");
        const OperationInput input =
            testing::random_operation(sizes, choice, default_encoding(), causal, 4);
        SCOPED_TRACE(testing::describe(input) + " of " + std::to_string(length));
        const OperationResult result =
            evaluate(input, cpu_backend(), {.output = true, .attention = true, .scores = true});
        const Tensor& q = input.q.value();
        Tensor expected({3, length, length}), output({3, length, sizes.value});
        for (Index head = 0; head < 3; ++head) {
          const auto visit_counts = count_visits(input, form, head, result);
          for (Index i = 0; i < length; ++i) {
            std::vector<double> weights(static_cast<std::size_t>(length));
            double total = 0;
            for (Index j = 0; j < length; ++j) {
              double product = 0, square = 0;
              for (Index n = 0; n < sizes.key; ++n) {
                product += static_cast<double>(q(head, i, n)) * q(head, j, n);
                square += static_cast<double>(q(head, j, n)) * q(head, j, n);
              }
              const auto size = static_cast<double>(sizes.key);
              const double score = form.is_released ? product / std::sqrt(square + 1e-6 * size)
                                                    : product / std::sqrt(square) / std::sqrt(size);
              const auto index = static_cast<std::size_t>(j);
              const int count = visit_counts[static_cast<std::size_t>(i)][index];
              EXPECT_EQ(result.pattern->allowed(head, i, j), count > 0) << i << " " << j;
              if (count > 0) {
                EXPECT_NEAR(result.scores(head, i, j), score, 2e-5);
              }
              weights[index] = count * std::exp(score);
              total += weights[index];
            }
            for (Index j = 0; j < length; ++j) {
              const double weight = weights[static_cast<std::size_t>(j)] / total;
              expected(head, i, j) = static_cast<float>(weight);
              for (Index c = 0; c < sizes.value; ++c) {
                output(head, i, c) = (j == 0 ? 0 : output(head, i, c)) +
                                     static_cast<float>(weight * input.v.value()(head, j, c));
              }
            }
          }
        }
        EXPECT_TRUE(testing::close(result.attention, expected, 2e-5));
        EXPECT_TRUE(testing::close(result.output.value(), output, 2e-5));
      }
    }
  }
}

TEST(Lsh, AppliesExplicitScaleInReleasedForm) {
  const Choice choice = variant_from_json(
      Json::parse(R"({"type": "lsh", "buckets": 4, "rounds": 2, "chunk": 3, "form": "released"})"),
      "variant");
  OperationInput input = testing::random_operation({}, choice, default_encoding(), true, 4);
  const ResultRequest wanted{.output = true, .attention = true, .scores = true};
  const OperationResult default_result = evaluate(input, cpu_backend(), wanted);
  input.scale = 0.5f;
  const OperationResult scaled_result = evaluate(input, cpu_backend(), wanted);
  for (Index n = 0; n < default_result.scores.size(); ++n) {
    EXPECT_NEAR(scaled_result.scores[n], default_result.scores[n] / 2, 1e-6);
  }
}

// Missing weights are random numbers determined by the seed.
TEST(RandomWeights, AreDeterminedBySeed) {
  const auto check = [](const char* json, const char* name, const Shape& shape, double deviation) {
    const Choice choice = variant_from_json(Json::parse(json), "variant");
    OperationInput input = testing::random_operation({}, choice, default_encoding(), true, 4);
    input.weights.erase(name);
    const Tensor drawn_output = evaluate(input, cpu_backend(), {.output = true}).output.value();
    input.weights[name] = drawn_normal(name, shape, deviation, 7);
    const Tensor stored_output = evaluate(input, cpu_backend(), {.output = true}).output.value();
    EXPECT_TRUE(testing::close(drawn_output, stored_output, 0)) << json;
  };
  check(R"({"type": "rfa", "features": 5, "sigma": 0.5, "seed": 7})", "rfa.w", {2, 5, 4}, 2);
  check(R"({"type": "lsh", "buckets": 6, "rounds": 3, "seed": 7})", "lsh.rotation", {3, 2, 4, 3},
        1);
  check(R"({"type": "lsh", "buckets": 8, "factor": 2, "rounds": 3, "seed": 7})", "lsh.rotation",
        {3, 2, 4, 3}, 1);
  double sum = 0, squares = 0;
  for (const float x : drawn_normal("w", {40'000}, 3, 1)) {
    sum += static_cast<double>(x);
    squares += static_cast<double>(x) * static_cast<double>(x);
  }
  EXPECT_NEAR(sum / 40'000, 0, 0.05);
  EXPECT_NEAR(std::sqrt(squares / 40'000), 3, 0.05);
  EXPECT_THROW(drawn_normal("w", {(Index{1} << 28) + 1}, 1, 1), InputError);
}

// The random matrix of a shorter text is a submatrix of the random matrix of a longer text.
TEST(RandomWeights, ExtendMatricesOfShorterTexts) {
  const Choice choice = variant_from_json(
      Json::parse(R"({"type": "synthesizer", "mode": "random", "seed": 3})"), "variant");
  const auto scores = [&](Index length, Index first) {
    OperationSizes sizes;
    sizes.length = length;
    OperationInput input = testing::random_operation(sizes, choice, default_encoding(), true, 4);
    input.weights.erase("syn.r");
    if (first > 0) {
      input.q = Var();
      input.x = Tensor({1, length - first, sizes.model});
      for (Index i = first; i < length; ++i)
        input.positions.push_back(static_cast<std::int32_t>(i));
    }
    return evaluate(input, cpu_backend(), {.output = true, .scores = true}).scores;
  };
  const Tensor short_text = scores(5, 0), long_text = scores(9, 0), last_rows = scores(9, 7);
  for (Index head = 0; head < 2; ++head) {
    for (Index i = 0; i < 9; ++i) {
      for (Index j = 0; j <= i; ++j) {
        if (i < 5) {
          EXPECT_EQ(short_text(head, i, j), long_text(head, i, j));
        }
        if (i >= 7) {
          EXPECT_EQ(last_rows(head, i - 7, j), long_text(head, i, j));
        }
        for (Index other_j = 0; other_j < j && i < 5; ++other_j) {
          EXPECT_NE(long_text(head, i, j), long_text(head, i, other_j));
        }
      }
    }
  }
  EXPECT_NE(long_text(0, 3, 2), long_text(1, 3, 2));
}

// Weights for a length support texts up to this length.
TEST(Weights, SupportTextsUpToTheirLength) {
  int accepted_count = 0, refused_count = 0;
  for (const Variant& v : variants()) {
    for (const Values& values : testing::value_cases(v.parameters)) {
      Choice choice{v.id, values};
      if (choice.values.has("height")) continue;
      if (choice.id == "sinkhorn") choice.values.set("block", Index{1});
      if (choice.id == "linformer") choice.values.set("k", Index{3});
      OperationSizes sizes, larger, smaller;
      sizes.length = 12;
      larger.length = 15;
      smaller.length = 11;
      if (!refusal(choice, default_encoding(), false, testing::dimensions(sizes), 12, 12).empty()) {
        continue;
      }
      const OperationInput input =
          testing::random_operation(sizes, choice, default_encoding(), false, 5);
      const OperationInput longer_input =
          testing::random_operation(larger, choice, default_encoding(), false, 6);
      for (const WeightInfo& w : v.weights) {
        if (w.file.state || !input.weights.contains(w.name)) continue;
        const Shape shape = w.shape(testing::dimensions(sizes), choice.values);
        if (w.shape(testing::dimensions(larger), choice.values) == shape) continue;
        SCOPED_TRACE(testing::describe(input) + " " + w.name);
        OperationInput modified_input = input;
        for (const auto& [name, weight] : longer_input.weights)
          modified_input.weights[name] = weight;
        EXPECT_NO_THROW(evaluate(modified_input, cpu_backend(), {.output = true}));
        ++accepted_count;
        if (w.shape(testing::dimensions(smaller), choice.values) == shape) continue;
        modified_input.weights = input.weights;
        modified_input.weights[w.name] =
            testing::random_tensor(w.shape(testing::dimensions(smaller), choice.values), 3);
        EXPECT_THROW(evaluate(modified_input, cpu_backend(), {.output = true}), InputError);
        ++refused_count;
      }
    }
  }
  EXPECT_GE(accepted_count, 8);
  EXPECT_GE(refused_count, 6);
}

// Implied weights on tokens reproduce the output, for two texts in a batch.
TEST(Linformer, ReportsImpliedWeightsOfTokens) {
  for (const char* mode : {"projection", "mean", "convolution"}) {
    for (const Index length : {7, 12}) {
      OperationSizes sizes;
      sizes.length = length;
      sizes.batch = 2;
      const Choice choice =
          variant_from_json({{"type", "linformer"}, {"k", 4}, {"mode", mode}}, "variant");
      const OperationInput input =
          testing::random_operation(sizes, choice, default_encoding(), false, 5);
      const OperationResult result =
          evaluate(input, cpu_backend(), {.output = true, .attention = true});
      const Tensor& implied = result.extra.at("implied");
      ASSERT_EQ(implied.shape(), (Shape{4, length, length}));
      for (Index pair = 0; pair < 4; ++pair) {
        for (Index i = 0; i < length; ++i) {
          for (Index c = 0; c < sizes.value; ++c) {
            double sum = 0;
            for (Index j = 0; j < length; ++j)
              sum += implied(pair, i, j) * input.v.value()(pair, j, c);
            EXPECT_NEAR(sum, result.output.value()(pair, i, c), 1e-5) << mode << " " << pair;
          }
        }
      }
    }
  }
}

// Rows of the memory have positions before the segment. A compressed row has the position of the
// last row of its window.
TEST(Memories, PrecedeTheSegment) {
  const Choice alibi =
      encoding_from_json(Json::parse(R"({"type": "alibi", "slopes": [1, 0.25]})"), "position");
  for (const char* json : {R"({"type": "segment_memory"})", R"({"type": "compressive", "rate": 3})",
                           R"({"type": "segment_memory", "reach": 4})"}) {
    OperationSizes sizes;
    sizes.length = 6;
    const Choice choice = variant_from_json(Json::parse(json), "variant");
    OperationInput input = testing::random_operation(sizes, choice, alibi, true, 5);
    const ResultRequest wanted{.output = true, .attention = true, .scores = true};
    const OperationResult result = evaluate(input, cpu_backend(), wanted);
    input.encoding = default_encoding();
    const OperationResult default_result = evaluate(input, cpu_backend(), wanted);
    std::vector<Index> positions;
    if (choice.id == "compressive")
      positions = {2 - 4 - 5, 3 - 4 - 5};  // two compressed rows of 4 old rows at rate 3
    for (Index m = 0; m < 5 + 6; ++m) positions.push_back(m - 5);
    ASSERT_EQ(result.scores.dim(2), static_cast<Index>(positions.size()));
    const Index reach = choice.id == "segment_memory" ? choice.values.integer("reach") : 0;
    for (Index head = 0; head < 2; ++head) {
      for (Index i = 0; i < 6; ++i) {
        for (Index c = 0; c < result.scores.dim(2); ++c) {
          const Index distance = i - positions[static_cast<std::size_t>(c)];
          const bool is_visible = distance >= 0 && (reach == 0 || distance < reach);
          EXPECT_EQ(result.pattern->allowed(head, i, c), is_visible) << json << i << " " << c;
          if (!is_visible) continue;
          const double slope = head == 0 ? 1 : 0.25;
          EXPECT_NEAR(result.scores(head, i, c),
                      default_result.scores(head, i, c) - slope * static_cast<double>(distance),
                      1e-5)
              << json << " " << i << " " << c;
        }
      }
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
