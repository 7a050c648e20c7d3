#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/model/model.h"
#include "core/model/weights.h"
#include "core/tensor/storage.h"
#include "tests/core/model/reference.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::Rows;

ModelConfig small_config() {
  ModelConfig config;
  config.vocabulary = 13;
  config.context = 16;
  config.width = 12;
  config.layers = 2;
  config.heads = 6;
  config.kv_heads = 2;
  config.head_size = 4;
  config.hidden = 20;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  return config;
}

// Returns a model with weights so large that attention is far from uniform and activations are far
// from linear.
Model make_random_model(const ModelConfig& config, std::uint64_t seed) {
  Model model = make_model(config, seed);
  for (auto& [name, weight] : model.weights) {
    const bool is_gain = name.ends_with("norm.weight");
    Tensor values = testing::random_tensor(weight.shape(), ++seed, 0.4);
    if (is_gain) {
      for (float& x : values) x += 1;
    }
    weight = Var(values);
  }
  return model;
}

const Tensor& weight_of(const Model& model, const std::string& name) {
  const auto entry = model.weights.find(name);
  if (entry == model.weights.end()) throw std::runtime_error("no weight " + name);
  return entry->second.value();
}

struct ReferenceResult {
  Rows logits;
  std::vector<std::vector<Rows>> attention;  // [layers][heads]
};

// Computes a model from its equations. The model must have uniform groups and the encoding none or
// rope.
ReferenceResult compute_reference(const Model& model, const std::vector<std::int32_t>& ids) {
  const ModelConfig& c = model.config;
  const auto norm = [&](const Rows& x, const std::string& name) {
    return c.norm == Norm::RmsNorm
               ? testing::rms_norm_rows(x, weight_of(model, name + ".weight"), c.norm_epsilon)
               : testing::layer_norm_rows(x, weight_of(model, name + ".weight"),
                                          weight_of(model, name + ".bias"), c.norm_epsilon);
  };
  const auto linear = [&](const Rows& x, const std::string& prefix, const std::string& letter,
                          bool has_bias) {
    return testing::times(x, weight_of(model, prefix + "w" + letter),
                          has_bias ? &weight_of(model, prefix + "b" + letter) : nullptr);
  };
  const auto activation = [&](double x) { return testing::activate(c.activation, x); };
  ReferenceResult result;
  const Rows table = testing::rows_of(weight_of(model, "embed.weight"));
  Rows x;
  for (const std::int32_t id : ids) x.push_back(table[static_cast<std::size_t>(id)]);
  for (Index l = 0; l < c.layers; ++l) {
    const std::string layer_name = layer_prefix(l);
    const auto attention = [&](const Rows& in) {
      Rows q = linear(in, layer_name + "attn.", "q", c.attention_biases);
      Rows k = linear(in, layer_name + "attn.", "k", c.attention_biases);
      const Rows v = linear(in, layer_name + "attn.", "v", c.attention_biases);
      if (c.groups[0][0].encoding.id == "rope") {
        q = testing::rotated(q, c.heads, 10000, false);
        k = testing::rotated(k, c.kv_heads, 10000, false);
      }
      const auto reference_attention =
          testing::reference_attention(q, k, v, c.heads, c.kv_heads, c.causal);
      result.attention.push_back(reference_attention.probability);
      return linear(reference_attention.output, layer_name + "attn.", "o", c.attention_biases);
    };
    const auto feed_forward = [&](const Rows& in) {
      Rows hidden = linear(in, layer_name + "ffn.", "_in", c.feed_forward_biases);
      hidden = c.gated ? testing::product(testing::each(linear(in, layer_name + "ffn.", "_gate",
                                                               c.feed_forward_biases),
                                                        activation),
                                          hidden)
                       : testing::each(hidden, activation);
      return linear(hidden, layer_name + "ffn.", "_out", c.feed_forward_biases);
    };
    if (c.pre_norm) {
      x = testing::sum(x, attention(norm(x, layer_name + "attn_norm")));
      if (c.hidden > 0) x = testing::sum(x, feed_forward(norm(x, layer_name + "ffn_norm")));
    } else {
      x = norm(testing::sum(x, attention(x)), layer_name + "attn_norm");
      if (c.hidden > 0) x = norm(testing::sum(x, feed_forward(x)), layer_name + "ffn_norm");
    }
  }
  if (c.pre_norm) x = norm(x, "final_norm");
  result.logits = c.tied_output ? testing::times_transposed(x, weight_of(model, "embed.weight"))
                                : testing::times(x, weight_of(model, "output.weight"));
  return result;
}

IntTensor one_sequence(const std::vector<std::int32_t>& ids) {
  return IntTensor::from({1, static_cast<Index>(ids.size())}, ids);
}

const std::vector<std::int32_t> kIds = {3, 0, 12, 7, 7, 1, 5};

