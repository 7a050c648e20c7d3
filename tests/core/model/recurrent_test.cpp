// Recurrent models against naive references in double precision: bidirectional encoder and
// attention (Bahdanau et al., 2014), adaptive computation time (Graves, 2016).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/model/model.h"
#include "core/trace/trace.h"
#include "tests/core/model/reference.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::Row;
using testing::Rows;

constexpr double kTolerance = 2e-5;

ModelConfig recurrent_config(const std::string& architecture, const std::string& width = "8") {
  return model_config_from_json(
      parse_json(R"({"vocabulary": 11, "context": 16, "width": )" + width +
                     R"(, "layers": 1, "heads": 1, "hidden": 0, "architecture": )" + architecture +
                     "}",
                 "test"),
      "config.json");
}

// A model whose weights are far from zero.
Model random_model(const ModelConfig& config) {
  Model model = make_model(config, 3);
  std::uint64_t seed = 40;
  for (auto& [name, weight] : model.weights) {
    weight = Var(testing::random_tensor(weight.shape(), ++seed, 0.5));
  }
  return model;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

class Reference {
 public:
  explicit Reference(const Model& model) : model_(model) {}

  const Tensor& weight(const std::string& name) const { return model_.weights.at(name).value(); }
  Row vector(std::int32_t id) const {
    return testing::rows_of(weight("embed.weight"))[static_cast<std::size_t>(id)];
  }
  Row times(const Row& x, const std::string& name) const {
    return testing::times({x}, weight(name))[0];
  }
  // `flag` is added to the gates' inputs from x; empty: nothing is added.
  Row gru(const std::string& prefix, const Row& x, const Row& s, const Row& flag = {}) const {
    Row a = times(x, prefix + "w_ih"), b = times(s, prefix + "w_hh");
    const Row bias_x = testing::rows_of(weight(prefix + "b_ih"))[0];
    const Row bias_s = testing::rows_of(weight(prefix + "b_hh"))[0];
    const std::size_t size = s.size();
    for (std::size_t n = 0; n < 3 * size; ++n) {
      a[n] += bias_x[n] + (flag.empty() ? 0 : flag[n]);
      b[n] += bias_s[n];
    }
    Row next(size);
    for (std::size_t c = 0; c < size; ++c) {
      const double r = sigmoid(a[c] + b[c]), z = sigmoid(a[size + c] + b[size + c]);
      const double n = std::tanh(a[2 * size + c] + r * b[2 * size + c]);
      next[c] = (1 - z) * n + z * s[c];
    }
    return next;
  }
  Row logits(const Row& state) const {
    return testing::times_transposed({state}, weight("embed.weight"))[0];
  }

 private:
  const Model& model_;
};

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
  return sum;
}

