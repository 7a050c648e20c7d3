#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/attention/variant.h"
#include "core/attention/variants/shared/implied_rows.h"
#include "core/base/error.h"
#include "core/view/flow/flow_drawing.h"
#include "core/view/flow/flow_numbers.h"
#include "core/view/flow/flow_words.h"
#include "core/view/parts/describe.h"
#include "tests/core/view/viewed_layout.h"
#include "tests/support/case_run.h"
#include "tests/support/model_trace.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::all_text;
using testing::close;
using testing::kIds;
using testing::lay_out_view;
using testing::LayoutOptions;
using testing::shows_text;

Session flow_session() {
  Session session;
  session.view.id = "flow";
  return session;
}

FlowNumbers numbers_of(const Trace& trace, const Session& session, Index keys = 4) {
  const SelectedTap found = find_tap(trace, session.view);
  if (found.tap == nullptr) throw InputError(found.headline);
  return flow_numbers(trace, {}, session, *found.tap, found.head, keys);
}

Tensor row(const Tensor& rows, Index n) {
  return rows.slice(n, 1).reshaped({rows.dim(1)});
}

// Σ_j a_ij v_j in double precision, from the recorded weights and values.
Tensor reference_sum(const AttentionTap& tap, Index head, Index query) {
  const Tensor& v = tap.part() ? tap.part()->v.value() : tap.input().v;
  const Tensor weights = tap.attention(head);
  const Index value_head = head * v.dim(0) / static_cast<Index>(tap.heads.size());
  Tensor sum({v.dim(2)});
  for (Index n = 0; n < v.dim(2); ++n) {
    double value = 0;
    for (Index j = 0; j < weights.dim(1); ++j) {
      value += static_cast<double>(weights(query, j)) * static_cast<double>(v(value_head, j, n));
    }
    sum[n] = static_cast<float>(value);
  }
  return sum;
}

// The weighted values of the shown keys and of all other keys add up to the output.
void expect_sum(const FlowSum& sum, const std::string& context) {
  ASSERT_TRUE(sum.adds_values) << context;
  Tensor total = Tensor::zeros(sum.output.shape());
  for (std::size_t k = 0; k < sum.keys.size(); ++k) {
    for (Index n = 0; n < total.size(); ++n) {
      const float expected =
          static_cast<float>(sum.keys[k].weight) * sum.values(static_cast<Index>(k), n);
      EXPECT_TRUE(std::abs(sum.weighted(static_cast<Index>(k), n) - expected) <= 1e-5F) << context;
      total[n] += expected;
    }
  }
  for (Index n = 0; n < total.size(); ++n) {
    total[n] += sum.others_sum[n] + (sum.relative_sum.defined() ? sum.relative_sum[n] : 0.0F);
  }
  EXPECT_TRUE(close(total, sum.sum)) << context;
  if (sum.is_output) {
    EXPECT_TRUE(close(total, sum.output)) << context;
  }
}

TEST(FlowView, SumEqualsHeadOutputForEveryVariant) {
  std::size_t sums = 0;
  for (const Variant& v : variants()) {
    for (const bool causal : {true, false}) {
      Trace trace;
      try {
        const Choice choice{v.id, default_values(v.parameters)};
        trace = testing::run_model(
            {.variant = to_json(choice).dump(), .encoding = "none", .causal = causal});
      } catch (const InputError&) {
        continue;  // the variant sorts blocks, or needs inputs that the model lacks
      }
      Session session = flow_session();
      session.view.layer = session.view.head = 1;
      for (const Index query : {Index{0}, Index{5}, Index{11}}) {
        session.view.pinned_query = query;
        const FlowNumbers flow = numbers_of(trace, session, 3);
        const std::string context = v.id + (causal ? ", causal" : "");
        EXPECT_EQ(flow.query, query);
        if (averaged_channels(trace.attention[1].result) > 0) {
          EXPECT_FALSE(flow.sum.adds_values) << context;
          continue;
        }
        expect_sum(flow.sum, context);
        // Gates of gMLP and the squashing of capsules change the sum afterwards.
        EXPECT_EQ(flow.sum.is_output, v.id != "gmlp" && v.id != "capsules") << context;
        if (flow.sum.is_output) ++sums;
      }
    }
  }
  EXPECT_GE(sums, 3 * variants().size());
}