void expect_matches_reference(const ModelConfig& config) {
  const Model model = make_random_model(config, 5);
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  const Var logits = forward(model, one_sequence(kIds), options);
  const ReferenceResult expected = compute_reference(model, kIds);
  EXPECT_EQ(logits.shape(), (Shape{1, 7, 13}));
  EXPECT_TRUE(close(trace.logits, testing::tensor_of(expected.logits)));
  ASSERT_EQ(trace.layer_count({}), config.layers);
  for (Index l = 0; l < config.layers; ++l) {
    ASSERT_EQ(trace.head_count({}, l), config.heads);
    for (Index h = 0; h < config.heads; ++h) {
      Index in_group = -1;
      const AttentionTap* tap = trace.find({l, h}, &in_group);
      ASSERT_NE(tap, nullptr);
      const Rows& p = expected.attention[static_cast<std::size_t>(l)][static_cast<std::size_t>(h)];
      EXPECT_TRUE(close(tap->attention(in_group), testing::tensor_of(p))) << l << " " << h;
    }
  }
}

TEST(Forward, MatchesDecoderEquations) {
  expect_matches_reference(small_config());
}

TEST(Forward, MatchesEquationsWithRotatedQueriesAndKeys) {
  ModelConfig config = small_config();
  config.groups = uniform_groups(config, default_variant(),
                                 {"rope", default_values(encoding("rope").parameters)});
  expect_matches_reference(config);
}

TEST(Forward, MatchesEquationsOfEveryBlockType) {
  ModelConfig config = small_config();
  config.norm = Norm::LayerNorm;
  config.gated = false;
  config.attention_biases = config.feed_forward_biases = true;
  config.tied_output = false;
  for (const Activation activation :
       {Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu}) {
    config.activation = activation;
    expect_matches_reference(config);
  }
  config.pre_norm = false;
  expect_matches_reference(config);
  config.causal = false;
  expect_matches_reference(config);
  config.hidden = 0;
  expect_matches_reference(config);
}

TEST(Forward, GivesSameResultForEqualGroupsAndOneGroup) {
  const Model model = make_random_model(small_config(), 9);
  auto groups = model.config.groups;
  groups[0] = {HeadGroup{3, default_variant(), default_encoding()},
               HeadGroup{3, default_variant(), default_encoding()}};
  Trace one_group, two_groups;
  ForwardOptions options;
  options.trace = &one_group;
  forward(model, one_sequence(kIds), options);
  options.trace = &two_groups;
  forward(with_groups(model, groups, true), one_sequence(kIds), options);
  EXPECT_TRUE(close(two_groups.logits, one_group.logits, 1e-6));
  EXPECT_EQ(two_groups.attention.size(), 3u);
  Index in_group = -1;
  EXPECT_EQ(two_groups.find({0, 4}, &in_group)->address.group, 1);
  EXPECT_EQ(in_group, 1);
  EXPECT_TRUE(close(two_groups.find({0, 4}, &in_group)->attention(1),
                    one_group.find({0, 4}, &in_group)->attention(4), 1e-6));
}

TEST(Forward, RecomputesAttentionThatWasNotStored) {
  const Model model = make_random_model(small_config(), 9);
  Trace stored_trace, recomputed_trace;
  ForwardOptions options;
  options.trace = &stored_trace;
  forward(model, one_sequence(kIds), options);
  options.trace = &recomputed_trace;
  options.keep_attention = false;
  forward(model, one_sequence(kIds), options);
  ASSERT_FALSE(recomputed_trace.attention[0].result.attention.defined());
  for (Index h = 0; h < 6; ++h) {
    EXPECT_TRUE(close(recomputed_trace.attention[1].attention(h),
                      stored_trace.attention[1].attention(h), 1e-5));
  }
}

