// Evaluation of any variant: cached keys, positions with an origin, sinks, unavailable devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/attention/variant.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::OperationSizes;
using testing::random_tensor;

constexpr ResultRequest kOutput{.output = true};

// Rows [first, first + count) of x [N, L, e].
Tensor slice_rows(const Tensor& x, Index first, Index count) {
  Tensor rows({x.dim(0), count, x.dim(2)});
  for (Index n = 0; n < x.dim(0); ++n) {
    std::copy_n(x.data() + (n * x.dim(1) + first) * x.dim(2), count * x.dim(2),
                rows.data() + n * count * x.dim(2));
  }
  return rows;
}

// Incremental variants compute the last rows from the queries and inputs of these rows, and from
// all keys.
TEST(Evaluate, ComputesLastRowsOfIncrementalVariants) {
  int count = 0;
  std::uint64_t seed = 0;
  for (const Variant& v : variants()) {
    for (const Values& values : testing::value_cases(v.parameters)) {
      const Choice choice = testing::small_choice(v, values);
      if (!v.causality.incremental(choice.values)) continue;
      for (const char* position : {"none", "rope", "alibi", "transformer_xl"}) {
        const Choice encoding_choice{position, default_values(encoding(position).parameters)};
        OperationSizes sizes;
        sizes.batch = 2;
        sizes = testing::compatible_sizes(sizes, choice, encoding_choice, true);
        if (!refusal(choice, encoding_choice, true, testing::dimensions(sizes), 16, 16).empty()) {
          continue;
        }
        const OperationInput text_input =
            testing::random_operation(sizes, choice, encoding_choice, true, ++seed);
        SCOPED_TRACE(testing::describe(text_input));
        OperationInput last_rows_input = text_input;
        last_rows_input.q = slice_rows(text_input.q.value(), 13, 3);
        last_rows_input.x = slice_rows(text_input.x.value(), 13, 3);
        last_rows_input.positions = {13, 14, 15};
        const Tensor expected = evaluate(text_input, cpu_backend(), kOutput).output.value();
        EXPECT_TRUE(close(evaluate(last_rows_input, cpu_backend(), kOutput).output.value(),
                          slice_rows(expected, 13, 3), 1e-5));
        ++count;
      }
    }
  }
  EXPECT_GE(count, 50);
}

// Absolute encodings and features of rotated vectors use positions origin, origin + 1, ... Patterns
// count from 0.
TEST(Evaluate, CountsPositionsFromTheOrigin) {
  const auto run = [](OperationInput input, Index origin) {
    input.origin = origin;
    return evaluate(input, cpu_backend(), kOutput).output.value();
  };
  OperationSizes sizes;
  sizes.length = 8;
  const Choice untied = encoding_from_json(Json::parse(R"({"type": "untied"})"), "position");
  OperationInput input = testing::random_operation(sizes, default_variant(), untied, true, 5);
  const Tensor embedding = random_tensor({13, sizes.model}, 7);
  input.weights["pos.embedding"] = embedding;
  const Tensor shifted_output = run(input, 5);
  EXPECT_TRUE(testing::differs(shifted_output, run(input, 0), 1e-3));
  input.weights["pos.embedding"] = embedding.slice(5, 8);
  EXPECT_TRUE(close(shifted_output, run(input, 0), 1e-6));
  for (const char* json : {R"({"type": "linear"})", R"({"type": "rfa", "features": 5})",
                           R"({"type": "performer", "features": 5})"}) {
    const Choice choice = variant_from_json(Json::parse(json), "variant");
    const auto rotary_operation = [&](double offset) {
      const Choice rope = encoding_from_json({{"type", "rope"}, {"offset", offset}}, "position");
      return testing::random_operation(sizes, choice, rope, true, 5);
    };
    EXPECT_TRUE(close(run(rotary_operation(0), 3), run(rotary_operation(3), 0), 1e-5)) << json;
    EXPECT_TRUE(testing::differs(run(rotary_operation(0), 3), run(rotary_operation(0), 0), 1e-4))
        << json;
  }
}

TEST(Evaluate, RestrictsSinksAndCapsToSoftmaxScores) {
  for (const Variant& v : variants()) {
    const Choice choice = testing::small_choice(v, default_values(v.parameters));
    const bool causal = v.causality.refusal.empty();
    OperationInput input = testing::random_operation({}, choice, default_encoding(), causal, 5);
    input.score_cap = 2;
    OperationInput sinks_input = input;
    sinks_input.score_cap = 0;
    sinks_input.sinks = random_tensor({2}, 3);
    for (const OperationInput& changed_input : {input, sinks_input}) {
      if (accepts_score_changes(v)) {
        EXPECT_NO_THROW(evaluate(changed_input, cpu_backend(), kOutput)) << v.id;
      } else {
        EXPECT_THROW(evaluate(changed_input, cpu_backend(), kOutput), InputError) << v.id;
      }
    }
  }
}