// Two heads share each value head. Relative positions add a term to the sum (Shaw et al., 2018,
// equation 3).
TEST(FlowView, SumMatchesEquation) {
  for (const char* encoding : {"rope", "alibi", "sinusoidal"}) {
    const Trace trace = testing::run_model({.encoding = encoding, .heads = 4, .kv_heads = 2});
    for (Index head = 0; head < 4; ++head) {
      const AttentionTap& tap = trace.attention[1];
      const FlowSum sum = flow_sum(trace, tap, head, 9, 64);
      EXPECT_EQ(sum.others, 0);
      EXPECT_TRUE(close(sum.output, reference_sum(tap, head, 9)));
      EXPECT_TRUE(close(sum.sum, reference_sum(tap, head, 9)));
      EXPECT_TRUE(sum.is_output);
    }
  }
  const Trace shaw = testing::run_model({.encoding = R"({"type": "shaw", "clip": 4})"});
  const FlowSum sum = flow_sum(shaw, shaw.attention[1], 1, 9, 3);
  ASSERT_TRUE(sum.relative_sum.defined());
  EXPECT_EQ(sum.others, 7);
  EXPECT_TRUE(sum.is_output);
  expect_sum(sum, "shaw");
}

TEST(FlowView, NamesOneOmittedKey) {
  const Trace trace = testing::run_model({});
  testing::LayoutOptions options;
  options.width = 1100;
  set_view_value(options.settings, "flow", "keys", Index{3});
  const auto drawn = [&](Index query) {
    options.settings.pinned_query = query;
    return testing::all_text(testing::lay_out_view(trace, "flow", options).list);
  };
  EXPECT_NE(drawn(3).find("\nthe other key\n"), std::string::npos) << drawn(3);
  EXPECT_EQ(drawn(3).find("the other 1"), std::string::npos);
  EXPECT_NE(drawn(4).find("\nthe other 2 together\n"), std::string::npos) << drawn(4);
}

// Keys are sorted by weight; their scores are the logits of the softmax.
TEST(FlowView, ListsStrongestKeysWithMatchingScores) {
  const Trace trace = testing::run_model({});
  const AttentionTap& tap = trace.attention[1];
  const FlowSum sum = flow_sum(trace, tap, 0, 11, 12);
  ASSERT_EQ(sum.keys.size(), 12u);
  double total = 0, exponentials = 0;
  for (const FlowKey& key : sum.keys) exponentials += std::exp(key.score.value());
  for (std::size_t n = 0; n < sum.keys.size(); ++n) {
    if (n > 0) {
      EXPECT_LE(sum.keys[n].weight, sum.keys[n - 1].weight);
    }
    EXPECT_NEAR(sum.keys[n].weight, std::exp(*sum.keys[n].score) / exponentials, 1e-5);
    total += sum.keys[n].weight;
  }
  EXPECT_NEAR(total, 1, 1e-5);
  const FlowSum few = flow_sum(trace, tap, 0, 11, 3);
  EXPECT_EQ(few.others, 9);
  EXPECT_NEAR(few.others_weight, 1 - few.keys[0].weight - few.keys[1].weight - few.keys[2].weight,
              1e-5);
  // A pinned key replaces the last key.
  const Index weakest = sum.keys.back().column;
  const FlowSum pinned = flow_sum(trace, tap, 0, 11, 3, weakest);
  EXPECT_EQ(pinned.keys.back().column, weakest);
  expect_sum(pinned, "pinned");
}

