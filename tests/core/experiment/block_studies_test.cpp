// Findings "block_vectors", "gradients" and "inverse" against taps, formulas and finite
// differences.
#include <gtest/gtest.h>

#include <cmath>

#include "core/experiment/block_study.h"
#include "core/experiment/finding.h"
#include "core/experiment/gradient_study.h"
#include "core/experiment/inverse_study.h"
#include "core/experiment/run.h"
#include "core/model/pass.h"
#include "tests/core/experiment/tasks.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

RunSpec run_of(const std::string& model, std::vector<std::int32_t> target = {}) {
  RunSpec spec;
  spec.model = testing::model_case(model);
  spec.ids = {1, 7, 4, 9, 2, 6, 13};
  spec.target_ids = std::move(target);
  return spec;
}

template <class Study>
std::shared_ptr<const Study> study(const RunSpec& spec, const FindingName<const Study>& name,
                                   const FindingSettings& settings) {
  Session session;
  session.run = spec;
  ExperimentRun run(cpu_only());
  return compute_background_findings(session, {{name.id, settings}}, run, {}).get(name);
}

// Sizes of the stream equal those of the recorded taps.
TEST(BlockStudy, StreamMatchesTaps) {
  for (const char* model : {"decoder-rope", "decoder-post-norm-biases", "join-gru",
                            "memory-segment", "exits-geometric"}) {
    const RunSpec spec = run_of(model);
    const auto block = study(spec, Findings::block, BlockSettings{});
    ASSERT_EQ(block->problem, "") << model;
    ExperimentRun run(cpu_only());
    const std::shared_ptr<const Trace> trace = run.run(spec);
    const auto expect_norms = [&](const Tensor& norms, const std::string& tap) {
      const Tensor rows = trace->taps.at(tap).value();
      ASSERT_EQ(norms.size(), rows.dim(0)) << model << " " << tap;
      for (Index i = 0; i < norms.size(); ++i) {
        double sum = 0;
        for (Index c = 0; c < rows.dim(1); ++c) sum += std::pow(static_cast<double>(rows(i, c)), 2);
        const double difference = std::abs(static_cast<double>(norms[i]) - std::sqrt(sum));
        EXPECT_FALSE(!(difference <= 1e-4)) << model << " " << tap << " " << i;
      }
    };
    ASSERT_EQ(block->stream.size(), 1 + 2 * static_cast<std::size_t>(trace->config->layers));
    expect_norms(block->stream[0].state, "embed");
    for (Index n = 0; n < trace->config->layers; ++n) {
      const std::string prefix = "layers." + std::to_string(n) + ".";
      const auto first = static_cast<std::size_t>(2 * n + 1);
      EXPECT_EQ(block->stream[first].block, "attention");
      expect_norms(block->stream[first].added, prefix + "attention");
      expect_norms(block->stream[first + 1].added, prefix + "feed_forward");
      expect_norms(block->stream[first + 1].state, prefix + "residual");
    }
  }
}

// The recorded output of a norm follows from its input by the formula in double precision.
TEST(BlockStudy, NormsMatchFormula) {
  for (const char* model : {"decoder-rope", "decoder-post-norm-biases"}) {
    const auto block = study(run_of(model), Findings::block, BlockSettings{1, {}});
    ASSERT_EQ(block->norms.size(), 2u) << model;
    for (const NormStudy& norm : block->norms) {
      const Index width = norm.input.dim(1);
      for (Index i = 0; i < norm.input.dim(0); ++i) {
        double mean = 0, square = 0;
        for (Index c = 0; c < width; ++c) {
          mean += static_cast<double>(norm.input(i, c)) / static_cast<double>(width);
        }
        if (norm.is_rms) mean = 0;
        for (Index c = 0; c < width; ++c) {
          const double x = static_cast<double>(norm.input(i, c)) - mean;
          square += x * x / static_cast<double>(width);
        }
        for (Index c = 0; c < width; ++c) {
          const double bias = norm.bias.defined() ? static_cast<double>(norm.bias[c]) : 0;
          const double expected = (static_cast<double>(norm.input(i, c)) - mean) /
                                      std::sqrt(square + norm.epsilon) *
                                      static_cast<double>(norm.gain[c]) +
                                  bias;
          const double difference = std::abs(expected - static_cast<double>(norm.output(i, c)));
          EXPECT_FALSE(!(difference <= 1e-5)) << model << " " << norm.name;
        }
      }
    }
  }
}

// The units' outputs are activation(gate) value, or activation(value).
TEST(BlockStudy, UnitsMatchActivation) {
  for (const char* model : {"decoder-rope", "decoder-post-norm-biases"}) {
    const auto block = study(run_of(model), Findings::block, BlockSettings{});
    ASSERT_TRUE(block->hidden) << model;
    const HiddenStudy& hidden = *block->hidden;
    const Tensor activated = activation(hidden.activation)
                                 .apply(Var(hidden.is_gated ? hidden.gate : hidden.value))
                                 .value();
    ASSERT_EQ(activated.shape(), hidden.output.shape());
    for (Index n = 0; n < activated.size(); ++n) {
      const double factor = hidden.is_gated ? static_cast<double>(hidden.value[n]) : 1;
      const double expected = static_cast<double>(activated[n]) * factor;
      EXPECT_FALSE(!(std::abs(expected - static_cast<double>(hidden.output[n])) <= 1e-5)) << model;
    }
  }
}

