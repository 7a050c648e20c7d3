// Taps that are computed again equal the taps that a run keeps, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/model/residual_connection.h"
#include "tests/support/compare.h"
#include "tests/support/model_sweep.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;

Trace trace_of(const Model& model, const Batch& batch, bool keep_activations,
               const Interventions& interventions = {}) {
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  options.keep_activations = keep_activations;
  options.interventions = &interventions;
  run(model, batch, options);
  return trace;
}

// Traces of one run, with kept and with recomputed activations.
struct TracePair {
  Trace kept, recomputed;
};
// Owns the model and the input, so that recomputation after the return must not refer to them.
TracePair traces_of(Model model, Batch batch, Interventions interventions = {}) {
  batch.targets = {};
  return {trace_of(model, batch, true, interventions),
          trace_of(model, batch, false, interventions)};
}

void expect_same(const Tensor& got, const Tensor& expected, const std::string& name) {
  ASSERT_EQ(got.defined(), expected.defined()) << name;
  if (!expected.defined()) return;
  EXPECT_TRUE(close(got, expected, 0)) << name;
}

void expect_same(const AttentionTap& got, const AttentionTap& expected, const std::string& name) {
  expect_same(got.result.attention, expected.result.attention, name + ", attention");
  expect_same(got.result.log_sum_exp, expected.result.log_sum_exp, name + ", log-sum-exp");
  const auto vectors = got.vectors.get(), expected_vectors = expected.vectors.get();
  expect_same(vectors->input.q, expected_vectors->input.q, name + ", q before rotation");
  expect_same(vectors->input.k, expected_vectors->input.k, name + ", k before rotation");
  expect_same(vectors->input.v, expected_vectors->input.v, name + ", v");
  expect_same(vectors->output, expected_vectors->output, name + ", output");
  EXPECT_EQ(got.shapes().output, vectors->output.shape()) << name;
  EXPECT_EQ(got.shapes().input.k, vectors->input.k.shape()) << name;
  ASSERT_EQ(vectors->part == nullptr, expected_vectors->part == nullptr) << name;
  ASSERT_EQ(got.settings() == nullptr, vectors->part == nullptr) << name;
  if (vectors->part == nullptr) return;
  const std::vector<Var> values = ingredients(*vectors->part),
                         expected_values = ingredients(*expected_vectors->part);
  ASSERT_EQ(values.size(), expected_values.size()) << name;
  for (std::size_t n = 0; n < values.size(); ++n) {
    expect_same(values[n].value(), expected_values[n].value(), name + ", ingredient");
  }
  EXPECT_EQ(got.settings()->scale, vectors->part->scale) << name;
}

void expect_same(const Trace& got, const Trace& expected, const std::string& name) {
  ASSERT_EQ(got.taps.size(), expected.taps.size()) << name;
  for (const auto& [tap, values] : expected.taps) {
    ASSERT_TRUE(got.taps.contains(tap)) << name << ", " << tap;
    EXPECT_EQ(got.taps.at(tap).shape(), values.shape()) << name << ", " << tap;
    expect_same(got.taps.at(tap), values, name + ", " + tap);
  }
  expect_same(got.logits, expected.logits, name + ", logits");
  ASSERT_EQ(got.located.size(), expected.located.size()) << name;
  for (std::size_t n = 0; n < got.located.size(); ++n) {
    expect_same(got.located[n].values, expected.located[n].values, name + ", located");
  }
  ASSERT_EQ(got.attention.size(), expected.attention.size()) << name;
  for (std::size_t n = 0; n < got.attention.size(); ++n) {
    expect_same(got.attention[n], expected.attention[n], name);
  }
}

bool keeps_vectors(const Trace& trace) {
  return std::ranges::any_of(trace.attention,
                             [](const AttentionTap& tap) { return tap.vectors.kept() != nullptr; });
}

class RecomputedActivations : public ::testing::TestWithParam<testing::SweepPair> {};