TEST(FlowView, AdditiveScoresMatchWeights) {
  const auto trace = testing::run_case("rnn_attention-additive", kIds, {3, 5, 6});
  const FlowSum sum = flow_sum(*trace, trace->attention[0], 0, 1, 11);
  double exponentials = 0;
  for (const FlowKey& key : sum.keys) exponentials += std::exp(key.score.value());
  for (const FlowKey& key : sum.keys) {
    EXPECT_NEAR(key.weight, std::exp(*key.score) / exponentials, 1e-5);
  }
}

// Contributions of all heads and the bias sum to the recorded attention update.
TEST(FlowView, HeadsSumToAttentionUpdate) {
  for (const char* model : {"decoder-rope", "decoder-groups-joined", "decoder-groups-ragged",
                            "decoder-post-norm-biases", "memory-memorizing"}) {
    const auto trace = testing::run_case(model, kIds);
    Session session = flow_session();
    const FlowNumbers flow = numbers_of(*trace, session);
    ASSERT_TRUE(flow.heads.adds.defined()) << model;
    Tensor sum = flow.heads.bias.defined() ? flow.heads.bias.copy()
                                           : Tensor::zeros({flow.heads.adds.dim(1)});
    for (Index a = 0; a < flow.heads.adds.dim(0); ++a) {
      for (Index n = 0; n < sum.size(); ++n) sum[n] += flow.heads.adds(a, n);
    }
    const Tensor recorded = row(trace->taps.at("layers.0.attention"), flow.token);
    EXPECT_TRUE(close(sum, recorded)) << model;
    EXPECT_TRUE(close(flow.heads.joined, recorded)) << model;
    EXPECT_EQ(flow.heads.bias.defined(), std::string(model) == "decoder-post-norm-biases") << model;
  }
}

TEST(FlowView, DisabledHeadAddsNothing) {
  Session session = flow_session();
  session.run.model = testing::model_case("decoder-rope");
  session.run.ids = kIds;
  session.run.interventions = {intervention_from_text("off layer=0 head=1")};
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(session.run);
  const FlowNumbers flow = numbers_of(*trace, session);
  EXPECT_TRUE(flow.heads.is_off[1]);
  EXPECT_TRUE(close(row(flow.heads.adds, 1), Tensor::zeros({flow.heads.adds.dim(1)})));
  EXPECT_TRUE(close(flow.heads.joined, row(trace->taps.at("layers.0.attention"), flow.token)));
}

TEST(FlowView, DisabledLayerIsSkipped) {
  Session session = flow_session();
  session.run.model = testing::model_case("decoder-rope");
  session.run.ids = kIds;
  session.run.interventions = {intervention_from_text("off layer=0")};
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(session.run);
  const FlowNumbers flow = numbers_of(*trace, session);
  ASSERT_TRUE(flow.layer);
  EXPECT_EQ(flow.layer->join, FlowLayer::Join::Off);
  EXPECT_TRUE(flow.layer->terms.empty());
  EXPECT_TRUE(close(flow.layer->output, flow.layer->input.values));
}

// The vector of a halted token stays constant, even if later steps were recorded.
TEST(FlowView, HaltedTokenKeepsItsState) {
  const auto trace = testing::run_case("universal-act", kIds);
  const IntTensor& steps = trace->counts.at("halting.steps");
  Session session = flow_session();
  bool halted = false;
  for (Index i = 0; i < steps.size(); ++i) {
    session.view.pinned_query = i;
    const FlowNumbers flow = numbers_of(*trace, session);
    for (std::size_t n = 1; n < flow.states.size(); ++n) {
      const bool is_copied = flow.states[n].layer->part.step > steps[i];
      EXPECT_EQ(flow.states[n].copied, is_copied);
      if (is_copied) {
        EXPECT_TRUE(close(flow.states[n].values, flow.states[n - 1].values));
      }
      halted |= is_copied;
    }
  }
  EXPECT_TRUE(halted);
}

struct JoinCase {
  const char* model;
  FlowLayer::Join join;
  std::vector<std::string> terms;
  PartChoice part{};
  bool has_target = false;
};

