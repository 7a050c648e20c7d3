#include "core/attention/variant.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/attention/terms.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/stop.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::describe;
using testing::OperationSizes;
using testing::random_operation;
using testing::random_tensor;
using testing::small_choice;
using testing::value_cases;

constexpr ResultRequest kAllResults{.output = true, .attention = true, .scores = true};

Choice parse_variant(const char* json) {
  return variant_from_json(Json::parse(json), "variant");
}
Choice parse_encoding(const char* json) {
  return encoding_from_json(Json::parse(json), "position");
}

TEST(Choice, ReadsAndWritesJson) {
  const Choice local = parse_variant(R"({"type": "local", "window": 3})");
  EXPECT_EQ(local.id, "local");
  EXPECT_EQ(local.values.integer("dilation"), 1);
  for (const Variant& v : variants()) {
    const Choice choice{v.id, default_values(v.parameters)};
    EXPECT_EQ(variant_from_json(to_json(choice), "variant"), choice) << v.id;
  }
  for (const Encoding& e : encodings()) {
    const Choice choice{e.id, default_values(e.parameters)};
    EXPECT_EQ(encoding_from_json(to_json(choice), "position"), choice) << e.id;
  }
  EXPECT_THROW(parse_variant(R"({"window": 3})"), InputError);
  EXPECT_THROW(parse_variant(R"({"type": 3})"), InputError);
  EXPECT_THROW(parse_variant(R"("local")"), InputError);
  EXPECT_THROW(parse_variant(R"({"type": "locale"})"), InputError);
  EXPECT_THROW(parse_encoding(R"({"type": "full"})"), InputError);
}