TEST(Forward, ProcessesBatchItemsIndependently) {
  const Model model = make_random_model(small_config(), 2);
  const IntTensor ids = IntTensor::from({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor batched = forward(model, ids).value();
  for (Index b = 0; b < 2; ++b) {
    const Tensor single = forward(model, ids.slice(b, 1)).value();
    EXPECT_TRUE(close(batched.slice(b, 1), single, 1e-6));
  }
}

TEST(Forward, RejectsInvalidIds) {
  const Model model = make_model(small_config(), 1);
  EXPECT_THROW(forward(model, one_sequence({13})), InputError);
  EXPECT_THROW(forward(model, one_sequence({-1})), InputError);
  EXPECT_THROW(forward(model, IntTensor({1, 0})), InputError);
  EXPECT_THROW(forward(model, IntTensor::from({2}, {1, 2})), InputError);
}

// Compares the gradient of the whole model with central differences, for some entries per weight.
TEST(Forward, GradientMatchesFiniteDifferences) {
  ModelConfig config = small_config();
  config.norm = Norm::LayerNorm;
  config.attention_biases = true;
  config.groups[1] = {
      HeadGroup{3, default_variant(), {"rope", default_values(encoding("rope").parameters)}},
      HeadGroup{3, default_variant(), default_encoding()}};
  Model model = make_random_model(config, 21);
  for (auto& [name, weight] : model.weights) weight = Var::parameter(weight.value());
  const IntTensor ids = IntTensor::from({2, 4}, {1, 2, 3, 4, 5, 6, 7, 0});
  const IntTensor targets = IntTensor::from({2, 4}, {2, 3, 4, 5, 6, 7, 0, 1});
  const auto loss = [&] { return cross_entropy(forward(model, ids), targets); };
  backward(loss());
  const auto loss_value = [&] { return static_cast<double>(loss().value()[0]); };
  const testing::Differences settings{{1e-2f, 3e-3f}, 5e-3, 5};
  for (auto& [name, weight] : model.weights) {
    if (name == "layers.0.attn.bk") {  // without positions, bk shifts all scores of a row equally
      EXPECT_TRUE(
          testing::has_no_gradient(weight.gradient(), weight.value(), loss_value, 1e-4, settings));
      continue;
    }
    EXPECT_TRUE(testing::is_gradient(weight.gradient(), weight.value(), loss_value, settings))
        << name;
  }
}

TEST(Forward, AppliesDropoutOnlyInTraining) {
  ModelConfig config = small_config();
  config.dropout = 0.5;
  const Model model = make_random_model(config, 2);
  ForwardOptions options;
  const Tensor without_dropout = forward(model, one_sequence(kIds), options).value();
  options.dropout_seed = 5;
  EXPECT_TRUE(close(forward(model, one_sequence(kIds), options).value(), without_dropout, 0));
  options.training = true;
  const Tensor with_dropout = forward(model, one_sequence(kIds), options).value();
  EXPECT_TRUE(testing::differs(with_dropout, without_dropout, 1e-3));
  EXPECT_TRUE(close(forward(model, one_sequence(kIds), options).value(), with_dropout, 0));
}

// Without gradients, no activations are kept, and a pass reuses the memory of the previous pass.
TEST(Forward, PassesReuseBuffersOfEarlierPasses) {
  Model model = make_random_model(small_config(), 2);
  for (int n = 0; n < 3; ++n) forward(model, one_sequence(kIds));
  const StorageStatistics old_statistics = storage_statistics();
  if (old_statistics.cached_bytes == 0)
    GTEST_SKIP() << "with AddressSanitizer every block is fresh";
  std::size_t live_bytes = 0;
  {
    const Var logits = forward(model, one_sequence(kIds));
    EXPECT_FALSE(logits.requires_gradient());
    live_bytes = storage_statistics().live_bytes - old_statistics.live_bytes;
    EXPECT_GE(live_bytes, static_cast<std::size_t>(logits.value().size()) * sizeof(float));
    EXPECT_LE(live_bytes, static_cast<std::size_t>(logits.value().size()) * sizeof(float) * 2);
  }
  const StorageStatistics new_statistics = storage_statistics();
  EXPECT_EQ(new_statistics.fresh_blocks, old_statistics.fresh_blocks);
  EXPECT_GT(new_statistics.reused_blocks, old_statistics.reused_blocks);
  EXPECT_EQ(new_statistics.live_bytes, old_statistics.live_bytes);
  // With gradients, activations are kept.
  for (auto& [name, weight] : model.weights) weight = Var::parameter(weight.value());
  const std::size_t live_bytes_without = storage_statistics().live_bytes;
  const Var logits = forward(model, one_sequence(kIds));
  EXPECT_GT(storage_statistics().live_bytes - live_bytes_without, 10 * live_bytes);
}

TEST(Forward, StopsSoonAfterARequest) {
  ModelConfig config = small_config();
  config.width = 768;
  config.heads = config.kv_heads = 12;
  config.head_size = 64;
  config.hidden = 3072;
  config.vocabulary = 20000;
  config.context = 1024;
  config.layers = 4;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  const Model model = make_model(config, 1);
  const IntTensor ids = IntTensor::zeros({1, 1024});
  const Stop stop;
  const StopScope scope(stop);
  std::chrono::steady_clock::time_point requested_at;
  std::thread requester([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    requested_at = std::chrono::steady_clock::now();
    stop.request();
  });
  EXPECT_THROW(forward(model, ids), Stopped);
  requester.join();
  const std::chrono::duration<double, std::milli> delay =
      std::chrono::steady_clock::now() - requested_at;
  // The specified limit is 50 ms; the test allows 200 ms because other processes may run.
  RecordProperty("milliseconds", std::to_string(delay.count()));
  EXPECT_LT(delay.count(), 200);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