// The input and the contributions of a residual sum add up to its output.
TEST(FlowView, ResidualContributionsAddUp) {
  using Join = FlowLayer::Join;
  const std::vector<std::string> self_attention{"attention", "feed-forward"};
  const std::vector<std::string> with_cross_attention{"self-attention", "cross-attention",
                                                      "feed-forward"};
  for (const JoinCase& expected : std::vector<JoinCase>{
           {"decoder-rope", Join::Sum, self_attention},
           {"memory-segment", Join::Sum, self_attention, {.segment = 2}},
           {"universal-fixed", Join::Sum, {"attention", "feed-forward", "positions"}, {.step = 2}},
           {"join-reversible", Join::Sum, {"attention", "feed-forward", "the other stream"}},
           {"join-gru", Join::Gated, self_attention},
           {"decoder-post-norm-biases", Join::Normed, self_attention},
           {"encoder_decoder-sinusoidal", Join::Sum, with_cross_attention, {}, true},
           {"encoder_decoder-sinusoidal",
            Join::Sum,
            with_cross_attention,
            {.kind = AttentionKind::Cross},
            true},
           {"encoder_decoder-sinusoidal",
            Join::Sum,
            self_attention,
            {.stack = Stack::Encoder},
            true}}) {
    const auto trace = testing::run_case(
        expected.model, kIds,
        expected.has_target ? std::vector<std::int32_t>{3, 5, 6} : std::vector<std::int32_t>{});
    Session session = flow_session();
    session.view.part = expected.part;
    const FlowNumbers flow = numbers_of(*trace, session);
    ASSERT_TRUE(flow.layer) << expected.model;
    EXPECT_EQ(flow.layer->join, expected.join) << expected.model;
    std::vector<std::string> names;
    Tensor sum = flow.layer->input.values.copy();
    for (const FlowTerm& term : flow.layer->terms) {
      names.push_back(term.name);
      for (Index n = 0; n < sum.size(); ++n) sum[n] += term.values[n];
    }
    EXPECT_EQ(names, expected.terms) << expected.model;
    if (expected.join == Join::Sum) {
      EXPECT_TRUE(close(sum, flow.layer->output)) << expected.model;
    }
    const bool is_cross = expected.part.kind == std::optional(AttentionKind::Cross);
    ASSERT_TRUE(flow.heads.joined.defined());
    const auto term = std::ranges::find(
        flow.layer->terms, is_cross ? "cross-attention" : expected.terms.front(), &FlowTerm::name);
    EXPECT_TRUE(close(flow.heads.joined, term->values)) << expected.model;
  }
}

TEST(FlowView, StatesRunFromEmbeddingToLastLayer) {
  const auto trace = testing::run_case("decoder-rope", kIds);
  Session session = flow_session();
  session.view.pinned_query = 4;
  const FlowNumbers flow = numbers_of(*trace, session);
  const Index layers = trace->config->layers;
  ASSERT_EQ(static_cast<Index>(flow.states.size()), layers + 1);
  EXPECT_TRUE(close(flow.states.front().values, row(trace->taps.at("embed"), 4)));
  const std::string last = "layers." + std::to_string(layers - 1) + ".residual";
  EXPECT_TRUE(close(flow.states.back().values, row(trace->taps.at(last), 4)));
  // The probabilities are the softmax of the logits.
  double sum = 0, largest = 0;
  for (Index n = 0; n < trace->logits.dim(1); ++n) {
    const double power = std::exp(static_cast<double>(trace->logits.value()(4, n)));
    sum += power;
    largest = std::max(largest, power);
  }
  ASSERT_FALSE(flow.candidates.empty());
  EXPECT_NEAR(flow.candidates.front().probability, largest / sum, 1e-5);
}