TEST(Refusal, RejectsUnsupportedCombinations) {
  struct Case {
    const char *variant, *encoding;
    bool causal;
    Index queries, keys;
    const char* prefix;  // beginning of the refusal; empty if the combination is supported
  };
  const char* none = R"({"type": "none"})";
  const char* full = R"({"type": "full"})";
  const Case cases[] = {
      {full, none, false, 9, 9, ""},
      {full, none, true, 7, 11, ""},
      {R"({"type": "local", "window": 2})", none, false, 7, 11, "k: "},
      {R"({"type": "hopfield", "steps": 2})", none, true, 7, 11, ""},
      {R"({"type": "lsh", "buckets": 4, "rounds": 1})", none, true, 7, 11, "k: "},
      {R"({"type": "sinkhorn", "block": 3, "iterations": 2})", none, true, 9, 9, "causal: "},
      {R"({"type": "memory_compressed", "stride": 3})", none, true, 9, 9, "causal: "},
      {R"({"type": "linformer", "k": 3})", none, true, 9, 9, "causal: "},
      {R"({"type": "sinkhorn", "block": 4, "iterations": 2})", none, false, 9, 9,
       "variant.block: "},
      {R"({"type": "fixed", "stride": 3, "summary": 4})", none, false, 9, 9, "variant.summary: "},
      {R"({"type": "fixed", "stride": 3, "summary": 3})", none, false, 9, 9, ""},
      {R"({"type": "longformer", "window": 1, "global": [9]})", none, false, 9, 9,
       "variant.global: "},
      {R"({"type": "etc", "global": 10, "radius": 1})", none, false, 9, 9, "variant.global: "},
      {R"({"type": "etc", "global": 2, "radius": 1, "segments": [0, 1, 0, 1, 0, 1]})", none, false,
       9, 9, "variant.segments: "},
      {R"({"type": "etc", "global": 2, "radius": 1, "segments": [0, 1, 0, 1, 0, 1, 2]})", none,
       false, 9, 9, "variant.segments: "},
      {R"({"type": "bigbird", "block": 3, "window_blocks": 2, "global_blocks": 0,
           "random_blocks": 0})",
       none, false, 9, 9, "variant.window_blocks: "},
      {R"({"type": "bigbird", "block": 3, "window_blocks": 1, "global_blocks": 0,
           "random_blocks": 1, "random": [[0], [1]]})",
       none, false, 9, 9, "variant.random: "},
      {R"({"type": "bigbird", "block": 3, "window_blocks": 1, "global_blocks": 0,
           "random_blocks": 1, "random": [[0], [1], [3]]})",
       none, false, 9, 9, "variant.random: "},
      {R"({"type": "blockwise", "blocks": 3, "permutations": [[0, 1, 2]]})", none, false, 9, 9,
       "variant.permutations: "},
      {R"({"type": "blockwise", "blocks": 3, "permutations": [[0, 1, 2], [0, 1, 1]]})", none, false,
       9, 9, "variant.permutations: "},
      {R"({"type": "image_2d", "width": 2, "height": 4, "block_h": 1, "block_w": 1, "top": 0,
           "left": 0, "right": 0})",
       none, false, 9, 9, "variant.width: "},
      {R"({"type": "swin", "width": 2, "height": 4, "window": 2})", none, false, 9, 9,
       "variant.width: "},
      {R"({"type": "adaptive_span", "span": 4, "ramp": 2})",
       R"({"type": "relative_bias_2d", "width": 3, "clip": 1})", false, 9, 9, "position.type: "},
      {R"({"type": "segment_memory"})", R"({"type": "relative_bias_2d", "width": 3, "clip": 1})",
       true, 9, 9, "position.type: "},
      {R"({"type": "lsh", "buckets": 5, "rounds": 1})", none, false, 9, 9, "variant.buckets: "},
      {full, R"({"type": "rope", "dims": 3})", false, 9, 9, "position.dims: "},
      {full, R"({"type": "rope", "dims": 6})", false, 9, 9, "position.dims: "},
      {full, R"({"type": "rope", "dims": 4})", false, 9, 9, ""},
      {full, R"({"type": "t5", "buckets": 7})", false, 9, 9, "position.buckets: "},
      {full, R"({"type": "t5", "buckets": 7})", true, 9, 9, ""},
      {full, R"({"type": "t5", "buckets": 2})", false, 9, 9, "position.buckets: "},
      {full, R"({"type": "t5", "buckets": 1, "bidirectional": false})", false, 9, 9,
       "position.buckets: "},
      {full, R"({"type": "t5", "max_distance": 8})", false, 9, 9, "position.max_distance: "},
      {full, R"({"type": "t5", "max_distance": 9})", false, 9, 9, ""},
      {R"({"type": "strided", "stride": 2})", R"({"type": "t5", "buckets": 7})", false, 9, 9, ""},
      {full, R"({"type": "alibi", "slopes": [1]})", false, 9, 9, "position.slopes: "},
      {full, R"({"type": "sinusoidal"})", false, 9, 9, ""},
      {R"({"type": "full", "score": "additive"})", R"({"type": "alibi"})", false, 9, 9,
       "position.type: "},
      {R"({"type": "full", "score": "additive"})", R"({"type": "learned"})", false, 9, 9, ""},
      {R"({"type": "graph", "mode": "additive"})", R"({"type": "rope"})", false, 9, 9,
       "position.type: "},
      {R"({"type": "graph"})", R"({"type": "rope"})", false, 9, 9, ""},
      {R"({"type": "linear"})", R"({"type": "alibi"})", false, 9, 9, "position.type: "},
      {R"({"type": "linear"})", R"({"type": "rope"})", false, 9, 9, ""},
      {R"({"type": "rfa", "features": 4})", R"({"type": "rope"})", true, 9, 9, ""},
      {R"({"type": "performer", "features": 4})", R"({"type": "rope", "dims": 3})", true, 9, 9,
       "position.dims: "},
      {R"({"type": "hopfield", "steps": 2})", R"({"type": "rope"})", false, 9, 9,
       "position.type: "},
      {R"({"type": "rfa", "features": 4, "gate": true})", none, false, 9, 9, "variant.gate: "},
      {R"({"type": "rfa", "features": 4, "gate": true})", none, true, 9, 9, ""},
      {R"({"type": "rfa", "features": 4, "gate": true})", none, true, 7, 9, "k: "},
      {R"({"type": "segment_memory"})", R"({"type": "untied"})", false, 9, 9, "position.type: "},
      {R"({"type": "segment_memory"})", R"({"type": "learned"})", false, 9, 9, "position.type: "},
      {R"({"type": "compressive", "rate": 2})", R"({"type": "sinusoidal"})", false, 9, 9,
       "position.type: "},
      {R"({"type": "memorizing", "top": 2})", R"({"type": "untied"})", false, 9, 9, ""},
  };
  Dimensions sizes;
  sizes.model = 8;
  sizes.heads = sizes.kv_heads = 2;
  sizes.key = sizes.value = 4;
  for (const Case& c : cases) {
    const std::string reason = refusal(parse_variant(c.variant), parse_encoding(c.encoding),
                                       c.causal, sizes, c.queries, c.keys);
    if (*c.prefix == '\0') {
      EXPECT_EQ(reason, "") << c.variant << c.encoding;
    } else {
      EXPECT_TRUE(reason.starts_with(c.prefix)) << c.variant << c.encoding << ": " << reason;
    }
  }
  sizes.model = 7;
  EXPECT_TRUE(
      refusal(default_variant(), parse_encoding(R"({"type": "sinusoidal"})"), false, sizes, 9, 9)
          .starts_with("x: "));
}

