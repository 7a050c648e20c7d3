// Every registered variant with every registered encoding, on both backends. New registry entries
// are included automatically.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/gpu/compute_backend.h"
#include "core/attention/variant.h"
#include "core/base/error.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::random_tensor;

constexpr Index kHeads = 4, kModel = 16, kKey = 8, kValue = 6, kInner = 8;
constexpr Index kMemory = 6, kOldMemory = 5;
// Some variants require multiples of a block size, or an image's number of pixels.
constexpr std::array<Index, 7> kLengths{37, 64, 48, 16, 100, 256, 1};

ComputeBackend& gpu() {
  static ComputeBackend backend(make_headless_context());
  return backend;
}

// CPU backend that counts the parts that it runs.
class CountingBackend : public Backend {
 public:
  std::string name() const override { return cpu_backend().name(); }
  std::string refusal(const Part& part, const ResultRequest& wanted) const override {
    return cpu_backend().refusal(part, wanted);
  }
  PartResult run(const Part& part, const ResultRequest& wanted) override {
    ++parts;
    return cpu_backend().run(part, wanted);
  }
  int parts = 0;
};

// Default values, and copies of them in which one choice or flag has another value.
std::vector<Values> value_cases(const std::vector<Parameter>& parameters) {
  std::vector<Values> cases{default_values(parameters)};
  for (const Parameter& parameter : parameters) {
    std::vector<Value> alternatives;
    for (const ParameterChoice& choice : parameter.choices) alternatives.emplace_back(choice.id);
    if (parameter.kind == Parameter::Kind::Flag) alternatives = {true, false};
    for (const Value& alternative : alternatives) {
      Values values = cases.front();
      values.set(parameter.key, alternative);
      if (!(values == cases.front())) cases.push_back(values);
    }
  }
  return cases;
}

struct Sweep {
  Index length = 0, kv_heads = kHeads, value = kValue;
  double spread = 1;  // standard deviation of q and k
  bool causal = false, optional_weights = true;
  Choice variant, encoding;

  Dimensions dimensions() const {
    Dimensions d;
    d.model = kModel;
    d.heads = kHeads;
    d.kv_heads = kv_heads;
    d.key = kKey;
    d.value = value;
    d.context = d.queries = d.keys = length;
    d.inner = kInner;
    d.memory = kMemory;
    d.old_memory = kOldMemory;
    return d;
  }

  std::string describe() const {
    return attnscope::variant(variant.id).id + " with " + encoding.id + ", " +
           std::to_string(length) + " tokens, " + std::to_string(kv_heads) + " key-value heads" +
           (causal ? ", causal" : "");
  }

  void add_weights(const Info& info, const Values& values, NamedVars& weights) const {
    std::uint64_t seed = 100;
    for (const WeightInfo& w : info.weights) {
      ++seed;
      if (!info.uses(w, values) || (w.file.optional && !optional_weights)) continue;
      Tensor numbers = random_tensor(w.shape(dimensions(), values), seed, 0.5);
      if (w.file.bytes) {
        for (float& x : numbers) x = x > 0 ? 1.0F : 0.0F;
        // A row of zeros and a row of ones.
        if (numbers.rank() >= 2 && numbers.dim(-2) > 2) {
          const Index row = numbers.dim(-1);
          std::fill_n(numbers.data(), row, 0.0F);
          std::fill_n(numbers.data() + row, row, 1.0F);
        }
      }
      weights[w.name] = numbers;
    }
  }

  OperationInput input() const {
    OperationInput in;
    in.heads = kHeads;
    in.kv_heads = kv_heads;
    in.x = random_tensor({1, length, kModel}, 1);
    in.q = random_tensor({kHeads, length, kKey}, 2, spread);
    in.k = random_tensor({kv_heads, length, kKey}, 3, spread);
    in.v = random_tensor({kv_heads, length, value}, 4);
    in.variant = variant;
    in.encoding = encoding;
    in.causal = causal;
    add_weights(attnscope::variant(variant.id), variant.values, in.weights);
    add_weights(attnscope::encoding(encoding.id), encoding.values, in.weights);
    return in;
  }

  // RWKV requires values as wide as keys.
  Sweep with_equal_sizes() const {
    Sweep equal = *this;
    equal.value = kKey;
    return equal;
  }

  bool is_refused() const {
    return !refusal(variant, encoding, causal, dimensions(), length, length).empty();
  }
};

constexpr ResultRequest kOnHost{
    .output = true, .attention = true, .scores = true, .log_sum_exp = true};