TEST(FlowView, ExitedTokenIsCopied) {
  Session session = flow_session();
  session.run.model = testing::model_case("exits-saturation-decay");
  session.run.ids = kIds;
  session.run.exit = 0.0;  // exit after the first layer
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(session.run);
  ASSERT_EQ(trace->counts.at("exit.layer")[10], 1);
  session.view.layer = 1;
  const FlowNumbers flow = numbers_of(*trace, session);
  ASSERT_TRUE(flow.layer);
  EXPECT_EQ(flow.layer->join, FlowLayer::Join::Copied);
  EXPECT_TRUE(close(flow.layer->output, flow.layer->input.values));
  EXPECT_TRUE(flow.states[2].copied);
  EXPECT_FALSE(flow.states[1].copied);
  LayoutOptions look;
  look.settings = session.view;
  look.width = 1000;
  EXPECT_TRUE(shows_text(lay_out_view(*trace, "flow", look).list, "copied"));
}

TEST(FlowView, TrajectoryPredictsActionsAtStates) {
  const testing::TemporaryFolder folder;
  testing::save_walker(folder.path() / "walker");
  Session session = testing::trajectory_session(folder.path() / "walker");
  session.view.id = "flow";
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(session.run);
  session.view.pinned_query = 1;  // position of the first state
  const FlowNumbers flow = numbers_of(*trace, session);
  ASSERT_EQ(flow.candidates.size(), 4u);
  double total = 0;
  for (const FlowCandidate& candidate : flow.candidates) total += candidate.probability;
  EXPECT_NEAR(total, 1, 1e-6);
  session.view.pinned_query = 0;
  EXPECT_TRUE(numbers_of(*trace, session).candidates.empty());
}

LayoutOptions wide_look(const ViewSettings& settings) {
  LayoutOptions look;
  look.width = 1000;
  look.framed = false;
  look.key_of = [](HintAction) { return "Space"; };
  look.settings = settings;
  look.settings.id = "flow";
  return look;
}

// Each step explains one stage; panels outside the current stage are veiled.
TEST(FlowView, StepsExplainOneStageEach) {
  const Trace trace = testing::run_model({});
  std::vector<std::string> step_texts;
  for (Index step = 1; step <= kFlowSteps; ++step) {
    ViewSettings settings;
    set_view_value(settings, "flow", "step", step);
    const ViewLayout layout = lay_out_view(trace, "flow", wide_look(settings));
    const std::string text = all_text(layout.list);
    for (const std::string& earlier_text : step_texts) EXPECT_NE(text, earlier_text);
    step_texts.push_back(text);
    const auto veils = std::ranges::count_if(layout.list.items, [&](const Item& item) {
      const FilledBox* box = std::get_if<FilledBox>(&item);
      return box != nullptr && box->colour.a > 100 && box->colour.a < 250;
    });
    // The last step unveils all twelve panels, step 3 two panels (queries and keys, values), other
    // steps one panel.
    const Index expected = step == kFlowSteps ? 0 : step == 3 ? 10 : 11;
    EXPECT_EQ(veils, expected) << step;
  }
  EXPECT_NE(step_texts[4].find("5  Softmax"), std::string::npos);
  EXPECT_NE(step_texts.back().find("Space"), std::string::npos);
  // By default, the view shows the last step.
  EXPECT_EQ(all_text(lay_out_view(trace, "flow", wide_look({})).list), step_texts.back());
}

// Every panel opens a view with content.
TEST(FlowView, PanelsOpenOtherViews) {
  const Trace trace = testing::run_model({});
  const ViewLayout layout = lay_out_view(trace, "flow", wide_look({}));
  std::vector<std::string> opened;
  bool pins_query = false, selects_head = false, selects_layer = false;
  for (const Handle& handle : layout.handles) {
    ASSERT_TRUE(handle.click);
    Session session = flow_session();
    handle.click(session);
    if (session.view.id != "flow") {
      opened.push_back(session.view.id);
      EXPECT_EQ(view(session.view.id).objection(trace), "");
    }
    pins_query |= session.view.id == "flow" && session.view.pinned_query == 2;
    selects_head |= session.view.head == 1;
    selects_layer |= session.view.layer == 1;
  }
  EXPECT_GE(opened.size(), 12u);
  for (const char* id : {"lines", "vectors", "scores", "map", "grid", "next", "architecture"}) {
    EXPECT_NE(std::ranges::find(opened, id), opened.end()) << id;
  }
  EXPECT_TRUE(pins_query && selects_head && selects_layer);
}