TEST(Refusal, LimitsRetrievedKeysOnlyIfTheMemoryIsKnown) {
  const Choice memorizing = parse_variant(R"({"type": "memorizing", "top": 3})");
  Dimensions sizes;
  sizes.memory = 2;
  EXPECT_EQ(refusal(memorizing, default_encoding(), true, sizes, 9, 9), "");
  sizes.is_memory_final = true;
  EXPECT_EQ(refusal(memorizing, default_encoding(), true, sizes, 9, 9),
            "variant.top: expected at most the 2 rows of mem.k, found 3");
  sizes.memory = 3;
  EXPECT_EQ(refusal(memorizing, default_encoding(), true, sizes, 9, 9), "");
}

TEST(Refusal, RejectsMissingAndInvalidValues) {
  Choice local{"local", {}};
  EXPECT_NE(refusal(local, default_encoding(), false, {}, 0, 0), "");
  local.values.set("window", Index{-1});
  local.values.set("dilation", Index{1});
  EXPECT_NE(refusal(local, default_encoding(), false, {}, 0, 0), "");
  local.values.set("window", 1.5);
  EXPECT_NE(refusal(local, default_encoding(), false, {}, 0, 0), "");
  local.values.set("window", Index{1});
  EXPECT_EQ(refusal(local, default_encoding(), false, {}, 0, 0), "");
}

// Calls body(input) for every supported combination of a variant and a pair encoding.
void for_each_operation(const OperationSizes& sizes,
                        const std::function<void(const OperationInput&)>& body) {
  std::uint64_t seed = 0;
  for (const Variant& v : variants()) {
    for (const Values& values : value_cases(v.parameters)) {
      const Choice choice = small_choice(v, values);
      for (const Encoding& e : encodings()) {
        if (e.embed) continue;  // input encodings are applied before the operation
        const Choice encoding{e.id, default_values(e.parameters)};
        for (const bool causal : {false, true}) {
          const OperationSizes used = testing::compatible_sizes(sizes, choice, encoding, causal);
          if (!refusal(choice, encoding, causal, testing::dimensions(used), used.length,
                       used.length)
                   .empty()) {
            continue;
          }
          const OperationInput input = random_operation(used, choice, encoding, causal, ++seed);
          SCOPED_TRACE(describe(input));
          body(input);
        }
      }
    }
  }
}

