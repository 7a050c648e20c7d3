// Compares measures with values computed by hand for small attention maps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/memory_use.h"
#include "core/analysis/pair.h"
#include "core/base/error.h"
#include "core/experiment/completion.h"
#include "core/experiment/exit_study.h"
#include "core/experiment/generated_target.h"
#include "core/experiment/rollouts.h"
#include "core/lesson/claim.h"
#include "core/model/config.h"
#include "core/model/logit_lens.h"
#include "core/view/alignment/alignment_numbers.h"
#include "core/view/view_values.h"
#include "tests/support/case_run.h"
#include "tests/support/model_trace.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Ids = std::vector<std::int32_t>;

// Returns a trace of these tokens, with one layer that has one head.
std::shared_ptr<const Trace> trace_of(const Ids& ids, const std::vector<float>& weights) {
  auto trace = std::make_shared<Trace>();
  const Index length = static_cast<Index>(ids.size());
  ModelConfig config;
  config.width = 8;
  trace->config = std::make_shared<const ModelConfig>(config);
  for (const std::int32_t id : ids) {
    TraceToken token;
    token.id = id;
    trace->tokens.push_back(token);
  }
  AttentionTap tap;
  tap.heads = {0};
  tap.variant = default_variant();
  tap.encoding = {"sinusoidal", default_values(encoding("sinusoidal").parameters)};
  tap.result.attention = Tensor({1, length, length});
  std::ranges::copy(weights, tap.result.attention.begin());
  tap.result.pattern = std::make_shared<const Pattern>(Pattern::causal(length, length));
  trace->attention.push_back(tap);
  return trace;
}

const std::vector<float> kWeights = {1, 0, 0, 0.25F, 0.75F, 0, 0.5F, 0.125F, 0.375F};

double measure_value(const std::string& id, const Traces& traces, Index query = -1,
                     Index key = -1) {
  Claim claim;
  claim.measure = id;
  claim.query = query;
  claim.key = key;
  claim.least = 0;
  return check(claim, traces).value;
}

TEST(Measures, EvaluateOneMap) {
  const Traces single_run{trace_of({5, 6, 5}, kWeights), nullptr};
  EXPECT_NEAR(measure_value("row_sum_error", single_run), 0, 1e-7);
  EXPECT_EQ(measure_value("weight", single_run, 2, 1), 0.125);
  EXPECT_EQ(measure_value("other_weight", single_run, 2, 1), 0.75 / 2);
  EXPECT_EQ(measure_value("later_weight", single_run), 0);
  EXPECT_EQ(measure_value("farthest", single_run), 2);
  EXPECT_NEAR(measure_value("previous_token", single_run), (0.25 + 0.125) / 2, 1e-7);
  EXPECT_NEAR(measure_value("distance", single_run), (0 + 0.25 + 1 + 0.125) / 3, 1e-7);
  EXPECT_NEAR(measure_value("induction", single_run), 0.125, 1e-7);
  EXPECT_NEAR(measure_value("density", single_run), 6.0 / 9, 1e-12);
  EXPECT_EQ(measure_value("keys_of_query", single_run, 1), 2);
  EXPECT_EQ(measure_value("layers_to_reach", single_run, 2, 0), 1);
  EXPECT_EQ(measure_value("layers_to_reach", single_run, 0, 2), INFINITY);
}

TEST(Measures, CompareTwoMaps) {
  std::vector<float> second_weights = kWeights;
  second_weights[3] = 0.5F;
  second_weights[4] = 0.5F;
  const Traces compared{trace_of({5, 6, 7}, kWeights), trace_of({5, 6, 7}, second_weights)};
  EXPECT_NEAR(measure_value("difference", compared), 0.25, 1e-7);
  EXPECT_NEAR(measure_value("distance_change", compared), -0.25 / 3, 1e-7);
  EXPECT_NEAR(measure_value("difference_by_token", compared), 0.25, 1e-7);
}

TEST(Measures, CompareByToken) {
  // The same weights between the same tokens, in reverse order.
  std::vector<float> reversed(kWeights.rbegin(), kWeights.rend());
  const Traces reordered{trace_of({5, 6, 7}, kWeights), trace_of({7, 6, 5}, reversed)};
  EXPECT_EQ(measure_value("difference_by_token", reordered), 0);
  EXPECT_GT(measure_value("difference", reordered), 0.1);
  const Traces repeated{trace_of({5, 6, 5}, kWeights), trace_of({5, 6, 5}, kWeights)};
  EXPECT_THROW(measure_value("difference_by_token", repeated), InputError);
}

TEST(Measures, CompareEarlierRows) {
  std::vector<float> second_weights = kWeights;
  second_weights[6] = 0.25F;
  second_weights[7] = 0.375F;
  const Traces compared{trace_of({5, 6, 7}, kWeights), trace_of({5, 6, 7}, second_weights)};
  EXPECT_EQ(measure_value("earlier_difference", compared, 2), 0);
  EXPECT_NEAR(measure_value("difference", compared), 0.25, 1e-7);
  second_weights = kWeights;
  second_weights[3] = 0.5F;
  EXPECT_NEAR(
      measure_value("earlier_difference", {compared.trace, trace_of({5, 6, 7}, second_weights)}, 2),
      0.25, 1e-7);
}

TEST(Measures, EvaluateRunB) {
  std::vector<float> second_weights = kWeights;
  second_weights[3] = 0.5F;
  second_weights[4] = 0.5F;
  Claim claim;
  claim.measure = "weight";
  claim.query = 1;
  claim.key = 0;
  claim.least = 0;
  const Traces compared{trace_of({5, 6, 7}, kWeights), trace_of({5, 6, 7}, second_weights)};
  EXPECT_EQ(check(claim, compared).value, 0.25);
  claim.other = true;
  EXPECT_EQ(check(claim, compared).value, 0.5);
}