TEST(FlowView, PointerReportsKey) {
  const Trace trace = testing::run_model({});
  const LayoutOptions look = wide_look({});
  const ViewLayout layout = lay_out_view(trace, "flow", look);
  const AttentionTap& tap = trace.attention[0];
  const FlowSum sum = flow_sum(trace, tap, 0, 11, 1);
  bool found = false;
  for (double y = 0; y < look.height; y += 3) {
    const auto hit = layout.hit({500, y});
    found |= hit && hit->query == 11 && hit->key == sum.keys.front().column;
  }
  EXPECT_TRUE(found);
}

TEST(FlowView, PointerReportsComponent) {
  const Trace trace = testing::run_model({});
  LayoutOptions look = wide_look({});
  bool found = false;
  for (double y = 100; y < 500 && !found; y += 9) {
    look.pointer = Point{900, y};
    found = shows_text(lay_out_view(trace, "flow", look).list, "component");
  }
  EXPECT_TRUE(found);
}

TEST(FlowView, ExplainsVariantsWithoutScores) {
  const auto unwrapped = [](const Trace& trace, const ViewSettings& settings) {
    std::string text = all_text(lay_out_view(trace, "flow", wide_look(settings)).list);
    std::ranges::replace(text, '\n', ' ');
    return text;
  };
  const auto text_of = [&](const char* variant) {
    const Choice choice{variant, default_values(attnscope::variant(variant).parameters)};
    const Trace trace = testing::run_model({.variant = to_json(choice).dump(), .encoding = "none"});
    return unwrapped(trace, {});
  };
  EXPECT_NE(text_of("linear").find("Linear computes no pair scores"), std::string::npos);
  EXPECT_NE(text_of("linear").find("φ(q)·φ(k)"), std::string::npos);
  EXPECT_NE(text_of("dynamic_convolution").find("given by the token"), std::string::npos);
  EXPECT_EQ(text_of("full").find("no query"), std::string::npos);
  ViewSettings step;
  set_view_value(step, "flow", "step", Index{6});
  const Trace gated = testing::run_model({.variant = "gmlp", .encoding = "none"});
  EXPECT_NE(unwrapped(gated, step).find("processes the sum further"), std::string::npos);
  set_view_value(step, "flow", "step", Index{4});
  EXPECT_NE(unwrapped(gated, step).find("no query-key products"), std::string::npos);
}

// The sentence of a step is not cut off.
TEST(FlowView, SentencesFit) {
  for (const char* model : {"decoder-rope", "decoder-post-norm-biases", "universal-fixed",
                            "join-gru", "exits-geometric", "memory-memorizing"}) {
    const auto trace = testing::run_case(model, kIds);
    for (Index step = 1; step <= kFlowSteps; ++step) {
      LayoutOptions look = wide_look({});
      look.width = 660;
      look.height = 620;
      set_view_value(look.settings, "flow", "step", step);
      const std::vector<Text> texts = testing::texts(lay_out_view(*trace, "flow", look).list);
      const double size = std::ranges::max(texts, {}, &Text::size).size;
      for (const Text& text : texts) {
        if (text.size < size) continue;
        EXPECT_FALSE(text.text.ends_with("…")) << model << " " << step << ": " << text.text;
        EXPECT_FALSE(text.text.starts_with("%")) << text.text;
      }
    }
  }
}

// A narrow page, as next to the text of a lesson, shows the panel of the current step.
TEST(FlowView, NarrowPageShowsPanelOfCurrentStep) {
  const Trace trace = testing::run_model({.length = 12, .heads = 4, .kv_heads = 4});
  const auto text_of = [&](Index step) {
    LayoutOptions look;
    look.framed = false;
    look.width = 440;
    look.height = 900;
    look.settings.id = "flow";
    set_view_value(look.settings, "flow", "step", step);
    const ViewLayout layout = lay_out_view(trace, "flow", look);
    EXPECT_EQ(testing::layout_error(layout.list), "") << step;
    return all_text(layout.list);
  };
  EXPECT_NE(text_of(3).find("Query and keys"), std::string::npos);
  EXPECT_NE(text_of(4).find("q·k"), std::string::npos);
  EXPECT_NE(text_of(6).find("weight × value"), std::string::npos);
  EXPECT_NE(text_of(7).find("head 3"), std::string::npos);
  EXPECT_NE(text_of(8).find("+ attention"), std::string::npos);
  EXPECT_NE(text_of(9).find("+ feed-forward"), std::string::npos);
  EXPECT_EQ(text_of(kFlowSteps).find("+ feed-forward"), std::string::npos);
}