TEST(Evaluate, ReturnsConsistentResults) {
  int count = 0;
  for_each_operation({}, [&](OperationInput input) {
    ++count;
    const Variant& v = variant(input.variant.id);
    // Enough iterations for a matching whose rows sum to 1.
    if (v.id == "sinkhorn") input.variant.values.set("iterations", Index{30});
    const OperationResult result = evaluate(input, cpu_backend(), kAllResults);
    EXPECT_EQ(result.note, "");
    const Index pairs = input.heads, queries = 16;
    EXPECT_EQ(result.output.shape(), (Shape{pairs, queries, input.v.dim(2)}));
    ASSERT_EQ(result.attention.rank(), 3);
    ASSERT_TRUE(result.pattern);
    const ByteTensor mask =
        result.mask.defined() ? result.mask : result.pattern->mask(result.attention.dim(0));
    ASSERT_EQ(mask.shape(), result.attention.shape());
    const bool has_rotated_features = input.variant.id == "linear" && input.encoding.id == "rope" &&
                                      input.variant.values.choice("rotation") == "after";
    const bool sums_to_one =
        v.id != "gmlp" && v.id != "capsules" && v.id != "mamba" && !has_rotated_features;
    const Index keys = result.attention.dim(2);
    for (Index row = 0; row < pairs * queries; ++row) {
      double sum = 0;
      bool has_keys = false;
      for (Index c = 0; c < keys; ++c) {
        const float a = result.attention[row * keys + c];
        ASSERT_TRUE(std::isfinite(a));
        if (mask[row * keys + c] == 0) {
          // Sinkhorn's pattern omits blocks with a weight below one in a million.
          ASSERT_LE(std::abs(a), v.id == "sinkhorn" ? 1e-5f : 0.0f);
        }
        has_keys = has_keys || mask[row * keys + c] != 0;
        sum += a;
      }
      if (sums_to_one) {  // of Sinkhorn: if the rows of its matching do
        EXPECT_NEAR(sum, has_keys ? 1 : 0, v.id == "sinkhorn" ? 0.02 : 1e-4);
      }
    }
    if (v.scores.has_softmax(input.variant.values)) {
      EXPECT_EQ(result.scores.shape(), result.attention.shape());
    }
  });
  EXPECT_GT(count, 200);
}

TEST(Evaluate, TreatsBatchItemsIndependently) {
  OperationSizes batch_of_two;
  batch_of_two.batch = 2;
  for_each_operation(batch_of_two, [&](const OperationInput& batch) {
    const OperationResult result = evaluate(batch, cpu_backend(), kAllResults);
    for (Index n = 0; n < 2; ++n) {
      OperationInput item = batch;
      item.batch = 1;
      for (Var* x : {&item.x, &item.q, &item.k, &item.v}) {
        const Index rows = x->dim(0) / 2;
        *x = x->value().slice(n * rows, rows);
      }
      for (const WeightInfo& entry : variant(batch.variant.id).weights) {
        const auto state = item.weights.find(entry.name);
        if (!entry.file.state || state == item.weights.end()) continue;
        const Tensor& state_rows = state->second.value();
        state->second = state_rows.slice(n * state_rows.dim(0) / 2, state_rows.dim(0) / 2);
      }
      const OperationResult expected = evaluate(item, cpu_backend(), kAllResults);
      const Index heads = batch.heads;
      EXPECT_TRUE(
          close(result.output.value().slice(n * heads, heads), expected.output.value(), 1e-5));
      EXPECT_TRUE(close(result.attention.slice(n * heads, heads), expected.attention, 1e-5));
    }
  });
}