// A sink receives a fraction of every row's weight, and the whole weight of a row without keys.
TEST(Evaluate, AssignsWeightToSinks) {
  OperationSizes sizes;
  sizes.length = 40;
  const Choice custom = variant_from_json(Json::parse(R"({"type": "custom"})"), "variant");
  OperationInput input = testing::random_operation(sizes, custom, default_encoding(), false, 5);
  Tensor mask({40, 40});
  for (Index n = 0; n < mask.size(); ++n) mask[n] = n / 40 != 3 && (n * 7) % 5 < 3 ? 1.0f : 0.0f;
  input.weights["pattern.mask"] = mask;
  input.sinks = Tensor::from({2}, {0.7f, -30});
  for (const bool needs_maps : {true, false}) {
    const OperationResult result = evaluate(
        input, cpu_backend(),
        {.output = true, .attention = needs_maps, .scores = needs_maps, .log_sum_exp = true});
    const Tensor &q = input.q.value(), &k = input.k.value(), &v = input.v.value();
    for (Index a = 0; a < 2; ++a) {
      const double sink = static_cast<double>(input.sinks.value()[a]);
      for (Index i = 0; i < 40; ++i) {
        std::vector<double> weights(40);
        double sum = std::exp(sink);
        for (Index j = 0; j < 40; ++j) {
          if (mask(i, j) == 0) continue;
          double product = 0;
          for (Index n = 0; n < 4; ++n) product += static_cast<double>(q(a, i, n)) * k(a, j, n);
          weights[static_cast<std::size_t>(j)] = std::exp(product / 2);
          sum += weights[static_cast<std::size_t>(j)];
        }
        EXPECT_NEAR(result.log_sum_exp[a * 40 + i], std::log(sum), 1e-4) << a << " " << i;
        for (Index c = 0; c < 3; ++c) {
          double expected = 0;
          for (Index j = 0; j < 40; ++j) {
            expected +=
                weights[static_cast<std::size_t>(j)] / sum * static_cast<double>(v(a, j, c));
          }
          EXPECT_NEAR(result.output.value()(a, i, c), expected, 1e-5) << a << " " << i;
        }
        for (Index j = 0; needs_maps && j < 40; ++j) {
          EXPECT_NEAR(result.attention(a, i, j), weights[static_cast<std::size_t>(j)] / sum, 1e-6);
        }
      }
    }
  }
}

// Backend that computes on the CPU, refuses or fails, and records its calls.
class TestBackend : public Backend {
 public:
  std::string name() const override { return "device"; }
  std::string refusal(const Part&, const ResultRequest&) const override { return reason; }
  PartResult run(const Part& part, const ResultRequest& wanted) override {
    ++runs;
    if (fails) throw WorkError("the device is gone");
    keeps_on_device = wanted.device_attention;
    return cpu_backend().run(part, wanted);
  }
  std::string reason;  // reason of refusal()
  bool fails = false, keeps_on_device = false;
  int runs = 0;
};

TEST(Evaluate, FallsBackToTheCpu) {
  const OperationInput input =
      testing::random_operation({}, default_variant(), default_encoding(), true, 5);
  const ResultRequest wanted{.output = true, .device_attention = true};
  const OperationResult expected = evaluate(input, cpu_backend(), {.attention = true});
  TestBackend working;
  const OperationResult result = evaluate(input, working, wanted);
  EXPECT_EQ(result.note, "");
  EXPECT_EQ(working.runs, 1);
  EXPECT_TRUE(working.keeps_on_device);
  EXPECT_FALSE(result.attention.defined());
  TestBackend refusing;
  refusing.reason = "too many keys";
  TestBackend failing;
  failing.fails = true;
  for (TestBackend* backend : {&refusing, &failing}) {
    const OperationResult fallback = evaluate(input, *backend, wanted);
    EXPECT_EQ(fallback.note, backend == &refusing ? "too many keys" : "the device is gone");
    EXPECT_EQ(backend->runs, backend == &refusing ? 0 : 1);
    EXPECT_TRUE(close(fallback.output.value(), expected.output.value(), 0));
    EXPECT_TRUE(close(fallback.attention, expected.attention, 0)) << "attention on the host";
  }
}

TEST(Evaluate, MovesDeviceResultsToTheHost) {
  EXPECT_TRUE(with_host_results({.device_attention = true}).attention);
  EXPECT_FALSE(with_host_results({.device_attention = true}).device_attention);
  EXPECT_TRUE(with_host_results({.attention = true}).attention);
  EXPECT_FALSE(with_host_results({}).attention);
}

TEST(Backends, ConvertNamesBothWays) {
  for (const char* name : {"auto", "cpu", "gpu"}) EXPECT_EQ(to_string(backend_choice(name)), name);
  EXPECT_THROW(backend_choice("tpu"), InputError);
  EXPECT_TRUE(cpu_backend().name().starts_with("CPU (")) << cpu_backend().name();
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