TEST(FlowView, ExplainsMissingValues) {
  const Trace weights = testing::synthetic_trace(1, 2, 7);
  EXPECT_EQ(view("flow").objection(weights), "No values recorded.");
  EXPECT_NE(lay_out_view(weights, "flow").refusal, "");
  Trace imported = testing::run_model({});
  imported.is_imported = true;
  EXPECT_EQ(view("flow").objection(imported), "No values in this file.");
  const testing::ViewInputFixture fixture(weights, {});
  EXPECT_THROW(view("flow").data(fixture.input), InputError);
}

TEST(FlowView, ExportedTablesAddUp) {
  const Trace trace = testing::run_model({});
  ViewSettings settings;
  settings.layer = 1;
  const testing::ViewInputFixture fixture(trace, settings);
  const ViewData data = view("flow").data(fixture.input);
  const auto table = [&](const std::string& name) -> const ViewData::Matrix& {
    return *std::ranges::find(data.matrices, name, &ViewData::Matrix::name);
  };
  for (const char* name : {"weighted values", "heads", "residual"}) {
    const ViewData::Matrix& m = table(name);
    const Index last = m.values.dim(0) - 1;
    const bool has_output_row = std::string(name) == "weighted values";  // in the last row
    Tensor sum = Tensor::zeros({m.values.dim(1)});
    for (Index r = 0; r < last - (has_output_row ? 1 : 0); ++r) {
      for (Index n = 0; n < sum.size(); ++n) sum[n] += m.values(r, n);
    }
    EXPECT_TRUE(close(sum, row(m.values, last))) << name;
  }
  EXPECT_EQ(table("weights").values.dim(0), 6);
  EXPECT_EQ(table("query and keys").values.dim(0), 7);
  EXPECT_EQ(table("layers").values.dim(0), 3);
}

TEST(FlowView, ShownRowsIncludeSelectedRow) {
  using Rows = std::vector<Index>;
  EXPECT_EQ(flow_rows(4, 1, 6), Rows({0, 1, 2, 3}));
  for (const Index count : {7, 12, 100}) {
    for (Index selected = -1; selected < count; ++selected) {
      for (Index max_rows = 3; max_rows < 9; ++max_rows) {
        const Rows rows = flow_rows(count, selected, max_rows);
        EXPECT_LE(static_cast<Index>(rows.size()), max_rows);
        if (selected >= 0) {
          EXPECT_NE(std::ranges::find(rows, selected), rows.end());
        }
        EXPECT_EQ(rows.back(), count - 1);  // the state that the prediction reads
        for (std::size_t n = 1; n < rows.size(); ++n) {
          EXPECT_TRUE(rows[n] < 0 || rows[n - 1] < 0 || rows[n] == rows[n - 1] + 1);
        }
      }
    }
  }
}

TEST(FlowView, IsLegibleForEveryKindOfModel) {
  for (const char* model :
       {"decoder-masked", "encoder_decoder-sinusoidal", "rnn_attention-dot", "universal-act",
        "memory-compressive-mean", "exits-geometric", "join-gru", "image"}) {
    Session session = flow_session();
    session.run.model = testing::model_case(model);
    session.run.ids = std::string(model) == "image" ? testing::completion_session().run.ids : kIds;
    const bool has_target =
        model == std::string("rnn_attention-dot") || std::string(model).starts_with("encoder");
    if (has_target) session.run.target_ids = {3, 5, 6};
    const testing::ViewedRun viewed(session);
    testing::expect_legible(viewed, model);
  }
}