// Trace with one layer of these heads.
std::shared_ptr<const Trace> trace_of_heads(const std::vector<std::vector<float>>& heads) {
  auto trace = std::make_shared<Trace>(*trace_of({5, 6, 5}, heads.front()));
  AttentionTap& tap = trace->attention.front();
  const auto count = static_cast<Index>(heads.size());
  tap.result.attention = Tensor({count, 3, 3});
  tap.heads.clear();
  for (Index head = 0; head < count; ++head) {
    tap.heads.push_back(head);
    std::ranges::copy(heads[static_cast<std::size_t>(head)],
                      tap.result.attention.begin() + 9 * head);
  }
  return trace;
}

TEST(Measures, EvaluateAllHeadsOfLayer) {
  const std::vector<float> one_hot_weights = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<float> uniform_weights = {1, 0, 0, 0.5F, 0.5F, 0, 0.5F, 0.5F, 0};
  const Traces three_heads{trace_of_heads({uniform_weights, one_hot_weights, kWeights}), nullptr};
  EXPECT_NEAR(measure_value("median_entropy", three_heads), 2.0 / 3,
              1e-7);  // entropy of `uniform_weights`
  EXPECT_NEAR(measure_value("most_induction", three_heads), 0.5,
              1e-7);  // `uniform_weights`: token 1 follows a 5
  EXPECT_NEAR(measure_value("maps_apart", three_heads), 0.375,
              1e-7);  // `uniform_weights` and kWeights
  const Traces equal_heads{trace_of_heads({uniform_weights, uniform_weights}), nullptr};
  EXPECT_EQ(measure_value("maps_apart", equal_heads), 0);
}