// Returns false if the combination is invalid. If the CPU rejects it, the GPU must reject it, too.
bool sweep(const Sweep& s) {
  if (s.is_refused()) {
    const Sweep equal = s.with_equal_sizes();
    return s.value != equal.value && !equal.is_refused() && sweep(equal);
  }
  SCOPED_TRACE(s.describe());
  const OperationInput input = s.input();
  CountingBackend cpu;
  OperationResult expected;
  try {
    expected = evaluate(input, cpu, kOnHost);
  } catch (const InputError&) {
    EXPECT_THROW(evaluate(input, gpu(), kOnHost), InputError);
    return false;
  }
  const std::int64_t dispatches = gpu().dispatch_count();
  const OperationResult actual = evaluate(input, gpu(), kOnHost);
  EXPECT_EQ(actual.note, "");
  EXPECT_EQ(gpu().dispatch_count() > dispatches, cpu.parts > 0)
      << "shaders run exactly if the CPU runs parts";
  // Large scores lose precision before the exponential, on either backend.
  const double tolerance = 2e-5 * std::max(1.0, s.spread * s.spread);
  EXPECT_TRUE(close(actual.output.value(), expected.output.value(), tolerance)) << "output";
  EXPECT_TRUE(close(actual.attention, expected.attention, tolerance)) << "attention";
  EXPECT_TRUE(close(actual.scores, expected.scores, tolerance)) << "scores";
  EXPECT_TRUE(close(actual.log_sum_exp, expected.log_sum_exp, tolerance)) << "log-sum-exp";
  for (const auto& [name, tensor] : expected.extra) {
    EXPECT_TRUE(close(actual.extra.at(name), tensor, tolerance)) << name;
  }

  // Attention that stays on the device matches, too.
  const OperationResult on_device =
      evaluate(input, gpu(), {.output = true, .device_attention = true});
  EXPECT_EQ(on_device.note, "");
  EXPECT_TRUE(on_device.device != nullptr || on_device.attention.defined())
      << "no attention is available";
  const Tensor attention = on_device.device ? on_device.device->download() : on_device.attention;
  if (attention.defined()) {
    EXPECT_TRUE(close(attention, expected.attention, tolerance)) << "attention on the device";
  }
  // Results without stored maps match, too. Feature-map normalisers (no log-sum-exp) are excluded:
  // they can be close to 0, which amplifies differences in summation order.
  if (expected.log_sum_exp.defined()) {
    const OperationResult streamed_result = evaluate(input, gpu(), {.output = true});
    EXPECT_TRUE(close(streamed_result.output.value(), expected.output.value(), tolerance))
        << "streamed";
  }
  return true;
}

std::vector<std::string> variant_ids() {
  std::vector<std::string> ids;
  for (const Variant& v : variants()) ids.push_back(v.id);
  return ids;
}

class VariantSweep : public ::testing::TestWithParam<std::string> {
 protected:
  const Variant& variant_ = variant(GetParam());

  // First length that is valid for the variant.
  std::optional<Index> length(const Values& values) const {
    for (const Index length : kLengths) {
      Sweep s;
      s.length = length;
      s.variant = {variant_.id, values};
      s.encoding = default_encoding();
      for (const bool causal : {false, true}) {
        s.causal = causal;
        if (!s.is_refused() || !s.with_equal_sizes().is_refused()) return length;
      }
    }
    return std::nullopt;
  }
};

TEST_P(VariantSweep, MatchesCpuOnEveryEncoding) {
  int count = 0;
  for (const Values& values : value_cases(variant_.parameters)) {
    Sweep s;
    s.length = length(values).value_or(kLengths.front());
    s.variant = {variant_.id, values};
    for (const bool optional_weights : {true, false}) {
      for (const Encoding& encoding : encodings()) {
        for (const bool causal : {false, true}) {
          s.optional_weights = optional_weights;
          s.encoding = {encoding.id, default_values(encoding.parameters)};
          s.causal = causal;
          count += sweep(s) ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(count, 0) << "no valid combination";
}

TEST_P(VariantSweep, MatchesCpuOnWideRangesAndSharedKeys) {
  for (const Values& values : value_cases(variant_.parameters)) {
    Sweep s;
    s.length = length(values).value_or(kLengths.front());
    s.variant = {variant_.id, values};
    s.encoding = default_encoding();
    for (const bool causal : {false, true}) {
      s.causal = causal;
      s.kv_heads = kHeads;
      s.spread = 6;
      sweep(s);
      s.kv_heads = 2;
      s.spread = 1;
      sweep(s);
    }
  }
}

// 320 tokens: arrangements group rows into blocks that span several tiles.
TEST_P(VariantSweep, MatchesCpuOnLongTexts) {
  for (const Values& values : value_cases(variant_.parameters)) {
    Sweep s;
    s.length = 320;
    s.variant = {variant_.id, values};
    s.encoding = default_encoding();
    for (const bool causal : {false, true}) {
      s.causal = causal;
      sweep(s);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registered, VariantSweep, ::testing::ValuesIn(variant_ids()),
                         [](const auto& info) { return info.param; });

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