// Names of heads, tokens and numbers are drawn in full in the window's usual size.
TEST(FlowView, NamesOfManyHeadsFit) {
  const Trace trace = testing::run_model({.length = 12, .heads = 12, .kv_heads = 12});
  LayoutOptions look;
  look.framed = false;
  look.width = 611;
  look.height = 590;
  look.settings.id = "flow";
  look.settings.head = 11;
  const ViewLayout layout = lay_out_view(trace, "flow", look);
  EXPECT_EQ(testing::layout_error(layout.list), "");
  bool has_selected = false;
  for (const Text& text : testing::texts(layout.list)) {
    has_selected = has_selected || text.text == "head 11";
    for (const char* cut : {"head …", "head 1…", "embeddi…", "sum: head …"}) {
      EXPECT_FALSE(text.text.starts_with(cut)) << text.text;
    }
    const bool is_cut_number = text.text.ends_with("…") && !text.text.ends_with("  …") &&
                               text.text.find_first_not_of("-0123456789. %…") == text.text.npos &&
                               text.text != "…";
    EXPECT_FALSE(is_cut_number) << text.text;
  }
  EXPECT_TRUE(has_selected);
}

// In windows of 1280 x 800, 1600 x 1000 and 1920 x 1080.
TEST(FlowView, LargerPagesDoNotShowFewerRows) {
  const Trace trace = testing::run_model({.length = 24, .layers = 30, .heads = 9, .kv_heads = 3});
  LayoutOptions look;
  look.framed = false;
  look.settings.id = "flow";
  look.settings.layer = 2;
  std::ptrdiff_t former_rows = 0;
  for (const auto& [width, height] : {std::pair{640.0, 605.0}, {960.0, 800.0}, {1280.0, 880.0}}) {
    look.width = width;
    look.height = height;
    const std::vector<Text> drawn = testing::texts(lay_out_view(trace, "flow", look).list);
    const auto rows = std::ranges::count_if(drawn, [](const Text& text) {
      return text.text.starts_with("layer ") || text.text.starts_with("head ");
    });
    EXPECT_GE(rows, former_rows) << width;
    former_rows = rows;
  }
}

TEST(FlowView, NarrowPicturesShortenTheTitleOfTheKeys) {
  Trace trace = testing::run_model({.length = 12});
  trace.tokens.back().label = "[SEP]";
  LayoutOptions look;
  look.width = 360;
  look.height = 640;
  look.settings.id = "flow";
  const std::vector<Text> drawn = testing::texts(lay_out_view(trace, "flow", look).list);
  EXPECT_TRUE(std::ranges::any_of(drawn, [](const Text& text) { return text.text == "“[SEP]”"; }));
  for (const Text& text : drawn) {
    EXPECT_FALSE(text.text.starts_with("“[SEP]” a") && text.text.ends_with("…")) << text.text;
  }
}

// Texts name the colours of the theme.
TEST(FlowView, NamesColoursOfTheme) {
  EXPECT_EQ(positive_colour_name(Theme::light()), "red");
  EXPECT_EQ(positive_colour_name(Theme::dark()), "orange");
}

// Large text, as in presentations, has fewer panels instead of smaller fonts.
TEST(FlowView, LargeTextShowsFewerPanels) {
  const Trace trace = testing::run_model({.length = 12, .heads = 4, .kv_heads = 4});
  const auto smallest = [&](const std::string& size) {
    LayoutOptions look;
    look.width = 870;
    look.height = 470;
    look.font_size = 12;
    look.settings.id = "flow";
    set_view_value(look.settings, "flow", "text", size);
    const std::vector<Text> texts = testing::texts(lay_out_view(trace, "flow", look).list);
    return std::ranges::min(texts, {}, &Text::size).size;
  };
  EXPECT_LT(smallest("small"), 8);
  EXPECT_GE(smallest("large"), 0.82 * 0.9 * 12 - 1e-9);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