Row concatenated(Row a, const Row& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Encoder states of both directions, each of half the width.
Rows bidirectional_states(const Reference& reference, const std::vector<std::int32_t>& source,
                          std::size_t half) {
  std::vector<Row> forward, backward(source.size());
  Row s(half, 0.0);
  for (const std::int32_t id : source) {
    s = reference.gru("encoder.rnn.", reference.vector(id), s);
    forward.push_back(s);
  }
  s.assign(half, 0.0);
  for (std::size_t n = source.size(); n-- > 0;) {
    s = reference.gru("encoder.backward.", reference.vector(source[n]), s);
    backward[n] = s;
  }
  Rows states;
  for (std::size_t n = 0; n < source.size(); ++n) {
    states.push_back(concatenated(forward[n], backward[n]));
  }
  return states;
}

Rows bidirectional_logits(const Model& model, const std::vector<std::int32_t>& source,
                          const std::vector<std::int32_t>& target, bool is_additive) {
  const Reference reference(model);
  const auto width = static_cast<std::size_t>(model.config.width), half = width / 2;
  const Rows h = bidirectional_states(reference, source, half);
  Row s = reference.times(Row(h[0].begin() + static_cast<std::ptrdiff_t>(half), h[0].end()),
                          "decoder.start.w");
  for (double& x : s) x = std::tanh(x);
  Rows logits;
  for (const std::int32_t id : target) {
    s = reference.gru("decoder.rnn.", reference.vector(id), s);
    Row weights;
    double sum = 0;
    for (const Row& key : h) {
      double score = dot(s, key);
      if (is_additive) {
        Row a = reference.times(s, "attend.ws");
        const Row b = reference.times(key, "attend.wh");
        for (std::size_t n = 0; n < width; ++n) a[n] = std::tanh(a[n] + b[n]);
        score = dot(a, testing::rows_of(reference.weight("attend.v"))[0]);
      }
      weights.push_back(std::exp(score));
      sum += weights.back();
    }
    Row context(width, 0.0);
    for (std::size_t n = 0; n < h.size(); ++n) {
      for (std::size_t c = 0; c < width; ++c) context[c] += weights[n] / sum * h[n][c];
    }
    Row o = reference.times(concatenated(context, s), "combine.w");
    const Row bias = testing::rows_of(reference.weight("combine.b"))[0];
    for (std::size_t c = 0; c < width; ++c) o[c] = std::tanh(o[c] + bias[c]);
    logits.push_back(reference.logits(o));
  }
  return logits;
}

TEST(RnnAttention, BidirectionalEncoderMatchesReference) {
  const std::vector<std::int32_t> source{3, 9, 1, 7, 3}, target{10, 4, 4, 2};
  for (const bool is_additive : {true, false}) {
    const Model model = random_model(recurrent_config(
        std::string(R"({"type": "rnn_attention", "bidirectional": true, "start": 10, "score": ")") +
        (is_additive ? "additive" : "dot") + "\"}"));
    Batch batch;
    batch.source = IntTensor::from({1, 5}, source);
    batch.ids = IntTensor::from({1, 4}, target);
    const Tensor logits = run(model, batch, {}).logits.value().reshaped({4, 11});
    EXPECT_TRUE(testing::close(
        logits, testing::tensor_of(bidirectional_logits(model, source, target, is_additive)),
        kTolerance));
  }
}

std::string refusal_of(const std::string& architecture, const std::string& width = "8") {
  try {
    recurrent_config(architecture, width);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(RnnAttention, RejectsBidirectionalEncodersThatNothingReads) {
  const std::string type = R"({"type": "rnn_attention", "start": 1, "bidirectional": true)";
  EXPECT_NE(refusal_of(type + R"(, "score": "none"})").find("expected false for score none"),
            std::string::npos);
  EXPECT_NE(refusal_of(type + "}", "7").find("expected an even width, found 7"), std::string::npos);
  EXPECT_EQ(refusal_of(type + "}"), "");
}

struct Pondered {
  Rows logits;
  std::vector<int> steps;
  std::vector<double> remainders;
};

Pondered ponder(const Model& model, const std::vector<std::int32_t>& ids) {
  const Reference reference(model);
  const Values& values = model.config.architecture.values;
  const Row halt = testing::rows_of(reference.weight("halt.w").reshaped({model.config.width}))[0];
  const Row flag = testing::rows_of(reference.weight("rnn.flag"))[0];
  const double bias = static_cast<double>(reference.weight("halt.b")[0]);
  Pondered result;
  Row s(static_cast<std::size_t>(model.config.width), 0.0);
  for (const std::int32_t id : ids) {
    Row mean(s.size(), 0.0);
    double sum = 0;
    for (int n = 1;; ++n) {
      s = reference.gru("rnn.", reference.vector(id), s, n == 1 ? flag : Row{});
      const double h = sigmoid(dot(s, halt) + bias);
      const bool is_last = sum + h >= 1 - values.real("epsilon") || n == values.integer("steps");
      const double p = is_last ? 1 - sum : h;
      for (std::size_t c = 0; c < s.size(); ++c) mean[c] += p * s[c];
      if (is_last) {
        result.steps.push_back(n);
        result.remainders.push_back(p);
        break;
      }
      sum += h;
    }
    s = mean;
    result.logits.push_back(reference.logits(s));
  }
  return result;
}

TEST(Recurrent, AdaptiveComputationTimeMatchesReference) {
  const std::vector<std::int32_t> ids{3, 9, 1, 7, 3, 0, 10, 2};
  Model model = random_model(
      recurrent_config(R"({"type": "recurrent", "steps": 5, "halting": "act", "ponder": 0.1})"));
  // Halting probabilities that differ between tokens.
  model.weights["halt.w"] = Var(testing::random_tensor({8, 1}, 99, 2.0));
  model.weights["halt.b"] = Var(Tensor::full({1}, -0.5f));
  const Pondered expected = ponder(model, ids);
  Batch batch = next_token_batch(IntTensor::from({1, 8}, ids));
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  const Output output = run(model, batch, options);
  const Index count = batch.ids.dim(1);
  double cost = 0;
  std::set<int> different;
  for (Index t = 0; t < count; ++t) {
    const auto n = static_cast<std::size_t>(t);
    EXPECT_EQ(trace.counts.at("halting.steps")[t], expected.steps[n]) << t;
    const auto remainder = static_cast<double>(trace.taps.at("halting.remainder").value()[t]);
    EXPECT_TRUE(std::abs(remainder - expected.remainders[n]) <= kTolerance) << t;
    for (Index v = 0; v < 11; ++v) {
      const auto logit = static_cast<double>(output.logits.value()[t * 11 + v]);
      EXPECT_TRUE(std::abs(logit - expected.logits[n][static_cast<std::size_t>(v)]) <= kTolerance);
    }
    cost += (expected.steps[n] + expected.remainders[n]) / static_cast<double>(count);
    different.insert(expected.steps[n]);
  }
  EXPECT_GT(different.size(), 1u) << "all tokens take equally many sub-steps";
  const auto loss = std::ranges::find(output.losses, "ponder", &Loss::name);
  ASSERT_NE(loss, output.losses.end());
  EXPECT_NEAR(static_cast<double>(loss->value.value()[0]), cost, 1e-4);
  EXPECT_NEAR(static_cast<double>(loss->weighted.value()[0]), 0.1 * cost, 1e-5);
}

// Sequences of a batch halt independently.
TEST(Recurrent, BatchesEqualSingleSequences) {
  const Model model = random_model(
      recurrent_config(R"({"type": "recurrent", "steps": 5, "halting": "act", "ponder": 0.1})"));
  const std::vector<std::int32_t> ids{3, 9, 1, 7, 10, 2, 2, 5};
  const Tensor both = forward(model, IntTensor::from({2, 4}, ids), {}).value();
  for (Index b = 0; b < 2; ++b) {
    const auto first = ids.begin() + 4 * b;
    const Tensor one = forward(model, IntTensor::from({1, 4}, {first, first + 4}), {}).value();
    EXPECT_TRUE(testing::close(both.slice(b, 1), one, kTolerance));
  }
}

// Without halting the cell takes all sub-steps, and records them.
TEST(Recurrent, TakesAllSubStepsWithoutHalting) {
  const Model model = random_model(recurrent_config(R"({"type": "recurrent", "steps": 3})"));
  EXPECT_FALSE(model.weights.contains("halt.w"));
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  forward(model, IntTensor::from({1, 3}, {3, 9, 1}), options);
  const Tensor last = trace.taps.at("steps.3.state");
  EXPECT_FALSE(trace.taps.contains("steps.4.state"));
  EXPECT_TRUE(testing::close(trace.taps.at("final"), last, 1e-7));
  const Reference reference(model);
  const Row flag = testing::rows_of(reference.weight("rnn.flag"))[0];
  Row s(8, 0.0);
  for (int n = 1; n <= 3; ++n) {
    s = reference.gru("rnn.", reference.vector(3), s, n == 1 ? flag : Row{});
  }
  for (std::size_t c = 0; c < 8; ++c) {
    EXPECT_TRUE(std::abs(static_cast<double>(last[static_cast<Index>(c)]) - s[c]) <= kTolerance);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