TEST_P(RecomputedActivations, EqualKeptOnes) {
  const bool runs_layers =
      static_cast<bool>(residual_connection(GetParam().residual_connection).run_layers);
  int recomputed = 0;
  testing::sweep_models(GetParam(), [&](const testing::SweepModel& swept) {
    if (swept.model.config.segment > 0 || !swept.is_selected) return;
    const TracePair traces = traces_of(swept.model, swept.batch);
    expect_same(traces.recomputed, traces.kept, swept.name);
    EXPECT_EQ(keeps_vectors(traces.kept), !traces.kept.attention.empty()) << swept.name;
    if (!traces.kept.attention.empty() && !keeps_vectors(traces.recomputed)) ++recomputed;
  });
  const bool has_layers =
      GetParam().architecture != "rnn_attention" && GetParam().architecture != "recurrent";
  EXPECT_EQ(recomputed > 0, has_layers && !runs_layers);
}

INSTANTIATE_TEST_SUITE_P(All, RecomputedActivations, ::testing::ValuesIn(testing::sweep_pairs()),
                         [](const auto& info) { return info.param.name(); });

Batch batch_of(Index length) {
  Batch batch;
  batch.ids = IntTensor({1, length});
  for (Index n = 0; n < length; ++n) batch.ids[n] = static_cast<std::int32_t>(7 * n % 50);
  return batch;
}

Model layered_model(Index width_of_head = 8) {
  return make_model(testing::small_config({.vocabulary = 50,
                                           .context = 64,
                                           .layers = 3,
                                           .heads = 2,
                                           .head_size = width_of_head,
                                           .hidden = 40}),
                    1);
}

TEST(RecomputedActivations, KeepOnlyStatesBetweenLayers) {
  const TracePair traces = traces_of(layered_model(), batch_of(20));
  const Trace& trace = traces.recomputed;
  EXPECT_FALSE(keeps_vectors(trace));
  EXPECT_FALSE(trace.logits.kept().defined());
  for (const auto& [name, rows] : trace.taps) {
    const bool is_state = name == "embed" || name == "final" || name.ends_with(".residual");
    EXPECT_EQ(rows.kept().defined(), is_state) << name;
  }
}

// A product of few rows rounds differently than one of many rows.
TEST(RecomputedActivations, EachRowOfLogitsEqualsTheRowOfAllLogits) {
  for (const Index length : {1, 2, 3, 4, 5, 9, 40}) {
    const TracePair traces = traces_of(layered_model(34), batch_of(length));
    const Tensor logits = traces.kept.logits;
    for (Index first = 0; first < length; ++first) {
      for (Index count = 1; first + count <= length; ++count) {
        ASSERT_TRUE(
            close(traces.recomputed.logits.rows(first, count), logits.slice(first, count), 0))
            << length << " tokens, rows " << first << " to " << first + count - 1;
      }
    }
  }
}

TEST(RecomputedActivations, ContainInterventions) {
  Interventions interventions{intervention_from_text("off layer=1 head=1"),
                              intervention_from_text("forbid query=5 key=3"),
                              intervention_from_text("off layer=2")};
  const TracePair traces = traces_of(layered_model(), batch_of(12), interventions);
  expect_same(traces.recomputed, traces.kept, "interventions");
  const TracePair others = traces_of(layered_model(), batch_of(12));
  EXPECT_TRUE(testing::differs(traces.recomputed.taps.at("layers.1.attention"),
                               others.recomputed.taps.at("layers.1.attention"), 1e-6));
}

// Without kept maps, attention is computed from queries and keys, which are kept or recomputed.
TEST(RecomputedActivations, EqualKeptOnesWithoutMaps) {
  const Model model = layered_model();
  std::vector<Trace> traces(2);
  for (const bool keep : {true, false}) {
    ForwardOptions options;
    options.trace = &traces[keep ? 0 : 1];
    options.keep_attention = false;
    options.keep_activations = keep;
    run(model, batch_of(30), options);
  }
  expect_same(traces[1], traces[0], "without maps");
  for (std::size_t n = 0; n < traces[0].attention.size(); ++n) {
    EXPECT_TRUE(close(traces[1].attention[n].attention(1), traces[0].attention[n].attention(1), 0));
  }
}

TEST(RecomputedActivations, AreRefusedForLosses) {
  const Model model = layered_model();
  Batch batch = next_token_batch(batch_of(9).ids);
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  options.keep_activations = false;
  EXPECT_THROW(run(model, batch, options), std::logic_error);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