TEST(Evaluate, TreatsSharedKeysAsRepeatedKeys) {
  OperationSizes grouped_sizes;
  grouped_sizes.heads = 4;
  grouped_sizes.kv_heads = 2;
  grouped_sizes.inner = 12;
  for_each_operation(grouped_sizes, [&](const OperationInput& input) {
    OperationInput repeated_input = input;
    repeated_input.kv_heads = 4;
    const auto repeat_heads = [](const Tensor& x) {
      Tensor copies({2 * x.dim(0), x.dim(1), x.dim(2)});
      const Index size = x.size() / x.dim(0);
      for (Index head = 0; head < copies.dim(0); ++head) {
        std::copy_n(x.data() + head / 2 * size, size, copies.data() + head * size);
      }
      return copies;
    };
    repeated_input.k = repeat_heads(input.k.value());
    repeated_input.v = repeat_heads(input.v.value());
    for (const WeightInfo& entry : variant(input.variant.id).weights) {
      const auto found = repeated_input.weights.find(entry.name);
      if (found == repeated_input.weights.end()) continue;
      Dimensions sizes = testing::dimensions(grouped_sizes);
      const Shape shared_shape = entry.shape(sizes, input.variant.values);
      sizes.kv_heads = 4;
      const Shape repeated_shape = entry.shape(sizes, input.variant.values);
      if (shared_shape == repeated_shape) continue;
      const Tensor& x = found->second.value();
      std::size_t axis = 0;  // axis whose size depends on kv_heads
      while (shared_shape[axis] == repeated_shape[axis]) ++axis;
      Index leading_size = 1;
      for (std::size_t n = 0; n < axis; ++n) leading_size *= shared_shape[n];
      const Index size = x.size() / leading_size / grouped_sizes.kv_heads;
      const Tensor flat =
          repeat_heads(x.reshaped({leading_size * grouped_sizes.kv_heads, 1, size}));
      found->second = flat.reshaped(repeated_shape);
    }
    EXPECT_TRUE(close(evaluate(input, cpu_backend(), {}).output.value(),
                      evaluate(repeated_input, cpu_backend(), {}).output.value(), 1e-5));
  });
}

TEST(Evaluate, MatchesFiniteDifferences) {
  for_each_operation({}, [&](const OperationInput& input) {
    // Only full and linear attention are tested with encodings. Ingredients of encodings have
    // separate tests.
    if (input.encoding.id != "none" && input.variant.id != "full" && input.variant.id != "linear") {
      return;
    }
    const Variant& v = variant(input.variant.id);
    const Encoding& e = encoding(input.encoding.id);
    OperationInput parameters = input;
    std::vector<std::pair<std::string, Var*>> inputs = {
        {"x", &parameters.x}, {"q", &parameters.q}, {"k", &parameters.k}, {"v", &parameters.v}};
    for (const Info* info : {static_cast<const Info*>(&v), static_cast<const Info*>(&e)}) {
      for (const WeightInfo& entry : info->weights) {
        const auto found = parameters.weights.find(entry.name);
        if (entry.training.constant || found == parameters.weights.end()) continue;
        inputs.emplace_back(entry.name, &found->second);
      }
    }
    for (auto& [name, var] : inputs) *var = Var::parameter(var->value().copy());
    const Var output = evaluate(parameters, cpu_backend(), {}).output;
    const Tensor direction = random_tensor(output.shape(), 99);
    backward(sum(multiply(output, direction)));
    const auto projected_output = [&] {
      return testing::projected(evaluate(parameters, cpu_backend(), {}).output.value(), direction);
    };
    for (const auto& [name, var] : inputs) {
      SCOPED_TRACE(name);
      // Probes three numbers of each input. Smaller steps are tried if a step crosses a kink.
      // A bias per column of Sinkhorn's matching nearly cancels in the normalised columns.
      const double tolerance = name == "sinkhorn.b2" ? 0.2 : 2e-2;
      const testing::Differences differences{{1e-2f, 3e-3f, 1e-3f, 2e-4f}, tolerance, 3};
      if (name == "pos.bk" ||
          name ==
              "global.bk") {  // adds a constant to the scores of a row, which the softmax cancels
        EXPECT_TRUE(testing::close(var->gradient(), Tensor::zeros(var->shape()), 1e-6));
      } else if (var->gradient().defined()) {
        EXPECT_TRUE(
            testing::is_gradient(var->gradient(), var->value(), projected_output, differences));
      } else {
        EXPECT_TRUE(testing::has_no_gradient({}, var->value(), projected_output, 0, differences));
      }
    }
  });
}