TEST(BlockStudy, ExplainsMissingLayers) {
  const auto block = study(run_of("rnn_attention-additive"), Findings::block, BlockSettings{});
  EXPECT_EQ(block->problem, "This model has no layers of attention.");
}

// The logit y of the study if `change` is added to a component of the state before a layer.
double changed_logit(const RunSpec& spec, const GradientStudy& gradients, const GradientRow& row,
                     Index position, Index component, float change) {
  ExperimentRun run(cpu_only());
  const Output output = run.run_probed(
      spec,
      [&](const ProbePlace& place, const Var& x) {
        const bool is_state = place.point == ProbePoint::LayerInput &&
                              place.address.stack == row.stack && place.address.step == row.step &&
                              place.address.layer == row.layer;
        if (!is_state) return x;
        Tensor changed = x.value().copy();
        changed.data()[position * x.dim(x.rank() - 1) + component] += change;
        return Var(changed);
      },
      true);
  const Index vocabulary = output.logits.dim(output.logits.rank() - 1);
  return static_cast<double>(
      output.logits.value().data()[gradients.position * vocabulary + gradients.id]);
}

// Norms of the gradients equal those of central differences over all components.
TEST(GradientStudy, MatchesFiniteDifferences) {
  const std::pair<const char*, std::vector<std::int32_t>> cases[] = {
      {"decoder-rope", {}},
      {"decoder-post-norm-biases", {}},
      {"encoder_decoder-sinusoidal", {1, 5, 2, 4, 3}},
      {"rnn_attention-additive", {1, 5, 2}},
      {"universal-fixed", {}}};
  for (const auto& [model, target] : cases) {
    const RunSpec spec = run_of(model, target);
    const auto gradients = study(spec, Findings::gradients, GradientSettings{Index{2}});
    ASSERT_EQ(gradients->problem, "") << model;
    ASSERT_GE(gradients->rows.size(), 2u) << model;
    EXPECT_EQ(gradients->position, 2);
    for (const std::size_t n : {std::size_t{0}, gradients->rows.size() / 2}) {
      const GradientRow& row = gradients->rows[n];
      for (const Index position : {Index{0}, Index{2}}) {
        ExperimentRun run(cpu_only());
        const Index width = run.run(spec)->config->width;
        double sum = 0;
        constexpr float kStep = 5e-3F;
        for (Index c = 0; c < width; ++c) {
          const double high = changed_logit(spec, *gradients, row, position, c, kStep);
          const double low = changed_logit(spec, *gradients, row, position, c, -kStep);
          sum += std::pow((high - low) / (2 * static_cast<double>(kStep)), 2);
        }
        const double expected = std::sqrt(sum);
        const double difference = std::abs(expected - static_cast<double>(row.full[position]));
        EXPECT_FALSE(!(difference <= 0.02 * expected + 2e-3))
            << model << " row " << n << " position " << position << ": " << expected << ", "
            << row.full[position];
      }
    }
  }
}

// Without attention, gradients reach no other position of a transformer.
TEST(GradientStudy, PassesBetweenPositionsByAttentionOnly) {
  const auto gradients =
      study(run_of("decoder-rope"), Findings::gradients, GradientSettings{Index{4}});
  ASSERT_TRUE(gradients->has_attention);
  for (std::size_t n = 0; n + 1 < gradients->rows.size(); ++n) {
    const GradientRow& row = gradients->rows[n];
    for (Index i = 0; i < row.full.size(); ++i) {
      EXPECT_EQ(row.full[i] > 0, i <= 4) << n << ", " << i;
      EXPECT_EQ(row.without_attention[i] > 0, i == 4) << n << ", " << i;
    }
  }
}

TEST(InverseStudy, RecomputesInputs) {
  const auto inverse = study(run_of("join-reversible"), Findings::inverse, FindingSettings());
  ASSERT_EQ(inverse->problem, "");
  ASSERT_FALSE(inverse->rows.empty());
  for (const InverseRow& row : inverse->rows) {
    EXPECT_GT(row.largest1, 0);
    EXPECT_FALSE(!(row.relative() <= 1e-5)) << row.layer;
  }
  EXPECT_NE(study(run_of("decoder-rope"), Findings::inverse, FindingSettings())->problem, "");
}

// A probe that returns its vectors leaves the run unchanged, and passes in all kinds of models.
TEST(Probe, LeavesLogitsUnchanged) {
  for (const char* model : {"decoder-rope", "join-reversible", "exits-classifier", "memory-segment",
                            "universal-act", "join-gru"}) {
    const RunSpec spec = run_of(model);
    ExperimentRun run(cpu_only());
    const std::shared_ptr<const Trace> trace = run.run(spec);
    Index layers = 0;
    const Output output = run.run_probed(
        spec,
        [&](const ProbePlace& place, const Var& x) {
          layers += place.point == ProbePoint::LayerInput;
          return x;
        },
        true);
    EXPECT_GT(layers, trace->config->layers) << model;
    const Tensor expected = trace->logits.value();
    ASSERT_EQ(output.logits.value().size(), expected.size()) << model;
    for (Index n = 0; n < expected.size(); ++n) {
      const double difference = std::abs(static_cast<double>(output.logits.value()[n]) -
                                         static_cast<double>(expected[n]));
      EXPECT_FALSE(!(difference <= 1e-5)) << model;
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