// Returns the message of the InputError, or "" if none is thrown.
std::string error_message(const std::string& id, const Traces& traces) {
  try {
    measure_value(id, traces);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// Returns a copy of the trace with `keys` key columns. Columns beyond the text are not tokens.
std::shared_ptr<Trace> with_keys(const Trace& trace, Index keys) {
  auto wider = std::make_shared<Trace>(trace);
  AttentionTap& tap = wider->attention.front();
  const Index length = tap.queries();
  tap.result.attention = Tensor::zeros({1, length, keys});
  tap.result.pattern = std::make_shared<const Pattern>(Pattern::all(length, keys));
  return wider;
}

TEST(Measures, RejectMapsOfDifferentSizes) {
  const auto square = trace_of({5, 6, 7}, kWeights);
  for (const Index keys : {2, 4}) {
    auto two_layers = std::make_shared<Trace>(*square);
    two_layers->attention.push_back(with_keys(*square, keys)->attention.front());
    two_layers->attention.back().address.layer = 1;
    EXPECT_NE(error_message("maps_apart", {two_layers, nullptr}).find("different sizes"),
              std::string::npos);
    EXPECT_NE(
        error_message("difference", {square, with_keys(*square, keys)}).find("different sizes"),
        std::string::npos);
  }
}

TEST(Measures, RejectDifferentTokens) {
  const auto original = trace_of({5, 6, 7}, kWeights);
  const Traces reversed{original, trace_of({7, 6, 5}, kWeights)};
  const std::pair<Traces, const char*> cases[] = {
      {{original, trace_of({5, 6, 8}, kWeights)}, "another token"},
      {{trace_of({5, 5, 7}, kWeights), original}, "a token that comes twice"},
      {{with_keys(*original, 5), with_keys(*reversed.reference(), 5)}, "keys that are no tokens"},
      {{with_keys(*original, 2), with_keys(*reversed.reference(), 2)}, "fewer keys than tokens"},
  };
  EXPECT_EQ(error_message("difference_by_token", reversed), "");
  for (const auto& [traces, what] : cases) {
    EXPECT_NE(error_message("difference_by_token", traces).find("each token once"),
              std::string::npos)
        << what;
  }
}

TEST(Measures, CountLayersToReach) {
  const Traces single_run{trace_of({5, 6, 5}, kWeights), nullptr};
  EXPECT_EQ(measure_value("layers_to_reach_earlier", single_run), 1);
  EXPECT_EQ(measure_value("layers_to_reach_all", single_run), INFINITY);
  auto bidirectional = std::make_shared<Trace>(*single_run.trace);
  bidirectional->attention.front().result.pattern =
      std::make_shared<const Pattern>(Pattern::all(3, 3));
  EXPECT_EQ(measure_value("layers_to_reach_all", {bidirectional, nullptr}), 1);
}

// In the strided factorisation, two layers connect each pixel with all earlier pixels.
TEST(Measures, CountLayersToReachOfImage) {
  Session session;
  session.run.tensors = {(testing::source_folder() / "assets" / "samples" / "digit.png").string(),
                         "", "", 32, 32};
  session.run.variant = Choice{"strided", default_values(variant("strided").parameters)};
  session.run.variant->values.set("stride", Index{32});
  session.run.variant->values.set("mode", std::string("merged"));
  ExperimentRun run(cpu_only());
  const Traces picture{run.run(session.run), nullptr};
  Claim claim;
  claim.measure = "layers_to_reach_earlier";
  claim.least = 0;
  EXPECT_EQ(check(claim, picture).value, INFINITY);
  Values parameters = view_values(claim.view, "pattern");
  parameters.set("layers", Index{2});
  set_view_values(claim.view, "pattern", parameters);
  EXPECT_EQ(check(claim, picture).value, 2);
  claim.measure = "layers_to_reach";
  claim.query = 1023;
  claim.key = 0;
  EXPECT_EQ(check(claim, picture).value, 2);
  std::swap(claim.query, claim.key);
  EXPECT_EQ(check(claim, picture).value, INFINITY);
}

TEST(Measures, RankPredictions) {
  auto trace = std::make_shared<Trace>(*trace_of({2, 0, 1}, kWeights));
  EXPECT_THROW(measure_value("next_rank", {trace, nullptr}, 0, 1), InputError);
  trace->logits = Tensor({3, 3});
  const std::vector<float> logits = {5, 1, 3, 5, 4, 3, 0, 1, 2};
  std::ranges::copy(logits, trace->logits.value().begin());
  const Traces single_run{trace, nullptr};
  EXPECT_EQ(measure_value("next_rank", single_run, 0, 1), 1);  // position 1 has id 0
  EXPECT_EQ(measure_value("next_rank", single_run, 1, 2), 2);  // position 2 has id 1
  EXPECT_EQ(measure_value("next_rank", single_run, 0, 2), 3);
  EXPECT_EQ(measure_value("foreseen", single_run, 1), 0.5);
  EXPECT_EQ(measure_value("foreseen", single_run, 2), 0);
  EXPECT_THROW(measure_value("foreseen", single_run, 0), InputError);
}

TEST(Measures, AverageBitsPerToken) {
  auto trace = std::make_shared<Trace>(*trace_of({2, 0, 1}, kWeights));
  EXPECT_THROW(measure_value("bits", {trace, nullptr}, 1), InputError);
  trace->token_bits = Tensor::full({3}, std::nanf(""));
  trace->token_bits[1] = 3;
  trace->token_bits[2] = 6;
  EXPECT_EQ(measure_value("bits", {trace, nullptr}, 1), 4.5);
  EXPECT_EQ(measure_value("bits", {trace, nullptr}, 2), 6);
  EXPECT_THROW(measure_value("bits", {trace, nullptr}, 0), InputError);  // not predicted
  EXPECT_THROW(measure_value("bits", {trace, nullptr}, 3), InputError);
}

TEST(Measures, FindSettledPredictions) {
  auto trace = std::make_shared<Trace>(*trace_of({2, 0, 1}, kWeights));
  EXPECT_THROW(measure_value("settled", {trace, nullptr}), InputError);
  auto lens = std::make_shared<LogitLens>();
  lens->guess = IntTensor({2, 3});
  const std::vector<std::int32_t> guesses = {4, 5, 6, 4, 5, 7};
  std::ranges::copy(guesses, lens->guess.begin());
  Traces traces(trace);
  traces.findings.set(Findings::lens, std::shared_ptr<const LogitLens>(lens));
  EXPECT_NEAR(measure_value("settled", traces), 2.0 / 3, 1e-12);
  EXPECT_EQ(measure_value("settles_at", traces, 0), 0);
  EXPECT_EQ(measure_value("settles_at", traces, 2), 1);
  EXPECT_THROW(measure_value("settles_at", traces, 3), InputError);
}

// A run of a small model with queries, keys and encodings.
Traces run_of(const std::string& variant, const std::string& encoding) {
  return {
      std::make_shared<const Trace>(testing::run_model({.variant = variant, .encoding = encoding})),
      nullptr};
}

// Compares with the definition in double precision.
TEST(Measures, ComputeScores) {
  const Traces single_run = run_of("full", "none");
  const AttentionTap& tap = single_run.trace->attention.front();
  const Part& part = *tap.part();
  const Tensor &q = part.q.value(), &k = part.k.value();  // [2, 12, 8]
  const auto score = [&](Index i, Index c) {
    double sum = 0;
    for (Index n = 0; n < 8; ++n) sum += static_cast<double>(q(0, i, n)) * k(0, c, n);
    return sum / std::sqrt(8.0);
  };
  EXPECT_NEAR(measure_value("score", single_run, 9, 4), score(9, 4), 1e-6);
  double sum = 0, squares = 0, largest = 0;
  for (Index i = 0; i < 12; ++i) {
    float row_maximum = 0;
    for (Index c = 0; c <= i; ++c) {
      sum += score(i, c);
      squares += score(i, c) * score(i, c);
      row_maximum = std::max(row_maximum, tap.result.attention(0, i, c));
    }
    largest += static_cast<double>(row_maximum) / 12;
  }
  EXPECT_NEAR(measure_value("score_spread", single_run),
              std::sqrt(squares / 78 - sum * sum / 78 / 78), 1e-6);
  EXPECT_NEAR(measure_value("largest_weight", single_run), largest, 1e-6);
  EXPECT_THROW(measure_value("score", run_of("linear", "none"), 9, 4), InputError);
  EXPECT_THROW(measure_value("score", single_run, 12, 4), InputError);
}

TEST(Measures, CountSharedKeysOnce) {
  const auto run = [](Index kv_heads) {
    return Traces(std::make_shared<const Trace>(
        testing::run_model({.layers = 3, .heads = 4, .kv_heads = kv_heads})));
  };
  EXPECT_EQ(measure_value("cached_numbers", run(4)), 3 * 2 * 4 * 8);
  EXPECT_EQ(measure_value("cached_numbers", run(2)), 3 * 2 * 2 * 8);
  EXPECT_GT(measure_value("keys_apart", run(4)), 0);
  EXPECT_EQ(measure_value("keys_apart", run(2)), 0);
  Claim claim;
  claim.measure = "keys_apart";
  claim.head = 1;
  claim.least = 0;
  EXPECT_GT(check(claim, run(2)).value, 0);  // heads 1 and 2 use different keys
  claim.head = 3;
  EXPECT_THROW(check(claim, run(2)), InputError);
}

TEST(Measures, CompareBitsPerToken) {
  auto a = std::make_shared<Trace>(*trace_of({5, 6, 7}, kWeights)), b = std::make_shared<Trace>(*a);
  a->token_bits = Tensor::from({3}, {NAN, 4, 7});
  b->token_bits = Tensor::from({3}, {NAN, 4, 3});
  EXPECT_NEAR(measure_value("bits_change", {a, b}, 1), 2, 1e-6);
  EXPECT_NEAR(measure_value("bits_change", {a, b}, 2), 4, 1e-6);
}

TEST(Measures, CountPairsWithinSpans) {
  const Traces single_run = run_of(R"({"type": "adaptive_span", "span": 6, "ramp": 2.5})", "none");
  Claim claim;
  claim.measure = "span_mask";
  claim.least = 0;
  double within = 0, causal = 0;
  for (claim.head = 0; claim.head < 2; ++claim.head) {
    for (claim.query = 0; claim.query < 12; ++claim.query) {
      for (claim.key = 0; claim.key <= claim.query; ++claim.key) {
        ++causal;
        if (check(claim, single_run).value > 0) ++within;
      }
    }
  }
  EXPECT_LT(within, causal);
  EXPECT_NEAR(measure_value("span_pairs", single_run), within / causal,
              1e-12);  // all layers have the same initial spans
  EXPECT_THROW(measure_value("span_pairs", run_of("full", "none")), InputError);
}

TEST(Measures, EvaluateBiases) {
  const Traces single_run = run_of("full", "alibi");  // slopes of two heads: 1/16 and 1/256
  EXPECT_EQ(measure_value("bias", single_run, 7, 7), 0);
  EXPECT_NEAR(measure_value("bias", single_run, 9, 1), -0.5, 1e-6);
  EXPECT_NEAR(measure_value("bias_bend", single_run), 0, 1e-6);
  EXPECT_NEAR(measure_value("biases_apart", single_run, 9, 1), 8 * (1.0 / 16 - 1.0 / 256), 1e-6);
  EXPECT_GT(measure_value("bias_bend", run_of("full", "t5")), 1e-3);
  EXPECT_THROW(measure_value("bias", run_of("full", "rope"), 9, 1), InputError);
}

TEST(Measures, EvaluateFactorsAndPositionTerms) {
  const Traces factors = run_of("full", "distance_aware");
  EXPECT_EQ(measure_value("factor", factors, 5, 5), 1);  // no distance
  EXPECT_GT(measure_value("factor", factors, 9, 1), 0);
  EXPECT_THROW(measure_value("factor", run_of("full", "rope"), 9, 1), InputError);

  const Traces four_terms = run_of("full", "transformer_xl");
  const AttentionTap& tap = four_terms.trace->attention.front();
  double total = 0, content = 0;
  for (Index key = 0; key <= 6; ++key) {
    const std::optional<PairScore> score = pair_score(*tap.part(), 0, 6, key);
    for (const auto& [term, value] : score->terms) {
      total += std::abs(value);
      if (term == Term::Content) content += std::abs(value);
    }
  }
  EXPECT_NEAR(measure_value("position_share", four_terms, 6), 1 - content / total, 1e-9);
  EXPECT_THROW(measure_value("position_share", run_of("full", "rope"), 6), InputError);
}

TEST(Measures, EvaluateRotations) {
  const Traces single_run = run_of("full", "rope");  // heads of 8 components
  EXPECT_NEAR(measure_value("first_turn", single_run), 1, 1e-9);
  EXPECT_NEAR(measure_value("last_turn", single_run), std::pow(10000, -0.75), 1e-9);
  EXPECT_THROW(measure_value("last_turn", run_of("full", "alibi")), InputError);
}

TEST(Measures, EvaluateSpanMask) {
  const Traces single_run = run_of(R"({"type": "adaptive_span", "span": 4, "ramp": 2})", "none");
  EXPECT_EQ(measure_value("span_mask", single_run, 6, 4),
            1);  // z starts at half of the maximum span
  EXPECT_NEAR(measure_value("span_mask", single_run, 6, 3), 0.5, 1e-6);
  EXPECT_EQ(measure_value("span_mask", single_run, 6, 2), 0);
  EXPECT_THROW(measure_value("span_mask", run_of("full", "none"), 6, 4), InputError);
  Claim claim;
  claim.measure = "span_mask";
  claim.query = 6;
  claim.key = 1;
  claim.least = 0;
  claim.view = testing::settings_with("span", R"({"z": 4, "ramp": 4})");  // set in the view
  EXPECT_NEAR(check(claim, run_of("full", "none")).value, 0.75, 1e-6);
  EXPECT_EQ(check(claim, single_run).value, 0);  // the pair is beyond the model's maximum span
}

TEST(Measures, CompareContentScores) {
  const Traces rope = run_of("full", "rope"), none = run_of("full", "none");
  const Traces alibi{run_of("full", "alibi").trace, none.trace};
  EXPECT_NEAR(measure_value("content_difference", alibi), 0, 1e-6);
  EXPECT_GT(measure_value("content_difference", {rope.trace, none.trace}), 1e-3);
}

TEST(Measures, EvaluateSinusoids) {
  const Traces single_run{trace_of({5, 6, 7}, kWeights), nullptr};
  EXPECT_NEAR(measure_value("position_similarity", single_run, 1, 1), 0.5, 1e-6);
  EXPECT_NEAR(measure_value("similarity_spread", single_run), 0, 1e-6);
  double expected = 0;  // half the mean of cos(ω) over the frequencies
  for (int t = 0; t < 4; ++t) expected += std::cos(std::pow(10000.0, -2.0 * t / 8)) / 8;
  EXPECT_NEAR(measure_value("position_similarity", single_run, 1, 2), expected, 1e-6);
  EXPECT_NEAR(measure_value("closest_positions", single_run), expected,
              1e-6);  // at distance 1
}

// The shares of all keys sum to 1, and so do the shares of all heads.
TEST(Measures, EvaluateShares) {
  const Traces run{
      std::make_shared<const Trace>(testing::run_model({.length = 9, .heads = 3, .kv_heads = 3})),
      nullptr};
  double values = 0;
  for (Index key = 0; key < 9; ++key) values += measure_value("value_share", run, 8, key);
  EXPECT_NEAR(values, 1, 1e-4);
  EXPECT_EQ(measure_value("value_share", run, 3, 8), 0);  // the pair is not allowed
  double heads = 0;
  Claim claim;
  claim.measure = "head_share";
  claim.query = 8;
  claim.least = 0;
  for (claim.head = 0; claim.head < 3; ++claim.head) heads += check(claim, run).value;
  EXPECT_NEAR(heads, 1, 1e-4);
  // The measure is |update| / |residual stream|. Both are computed here from the taps.
  const auto length = [&](const char* tap) {
    double sum = 0;
    const Tensor& rows = run.trace->taps.at(tap);
    for (Index n = 0; n < rows.dim(1); ++n) sum += std::pow(static_cast<double>(rows(8, n)), 2);
    return std::sqrt(sum);
  };
  EXPECT_NEAR(measure_value("attention_update", run, 8),
              length("layers.0.attention") / length("embed"), 1e-5);
  const Traces map{trace_of({5, 6, 5}, kWeights), nullptr};
  for (const char* id : {"attention_update", "head_share"}) {
    EXPECT_THROW(measure_value(id, map, 1), InputError) << id;
  }
}

TEST(Measures, RejectMissingData) {
  const Traces single_run{trace_of({5, 6, 5}, kWeights), nullptr};
  EXPECT_THROW(measure_value("weight", single_run, 3, 0), InputError);
  EXPECT_THROW(measure_value("difference", single_run), InputError);  // no run B
  EXPECT_THROW(measure_value("distance_change", single_run), InputError);
  EXPECT_THROW(measure_value("weight", single_run, 0, 3), InputError);
  Claim claim;
  claim.measure = "entropy";
  claim.head = 1;
  claim.most = 1;
  EXPECT_THROW(check(claim, single_run), InputError);
  // NaN fails every claim.
  claim.head = 0;
  claim.measure = "induction";
  EXPECT_FALSE(check(claim, {trace_of({5, 6, 7}, kWeights), nullptr}).holds);
}

double measured_at_head(const std::string& id, const std::shared_ptr<const Trace>& trace,
                        Index layer, Index head, Index segment, Index query = -1) {
  Claim claim;
  claim.measure = id;
  claim.layer = layer;
  claim.head = head;
  claim.view.part.segment = segment;
  claim.query = query;
  claim.least = 0;
  return check(claim, {trace, nullptr}).value;
}

TEST(Measures, EvaluateMemory) {
  const Ids ids{5, 14, 12, 2, 9, 15, 4, 9, 16, 14, 14, 3, 1, 8, 8, 10, 7, 2};
  const auto trace = testing::run_case("memory-compressive-mean", ids);
  const AttentionTap* tap = trace->find({1, 1, {.segment = 4}});
  ASSERT_NE(tap, nullptr);
  const Tensor weights = tap->attention(1);  // 2 compressed, 4 of memory, 2 of the segment
  ASSERT_EQ(weights.shape(), (Shape{2, 8}));
  double compressed = 0;
  for (Index i = 0; i < 2; ++i) {
    for (Index c = 0; c < 2; ++c) compressed += static_cast<double>(weights(i, c)) / 2;
  }
  EXPECT_NEAR(measured_at_head("compressed_share", trace, 1, 1, 4), compressed, 1e-6);
  EXPECT_EQ(measured_at_head("heard_back", trace, 0, 0, 4), 17 - 8);  // the oldest window
  EXPECT_LT(measured_at_head("segment_cost", trace, 0, 0, 4), 1);
  EXPECT_THROW(measured_at_head("mean_steps", trace, 0, 0, 0), InputError);
  EXPECT_THROW(measured_at_head("attention_gate", trace, 0, 0, 0), InputError);
}

TEST(Measures, EvaluateStepsAndGates) {
  const Ids ids{5, 14, 12, 2, 9, 15, 4, 9};
  const auto steps = testing::run_case("universal-act", ids);
  const IntTensor& taken = steps->counts.at("halting.steps");
  EXPECT_EQ(measured_at_head("steps_taken", steps, 0, 0, 0, 3), taken[3]);
  double sum = 0, ponder = 0;
  for (Index i = 0; i < 8; ++i) {
    sum += taken[i];
    ponder += taken[i] + static_cast<double>(steps->taps.at("halting.remainder").value()[i]);
  }
  EXPECT_NEAR(measured_at_head("mean_steps", steps, 0, 0, 0), sum / 8, 1e-9);
  EXPECT_NEAR(measured_at_head("ponder_cost", steps, 0, 0, 0), ponder / 8, 1e-6);
  const auto gated = testing::run_case("join-gru", ids);
  for (const Located<Tensor>& tap : gated->located) {
    if (tap.name != "gate.attention") continue;
    double mean = 0;
    for (const float z : tap.values) mean += static_cast<double>(z);
    mean /= static_cast<double>(tap.values.size());
    EXPECT_NEAR(measured_at_head("attention_gate", gated, tap.address.layer, 0, 0), mean, 1e-6);
  }
  const auto memory = testing::run_case("memory-memorizing", ids);
  Index head = 0;
  const AttentionTap* tap = memory->find({1, 0, {.segment = 1}}, &head);
  ASSERT_NE(tap, nullptr);
  EXPECT_NEAR(measured_at_head("memory_gate", memory, 1, 0, 1),
              kind_weight({tap, head}, KeyKind::Memory), 1e-5);
}

TEST(Measures, IncludeTheirLimits) {
  const Traces single_run{trace_of({5, 6, 5}, kWeights), nullptr};
  const auto holds = [&](std::optional<double> least, std::optional<double> most) {
    Claim claim;
    claim.measure = "weight";
    claim.query = 2;
    claim.key = 1;
    claim.least = least;
    claim.most = most;
    return check(claim, single_run).holds;
  };
  EXPECT_TRUE(holds(0.125, std::nullopt));
  EXPECT_FALSE(holds(0.126, std::nullopt));
  EXPECT_TRUE(holds(std::nullopt, 0.125));
  EXPECT_FALSE(holds(std::nullopt, 0.124));
  EXPECT_TRUE(holds(0.125, 0.125));
  EXPECT_FALSE(holds(0.1, 0.12));
  EXPECT_FALSE(holds(0.13, 0.2));
}

TEST(Measures, AcceptNonCausalUnnormalisedWeights) {
  const Traces unnormalised{trace_of({5, 6, 7}, {1, 0, 0.25F, 0.5F, 0.4F, 0, 0, 0.5F, 0.7F}),
                            nullptr};
  EXPECT_NEAR(measure_value("row_sum_error", unnormalised), 0.25, 1e-6);
  EXPECT_NEAR(measure_value("later_weight", unnormalised), 0.25, 1e-6);
  EXPECT_EQ(measure_value("farthest", unnormalised), 2);
  const Traces normalised{trace_of({5, 6, 7}, {1, 0, 0, 0.5F, 0.5F, 0, 0, 0.5F, 0.5F}), nullptr};
  EXPECT_EQ(measure_value("farthest", normalised), 1);
  EXPECT_NEAR(measure_value("row_sum_error", normalised), 0, 1e-7);
  EXPECT_NEAR(measure_value("largest_weight", unnormalised), (1 + 0.5 + 0.7) / 3, 1e-6);
}

// Heads with equal allowed pairs share one pattern, which also applies to the last head.
TEST(Measures, EvaluateLastHeadOfSharedPattern) {
  const std::vector<float> uniform_weights = {1, 0, 0, 0.5F, 0.5F, 0, 0.5F, 0.5F, 0};
  const auto trace = trace_of_heads({kWeights, uniform_weights});
  const auto at_head = [&](const std::string& id, const Traces& traces, Index query) {
    Claim claim;
    claim.measure = id;
    claim.head = 1;
    claim.query = query;
    claim.least = 0;
    return check(claim, traces).value;
  };
  const Traces single_run{trace, nullptr};
  EXPECT_EQ(at_head("keys_of_query", single_run, 2), 3);
  // The median of four heads is the lower middle value.
  const std::vector<float> one_hot_weights = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const Traces four_heads{
      trace_of_heads({uniform_weights, one_hot_weights, kWeights, one_hot_weights}), nullptr};
  EXPECT_NEAR(measure_value("median_entropy", four_heads), 0, 1e-7);

  const Traces run = run_of("full", "none");
  const Part& part = *run.trace->attention[0].part();
  double scores = 0, squares = 0;
  for (Index i = 0; i < 12; ++i) {
    for (Index key = 0; key <= i; ++key) {
      const double score = pair_score(part, 1, i, key)->score;
      scores += score;
      squares += score * score;
    }
  }
  EXPECT_NEAR(at_head("score_spread", run, -1), std::sqrt(squares / 78 - scores / 78 * scores / 78),
              1e-9);
  const Traces four_terms = run_of("full", "transformer_xl");
  double total = 0, content = 0;
  for (Index key = 0; key < 12; ++key) {
    const auto score = pair_score(*four_terms.trace->attention[0].part(), 1, 11, key);
    for (const auto& [term, value] : score->terms) {
      total += std::abs(value);
      if (term == Term::Content) content += std::abs(value);
    }
  }
  EXPECT_NEAR(at_head("position_share", four_terms, 11), 1 - content / total, 1e-9);
}

TEST(Measures, CompareKeysOfNeighbouringHeads) {
  const Traces run{std::make_shared<const Trace>(testing::run_model({.heads = 4, .kv_heads = 4})),
                   nullptr};
  const Tensor& keys = run.trace->attention.front().part()->k.value();
  for (Index head = 0; head < 3; ++head) {
    double apart = 0;
    for (Index c = 0; c < keys.dim(1); ++c) {
      for (Index n = 0; n < keys.dim(2); ++n) {
        apart = std::max(apart, std::abs(static_cast<double>(keys(head, c, n)) -
                                         static_cast<double>(keys(head + 1, c, n))));
      }
    }
    Claim claim;
    claim.measure = "keys_apart";
    claim.head = head;
    claim.least = 0;
    EXPECT_NEAR(check(claim, run).value, apart, 1e-9) << head;
  }
}

// Heads with any kind of softmax have scores. Heads without a softmax have no scores.
TEST(Measures, ComputeScoresOfSpanSoftmax) {
  const Traces spans = run_of(R"({"type": "adaptive_span", "span": 6, "ramp": 2.5})", "none");
  const Part& part = *spans.trace->attention.front().part();
  EXPECT_NEAR(measure_value("score", spans, 9, 4), pair_score(part, 0, 9, 4)->score, 1e-9);
  const Traces map{trace_of({5, 6, 5}, kWeights), nullptr};
  EXPECT_THROW(measure_value("score", map, 2, 1), InputError);
  EXPECT_THROW(measure_value("score_spread", map), InputError);
  EXPECT_THROW(measure_value("cached_numbers", map), InputError);
}

TEST(Measures, ReturnUnsignedZeroBias) {
  const Traces single_run = run_of("full", "alibi");
  for (const Index i : {0, 7, 11})
    EXPECT_FALSE(std::signbit(measure_value("bias", single_run, i, i)));
  const Traces bucketed = run_of("full", "t5");
  const auto at = [&](Index distance) {
    return measure_value("bias", bucketed, 11, 11 - distance);
  };
  double bend = 0;
  for (Index distance = 1; distance < 11; ++distance) {
    bend = std::max(bend, std::abs(at(distance - 1) - 2 * at(distance) + at(distance + 1)));
  }
  EXPECT_NEAR(measure_value("bias_bend", bucketed), bend, 1e-9);
}

// The maximum span limits wide ramps.
TEST(Measures, LimitSpansWithWideRamps) {
  const Traces single_run = run_of(R"({"type": "adaptive_span", "span": 4, "ramp": 9})", "none");
  double within = 0, causal = 0;
  for (Index i = 0; i < 12; ++i) {  // z is 2: the ramp ends at 11, the maximum span is 4
    within += static_cast<double>(std::min<Index>(i + 1, 5));
    causal += static_cast<double>(i + 1);
  }
  EXPECT_NEAR(measure_value("span_pairs", single_run), within / causal, 1e-12);
  EXPECT_EQ(measure_value("mean_span", single_run), 2);
  EXPECT_EQ(measure_value("longest_span", single_run), 2);
  EXPECT_EQ(measure_value("span_range", single_run), 0);
  EXPECT_THROW(measure_value("span_range", run_of("full", "none")), InputError);
  EXPECT_THROW(measure_value("mean_span", run_of("full", "none")), InputError);
  Claim claim;
  claim.measure = "span_mask";
  claim.query = 6;
  claim.least = 0;
  claim.view = testing::settings_with("span", R"({"z": 4, "ramp": 4})");
  claim.key = 2;
  EXPECT_EQ(check(claim, single_run).value, 1);  // the pair is at the model's maximum span
  claim.key = 1;
  EXPECT_EQ(check(claim, single_run).value, 0);
}

// If the map has no learned span, the span that is set in the view is used.
TEST(Measures, EvaluateSpanOfView) {
  const Traces map{trace_of({5, 6, 5}, kWeights), nullptr};
  Claim claim;
  claim.measure = "span_mask";
  claim.query = 2;
  claim.key = 0;
  claim.least = 0;
  EXPECT_THROW(check(claim, map), InputError);
  claim.view = testing::settings_with("span", R"({"z": 1, "ramp": 4})");
  EXPECT_NEAR(check(claim, map).value, 0.75, 1e-6);
  claim.view = testing::settings_with("span", R"({"z": 1})");
  EXPECT_THROW(check(claim, map), InputError);
  claim.view = testing::settings_with("span", R"({"ramp": 4})");
  EXPECT_THROW(check(claim, map), InputError);
}

TEST(Measures, CompareExitsWithOracle) {
  Traces traces(trace_of({5, 6, 5, 7}, std::vector<float>(16, 0.25F)));
  EXPECT_THROW(measure_value("oracle_agreement", traces), InputError);
  auto study = std::make_shared<ExitStudy>();
  study->guess = IntTensor::zeros({3, 4});
  study->distribution = Tensor::from(
      {4, 3}, {0.5F, 0.3F, 0.2F, 0.1F, 0.8F, 0.1F, 0.6F, 0.2F, 0.2F, 0.2F, 0.2F, 0.6F});
  study->oracle = {0, 2, 0, -1};  // most likely exits: 0, 1, 0, 2; no token follows the last
  traces.findings.set(Findings::exits, std::shared_ptr<const ExitStudy>(study));
  EXPECT_NEAR(measure_value("oracle_agreement", traces), 2.0 / 3, 1e-12);
}

TEST(Measures, EvaluateEarlyExits) {
  Traces traces(trace_of({5, 6, 5}, kWeights));
  EXPECT_THROW(measure_value("work_saved", traces), InputError);
  auto work = std::make_shared<ExitWork>();
  work->exit_layers = {0, 2, 3};
  work->agrees = {true, false, true};
  work->all = {.milliseconds = 3, .multiply_adds = 800, .bits = 2.5};
  work->early = {.milliseconds = 1, .multiply_adds = 200, .bits = 3.25};
  traces.findings.set(Findings::exit_work, std::shared_ptr<const ExitWork>(work));
  EXPECT_NEAR(measure_value("work_saved", traces), 0.75, 1e-12);
  EXPECT_NEAR(measure_value("exit_bits", traces), 0.75, 1e-12);
  EXPECT_NEAR(measure_value("exit_agreement", traces), 2.0 / 3, 1e-12);
  EXPECT_NEAR(measure_value("layers_passed", traces), (1 + 3 + 4) / 3.0, 1e-12);
}

// The gain is the mean difference in bits between the model alone and the mixture, over all tokens
// except the first.
TEST(Measures, EvaluateRetrievalGain) {
  auto trace = std::make_shared<Trace>(*trace_of({2, 0, 1}, kWeights));
  trace->logits = Tensor::from({3, 3}, {0, 1, 2, 1, 0, 0, 3, 0, 1});
  trace->token_bits = Tensor::full({3}, 1);
  EXPECT_THROW(measure_value("retrieval_gain", {trace, nullptr}), InputError);
  trace->counts.emplace("retrieval.index", IntTensor::zeros({3, 1}));
  trace->taps.emplace("log_probabilities",
                      Tensor::from({3, 3}, {-0.5F, -1, -2, -3, -0.25F, -2, -1, -1, -1}));
  const double first = 0 - std::log(std::exp(0.0) + std::exp(1.0) + std::exp(2.0));
  const double second = 0 - std::log(std::exp(1.0) + 2 * std::exp(0.0));
  const double gain = ((-0.5 - first) + (-0.25 - second)) / 2 / std::log(2.0);
  EXPECT_NEAR(measure_value("retrieval_gain", {trace, nullptr}), gain, 1e-5);
  EXPECT_THROW(measure_value("fetched_share", {trace, nullptr}, 1), InputError);
}

TEST(Measures, FindSettledPredictionsOfManyLayers) {
  auto trace = std::make_shared<Trace>(*trace_of({2, 0, 1}, kWeights));
  auto lens = std::make_shared<LogitLens>();
  lens->guess = IntTensor::from({4, 3}, {7, 1, 2, 4, 5, 6, 7, 5, 6, 7, 5, 8});
  Traces traces(trace);
  traces.findings.set(Findings::lens, std::shared_ptr<const LogitLens>(lens));
  EXPECT_EQ(measure_value("settles_at", traces, 0), 2);  // the first layer's prediction changes
  EXPECT_EQ(measure_value("settles_at", traces, 1), 1);
  EXPECT_EQ(measure_value("settles_at", traces, 2), 3);
  EXPECT_THROW(measure_value("settles_at", traces, 3), InputError);
  Claim claim;
  claim.measure = "settled";
  claim.least = 0;
  const double shares[] = {0, 1.0 / 3, 2.0 / 3, 1};
  for (claim.layer = 0; claim.layer < 4; ++claim.layer) {
    EXPECT_NEAR(check(claim, traces).value, shares[claim.layer], 1e-12) << claim.layer;
  }
  EXPECT_THROW(check(claim, traces), InputError);  // layer 4
}

TEST(Measures, RejectPositionsBeyondLastToken) {
  auto trace = std::make_shared<Trace>(*trace_of({2, 0, 1}, kWeights));
  trace->logits = Tensor::from({3, 3}, {5, 5, 3, 5, 4, 3, 0, 1, 2});
  const Traces single_run{trace, nullptr};
  EXPECT_THROW(measure_value("foreseen", single_run, 3), InputError);  // no token follows the last
  EXPECT_EQ(measure_value("next_rank", single_run, 0, 1), 1);          // a tie
  EXPECT_THROW(measure_value("next_rank", single_run, 3, 1), InputError);
  EXPECT_THROW(measure_value("next_rank", single_run, 0, 3), InputError);
}

TEST(Measures, RejectMissingGates) {
  const auto gated = testing::run_case("join-gru", {5, 14, 12, 2, 9, 15, 4, 9});
  EXPECT_THROW(measured_at_head("memory_gate", gated, 0, 0, 0), InputError);
  const auto steps = testing::run_case("universal-act", {5, 14, 12, 2, 9, 15, 4, 9});
  EXPECT_THROW(measured_at_head("steps_taken", steps, 0, 0, 0, 8), InputError);
}

// Rollouts from two cells, with one to three requested steps.
TEST(Measures, EvaluateRollouts) {
  auto rollouts = std::make_shared<Rollouts>();
  rollouts->max_steps = 3;
  const auto add = [&](Index start, Index target_steps, Index steps, bool reached) {
    Rollout walk;
    walk.start = start;
    walk.target_steps = target_steps;
    walk.actions.assign(static_cast<std::size_t>(steps), 0);
    walk.cells.assign(static_cast<std::size_t>(steps) + 1, start);
    walk.reached = reached;
    rollouts->all.push_back(walk);
  };
  add(7, 1, 1, true);    // achieved return -0.1
  add(7, 2, 1, true);    // -0.1
  add(7, 3, 3, true);    // -0.3
  add(17, 1, 3, false);  // -0.4
  add(17, 2, 3, true);   // -0.3
  add(17, 3, 3, true);   // -0.3
  Traces traces(trace_of({5, 6, 5}, kWeights));
  EXPECT_THROW(measure_value("starts_solved", traces), InputError);
  traces.findings.set(Findings::rollouts, std::shared_ptr<const Rollouts>(rollouts));
  EXPECT_EQ(measure_value("starts_solved", traces), 0.5);
  // Requested -0.1, -0.2, -0.3 with mean achieved -0.25, -0.2, -0.3.
  const double x[] = {-0.1, -0.2, -0.3}, y[] = {-0.25, -0.2, -0.3};
  double xy = 0, xx = 0, yy = 0;
  for (int n = 0; n < 3; ++n) {
    xy += (x[n] + 0.2) * (y[n] + 0.25);
    xx += (x[n] + 0.2) * (x[n] + 0.2);
    yy += (y[n] + 0.25) * (y[n] + 0.25);
  }
  EXPECT_NEAR(measure_value("achieved_follows_asked", traces), xy / std::sqrt(xx * yy), 1e-5);
  auto refused = std::make_shared<Rollouts>();
  refused->problem = "there are none";
  traces.findings.set(Findings::rollouts, std::shared_ptr<const Rollouts>(refused));
  EXPECT_THROW(measure_value("starts_solved", traces), InputError);
}

TEST(Measures, EvaluateCompletedImage) {
  Traces traces(trace_of({5, 6, 5}, kWeights));
  EXPECT_THROW(measure_value("completion_error", traces), InputError);
  auto completion = std::make_shared<Completion>();
  completion->width = completion->height = 2;
  completion->levels = 9;
  completion->given = 1;
  completion->whole = {8, 4, 2, 7};
  completion->ids = {0, 3, 6, 7};
  traces.findings.set(Findings::completion, std::shared_ptr<const Completion>(completion));
  EXPECT_NEAR(measure_value("completion_error", traces), 5.0 / 3, 1e-12);
}

// The end token is not part of the number word.
TEST(Measures, CheckNumberWords) {
  const auto is_correct = [](const std::string& digits, const std::string& words,
                             bool ended = true) {
    auto trace = std::make_shared<Trace>();
    trace->tokenizer = byte_tokenizer();
    std::vector<TraceToken> source;
    for (const char c : digits) source.push_back({.bytes = std::string(1, c), .label = {}});
    trace->streams.push_back({kSourceStream, source});
    auto written = std::make_shared<GeneratedTarget>();
    written->trace = trace;
    for (const char c : words) written->ids.push_back(static_cast<unsigned char>(c));
    if (ended) written->ids.push_back(256);
    written->ended = ended;
    Traces traces(trace_of({5, 6, 5}, kWeights));
    traces.findings.set(Findings::written, std::shared_ptr<const GeneratedTarget>(written));
    return measure_value("number_right", traces);
  };
  EXPECT_EQ(is_correct("21", "einundzwanzig"), 1);
  EXPECT_EQ(is_correct("21", "einundzwanzig", false), 1);
  EXPECT_EQ(is_correct("21", "zwanzig"), 0);
  EXPECT_THROW(is_correct("2x", "zwanzig"), InputError);
  EXPECT_THROW(is_correct("", "zwanzig"), InputError);
  EXPECT_THROW(is_correct("123456789012345", "zwanzig"), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