TEST(Evaluate, ReportsTermsThatSumToScores) {
  int count = 0;
  for_each_operation({}, [&](const OperationInput& input) {
    const Variant& v = variant(input.variant.id);
    if (!v.scores.has_terms(input.variant.values)) return;
    ++count;
    const OperationResult result = evaluate(input, cpu_backend(), kAllResults);
    ASSERT_TRUE(result.part);
    const auto terms = score_terms(*result.part);
    Tensor sum = Tensor::zeros(result.scores.shape());
    for (const auto& [term, tensor] : terms) {
      if (term == Term::Factor || term == Term::Bias) continue;
      for (Index i = 0; i < sum.size(); ++i) sum[i] += tensor[i];
    }
    for (Index i = 0; i < sum.size(); ++i) {
      if (terms.contains(Term::Factor)) sum[i] *= terms.at(Term::Factor)[i];
      if (terms.contains(Term::Bias)) sum[i] += terms.at(Term::Bias)[i];
    }
    EXPECT_TRUE(close(sum, result.scores, 2e-5));
    EXPECT_TRUE(terms.contains(Term::Content));
  });
  EXPECT_GT(count, 100);
}

TEST(Evaluate, RejectsInvalidInputs) {
  OperationInput input =
      random_operation({}, parse_variant(R"({"type": "graph"})"), default_encoding(), false, 1);
  input.weights.clear();
  EXPECT_THROW(evaluate(input, cpu_backend(), {}), InputError);
  input.weights["graph.adjacency"] = Tensor::full({15, 15}, 1);
  EXPECT_THROW(evaluate(input, cpu_backend(), {}), InputError);
  input.weights["graph.adjacency"] = Tensor::full({20, 20}, 1);  // for a longer text
  EXPECT_NO_THROW(evaluate(input, cpu_backend(), {}));
  Stop stop;
  stop.request();
  const StopScope scope(stop);
  EXPECT_THROW(evaluate(input, cpu_backend(), {}), Stopped);
}

// With cached keys, the queries are the last rows of the text.
TEST(Evaluate, MatchesWholeTextWithCachedKeys) {
  for (const char* id : {"full", "local", "strided", "fixed", "longformer"}) {
    for (const char* position : {"none", "rope", "alibi", "t5", "shaw"}) {
      SCOPED_TRACE(std::string(id) + " " + position);
      const Variant& v = variant(id);
      const Encoding& e = encoding(position);
      const OperationInput text_input =
          random_operation({}, {id, default_values(v.parameters)},
                           {position, default_values(e.parameters)}, true, 5);
      OperationInput last_rows_input = text_input;
      Tensor rows({text_input.heads, 3, 4});
      for (Index a = 0; a < text_input.heads; ++a) {
        std::copy_n(text_input.q.value().data() + (a * 16 + 13) * 4, 12, rows.data() + a * 12);
      }
      last_rows_input.q = rows;
      last_rows_input.x = Var();
      last_rows_input.positions = {13, 14, 15};
      const Tensor whole_output = evaluate(text_input, cpu_backend(), {}).output.value();
      const Tensor last_output = evaluate(last_rows_input, cpu_backend(), {}).output.value();
      Tensor expected({text_input.heads, 3, 3});
      for (Index a = 0; a < text_input.heads; ++a) {
        std::copy_n(whole_output.data() + (a * 16 + 13) * 3, 9, expected.data() + a * 9);
      }
      EXPECT_TRUE(close(last_output, expected, 1e-5));
    }
  }
}

// An operation reports a leak if later tokens can change earlier rows.
TEST(Evaluate, ReportsLeaksOfFutureTokens) {
  const auto run = [](const Choice& choice, bool has_centroids, bool causal) {
    OperationInput input = random_operation({}, choice, default_encoding(), causal, 3);
    if (!has_centroids) input.weights.erase("routing.centroid");
    return evaluate(input, cpu_backend(), kAllResults);
  };
  const Choice routing = parse_variant(R"({"type": "routing", "clusters": 3})");
  const Choice unchunked_lsh = parse_variant(R"({"type": "lsh", "buckets": 4, "rounds": 2})");
  const Choice chunked_lsh =
      parse_variant(R"({"type": "lsh", "buckets": 4, "rounds": 2, "chunk": 3})");
  EXPECT_NE(run(routing, false, true).leaks_future, "");
  EXPECT_EQ(run(routing, false, false).leaks_future, "");
  EXPECT_EQ(run(routing, true, true).leaks_future, "");
  EXPECT_NE(run(chunked_lsh, true, true).leaks_future, "");
  EXPECT_EQ(run(chunked_lsh, true, false).leaks_future, "");
  EXPECT_EQ(run(unchunked_lsh, true, true).leaks_future, "");
}

TEST(Evaluate, KeepsEarlierRowsWithoutLeaks) {
  for_each_operation({}, [](const OperationInput& input) {
    const Variant& v = variant(input.variant.id);
    if (!(input.causal || v.causality.by_definition) || input.encoding.id != "none") return;
    const OperationResult result = evaluate(input, cpu_backend(), kAllResults);
    if (!result.leaks_future.empty()) return;
    OperationInput changed_input = input;
    for (Var* x : {&changed_input.x, &changed_input.q, &changed_input.k, &changed_input.v}) {
      Tensor changed_values = x->value().copy();
      const Index rows = changed_values.dim(1), size = changed_values.dim(2);
      for (Index index = 0; index < changed_values.size(); ++index) {
        if (index / size % rows >= 10) changed_values[index] += 1 + static_cast<float>(index % 3);
      }
      *x = changed_values;
    }
    const Tensor changed_output = evaluate(changed_input, cpu_backend(), {}).output.value();
    const Tensor& output = result.output.value();
    for (Index a = 0; a < output.dim(0); ++a) {
      for (Index i = 0; i < 10; ++i) {
        for (Index c = 0; c < output.dim(2); ++c) {
          EXPECT_NEAR(changed_output(a, i, c), output(a, i, c), 1e-5);
        }
      }
    }
  });
}

TEST(Evaluate, ReportsSpansForLosses) {
  for (const bool is_dynamic : {false, true}) {
    OperationSizes sizes;
    sizes.batch = 2;
    Choice choice = parse_variant(R"({"type": "adaptive_span", "span": 9, "ramp": 3})");
    choice.values.set("dynamic", is_dynamic);
    OperationInput input = random_operation(sizes, choice, default_encoding(), true, 4);
    const char* name = is_dynamic ? "span.b" : "span.z";
    Var& weight = input.weights.find(name)->second;
    weight = Var::parameter(weight.value().copy());
    const OperationResult result = evaluate(input, cpu_backend(), {});
    const Var& z = result.quantities.at("span.z");
    EXPECT_EQ(z.shape(), is_dynamic ? (Shape{4, 16}) : (Shape{2}));
    backward(mean(z));
    ASSERT_TRUE(weight.gradient().defined());
    EXPECT_GT(weight.gradient()[0], 0);
    if (!is_dynamic) {
      EXPECT_TRUE(close(z.value(), weight.value(), 0));
    }
  }
}

TEST(Variant, ExplainsMissingPairScores) {
  for (const Variant& v : variants()) {
    if (v.encodings.accepts_pairs(default_values(v.parameters))) continue;
    EXPECT_FALSE(v.encodings.pairs_refusal.empty()) << v.id;
  }
  const Choice linear{"linear", default_values(variant("linear").parameters)};
  const Choice alibi{"alibi", default_values(encoding("alibi").parameters)};
  EXPECT_EQ(refusal(linear, alibi, true, {}, 0, 0),
            "position.type: expected none, an encoding that rotates queries and keys (rope), "
            "sinusoidal, learned or universal, found alibi (Linear never forms scores of pairs, so "
            "ALiBi has nothing to change)");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
