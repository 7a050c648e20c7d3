#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/attention/variant.h"
#include "core/base/error.h"
#include "core/view/flow/flow_drawing.h"
#include "core/view/flow/flow_numbers.h"
#include "core/view/flow/flow_words.h"
#include "core/view/parts/describe.h"
#include "tests/core/view/pictured.h"
#include "tests/support/case_run.h"
#include "tests/support/model_trace.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::all_text;
using testing::close;
using testing::kIds;
using testing::Look;
using testing::look_at;
using testing::says;

Experiment looking_by_flow() {
  Experiment e;
  e.view.id = "flow";
  return e;
}

FlowNumbers numbers_of(const Trace& trace, const Experiment& e, Index keys = 4) {
  const Found found = find_tap(trace, e.view);
  if (found.tap == nullptr) throw InputError(found.headline);
  return flow_numbers(trace, {}, e, *found.tap, found.head, keys);
}

Tensor row(const Tensor& rows, Index n) {
  return rows.slice(n, 1).reshaped({rows.dim(1)});
}

// Σ_j a_ij v_j in double precision, from the weights and the values as they were recorded.
Tensor naive_sum(const AttentionTap& tap, Index head, Index query) {
  const Tensor& v = tap.result.part ? tap.result.part->v.value() : tap.v_plain;
  const Tensor weights = tap.attention(head);
  const Index own = head * v.dim(0) / static_cast<Index>(tap.heads.size());
  Tensor sum({v.dim(2)});
  for (Index n = 0; n < v.dim(2); ++n) {
    double value = 0;
    for (Index j = 0; j < weights.dim(1); ++j) {
      value += static_cast<double>(weights(query, j)) * static_cast<double>(v(own, j, n));
    }
    sum[n] = static_cast<float>(value);
  }
  return sum;
}

// What is drawn adds up: the weighted values of the keys in sight and of the others.
void expect_sum(const FlowSum& sum, const std::string& what) {
  ASSERT_TRUE(sum.adds_values) << what;
  Tensor all = Tensor::zeros(sum.output.shape());
  for (std::size_t k = 0; k < sum.keys.size(); ++k) {
    for (Index n = 0; n < all.size(); ++n) {
      const float expected =
          static_cast<float>(sum.keys[k].weight) * sum.values(static_cast<Index>(k), n);
      EXPECT_TRUE(std::abs(sum.weighted(static_cast<Index>(k), n) - expected) <= 1e-5F) << what;
      all[n] += expected;
    }
  }
  for (Index n = 0; n < all.size(); ++n) {
    all[n] += sum.others_sum[n] + (sum.places.defined() ? sum.places[n] : 0.0F);
  }
  EXPECT_TRUE(close(all, sum.sum)) << what;
  if (sum.is_output) {
    EXPECT_TRUE(close(all, sum.output)) << what;
  }
}

TEST(FlowView, TheSumIsTheHeadsOutputWhateverTheVariant) {
  std::size_t sums = 0;
  for (const Variant& v : variants()) {
    for (const bool causal : {true, false}) {
      Trace trace;
      try {
        const Choice choice{v.id, default_values(v.parameters)};
        trace = testing::run_model(
            {.variant = to_json(choice).dump(), .encoding = "none", .causal = causal});
      } catch (const InputError&) {
        continue;  // sorts blocks, or needs what this model has not
      }
      Experiment e = looking_by_flow();
      e.view.layer = e.view.head = 1;
      for (const Index query : {Index{0}, Index{5}, Index{11}}) {
        e.view.pinned_query = query;
        const FlowNumbers flow = numbers_of(trace, e, 3);
        const std::string what = v.id + (causal ? ", causal" : "");
        EXPECT_EQ(flow.query, query);
        expect_sum(flow.sum, what);
        EXPECT_EQ(flow.sum.is_output, v.id != "gmlp") << what;
        if (flow.sum.is_output) ++sums;
      }
    }
  }
  EXPECT_GE(sums, 3 * variants().size());
}

// Against the equation itself, with values that two heads share, and with a part of its own for
// the distances (Shaw et al., 2018, equation 3).
TEST(FlowView, TheSumIsThatOfTheEquation) {
  for (const char* encoding : {"rope", "alibi", "sinusoidal"}) {
    const Trace trace = testing::run_model({.encoding = encoding, .heads = 4, .kv_heads = 2});
    for (Index head = 0; head < 4; ++head) {
      const AttentionTap& tap = trace.attention[1];
      const FlowSum sum = flow_sum(trace, tap, head, 9, 64);
      EXPECT_EQ(sum.others, 0);
      EXPECT_TRUE(close(sum.output, naive_sum(tap, head, 9)));
      EXPECT_TRUE(close(sum.sum, naive_sum(tap, head, 9)));
      EXPECT_TRUE(sum.is_output);
    }
  }
  const Trace shaw = testing::run_model({.encoding = R"({"type": "shaw", "clip": 4})"});
  const FlowSum sum = flow_sum(shaw, shaw.attention[1], 1, 9, 3);
  ASSERT_TRUE(sum.places.defined());
  EXPECT_EQ(sum.others, 7);
  EXPECT_TRUE(sum.is_output);
  expect_sum(sum, "shaw");
}

// The strongest first, whatever their order; their scores are those of which the softmax is taken.
TEST(FlowView, KeysAreTheStrongestAndScoresGiveTheirWeights) {
  const Trace trace = testing::run_model({});
  const AttentionTap& tap = trace.attention[1];
  const FlowSum sum = flow_sum(trace, tap, 0, 11, 12);
  ASSERT_EQ(sum.keys.size(), 12u);
  double all = 0, of_scores = 0;
  for (const FlowKey& key : sum.keys) of_scores += std::exp(key.score.value());
  for (std::size_t n = 0; n < sum.keys.size(); ++n) {
    if (n > 0) {
      EXPECT_LE(sum.keys[n].weight, sum.keys[n - 1].weight);
    }
    EXPECT_NEAR(sum.keys[n].weight, std::exp(*sum.keys[n].score) / of_scores, 1e-5);
    all += sum.keys[n].weight;
  }
  EXPECT_NEAR(all, 1, 1e-5);
  const FlowSum few = flow_sum(trace, tap, 0, 11, 3);
  EXPECT_EQ(few.others, 9);
  EXPECT_NEAR(few.others_weight, 1 - few.keys[0].weight - few.keys[1].weight - few.keys[2].weight,
              1e-5);
  // A pinned one is among them, in the last one's place.
  const Index weakest = sum.keys.back().column;
  const FlowSum pinned = flow_sum(trace, tap, 0, 11, 3, weakest);
  EXPECT_EQ(pinned.keys.back().column, weakest);
  expect_sum(pinned, "pinned");
}

TEST(FlowView, AdditiveScoresGiveTheirWeights) {
  const auto trace = testing::run_case("rnn_attention-additive", kIds, {3, 5, 6});
  const FlowSum sum = flow_sum(*trace, trace->attention[0], 0, 1, 11);
  double of_scores = 0;
  for (const FlowKey& key : sum.keys) of_scores += std::exp(key.score.value());
  for (const FlowKey& key : sum.keys) {
    EXPECT_NEAR(key.weight, std::exp(*key.score) / of_scores, 1e-5);
  }
}

// Each head's share and the bias are what attention was recorded to add.
TEST(FlowView, HeadsAddUpToWhatAttentionAdds) {
  for (const char* model : {"decoder-rope", "decoder-groups-joined", "decoder-groups-ragged",
                            "decoder-post-norm-biases", "memory-memorizing"}) {
    const auto trace = testing::run_case(model, kIds);
    Experiment e = looking_by_flow();
    const FlowNumbers flow = numbers_of(*trace, e);
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

TEST(FlowView, AHeadThatIsOffAddsNothing) {
  Experiment e = looking_by_flow();
  e.model = testing::model_case("decoder-rope");
  e.ids = kIds;
  e.interventions = {intervention_from_text("off layer=0 head=1")};
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(e, Stop());
  const FlowNumbers flow = numbers_of(*trace, e);
  EXPECT_TRUE(flow.heads.off[1]);
  EXPECT_TRUE(close(row(flow.heads.adds, 1), Tensor::zeros({flow.heads.adds.dim(1)})));
  EXPECT_TRUE(close(flow.heads.joined, row(trace->taps.at("layers.0.attention"), flow.token)));
}

TEST(FlowView, ALayerThatIsOffIsPassed) {
  Experiment e = looking_by_flow();
  e.model = testing::model_case("decoder-rope");
  e.ids = kIds;
  e.interventions = {intervention_from_text("off layer=0")};
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(e, Stop());
  const FlowNumbers flow = numbers_of(*trace, e);
  ASSERT_TRUE(flow.layer);
  EXPECT_EQ(flow.layer->join, FlowLayer::Join::Off);
  EXPECT_TRUE(flow.layer->terms.empty());
  EXPECT_TRUE(close(flow.layer->after, flow.layer->before.values));
}

// A halted token's vector stays, whatever the record has of later steps.
TEST(FlowView, AHaltedTokenStaysAsItIs) {
  const auto trace = testing::run_case("universal-act", kIds);
  const IntTensor& steps = trace->counts.at("halting.steps");
  Experiment e = looking_by_flow();
  bool halted = false;
  for (Index i = 0; i < steps.size(); ++i) {
    e.view.pinned_query = i;
    const FlowNumbers flow = numbers_of(*trace, e);
    for (std::size_t n = 1; n < flow.states.size(); ++n) {
      const bool over = flow.states[n].at->part.step > steps[i];
      EXPECT_EQ(flow.states[n].copied, over);
      if (over) {
        EXPECT_TRUE(close(flow.states[n].values, flow.states[n - 1].values));
      }
      halted |= over;
    }
  }
  EXPECT_TRUE(halted);
}

struct Passed {
  const char* model;
  FlowLayer::Join join;
  std::vector<std::string> terms;
  PartChoice part{};
  bool writes = false;
};

// What entered, what was added, and what came out.
TEST(FlowView, TheResidualAddsUp) {
  using Join = FlowLayer::Join;
  const std::vector<std::string> usual{"attention", "feed-forward"};
  const std::vector<std::string> crossing{"self-attention", "cross-attention", "feed-forward"};
  for (const Passed& passed : std::vector<Passed>{
           {"decoder-rope", Join::Sum, usual},
           {"memory-segment", Join::Sum, usual, {.segment = 2}},
           {"universal-fixed", Join::Sum, {"attention", "feed-forward", "positions"}, {.step = 2}},
           {"join-reversible", Join::Sum, {"attention", "feed-forward", "the other stream"}},
           {"join-gru", Join::Gated, usual},
           {"decoder-post-norm-biases", Join::Normed, usual},
           {"encoder_decoder-sinusoidal", Join::Sum, crossing, {}, true},
           {"encoder_decoder-sinusoidal",
            Join::Sum,
            crossing,
            {.kind = AttentionKind::Cross},
            true},
           {"encoder_decoder-sinusoidal", Join::Sum, usual, {.stack = Stack::Encoder}, true}}) {
    const auto trace = testing::run_case(
        passed.model, kIds,
        passed.writes ? std::vector<std::int32_t>{3, 5, 6} : std::vector<std::int32_t>{});
    Experiment e = looking_by_flow();
    e.view.part = passed.part;
    const FlowNumbers flow = numbers_of(*trace, e);
    ASSERT_TRUE(flow.layer) << passed.model;
    EXPECT_EQ(flow.layer->join, passed.join) << passed.model;
    std::vector<std::string> names;
    Tensor sum = flow.layer->before.values.copy();
    for (const FlowTerm& term : flow.layer->terms) {
      names.push_back(term.name);
      for (Index n = 0; n < sum.size(); ++n) sum[n] += term.values[n];
    }
    EXPECT_EQ(names, passed.terms) << passed.model;
    if (passed.join == Join::Sum) {
      EXPECT_TRUE(close(sum, flow.layer->after)) << passed.model;
    }
    const bool cross = passed.part.kind == std::optional(AttentionKind::Cross);
    ASSERT_TRUE(flow.heads.joined.defined());
    const auto said = std::ranges::find(
        flow.layer->terms, cross ? "cross-attention" : passed.terms.front(), &FlowTerm::name);
    EXPECT_TRUE(close(flow.heads.joined, said->values)) << passed.model;
  }
}

TEST(FlowView, StatesGoFromTheEmbeddingToTheLastLayer) {
  const auto trace = testing::run_case("decoder-rope", kIds);
  Experiment e = looking_by_flow();
  e.view.pinned_query = 4;
  const FlowNumbers flow = numbers_of(*trace, e);
  const Index layers = trace->config->layers;
  ASSERT_EQ(static_cast<Index>(flow.states.size()), layers + 1);
  EXPECT_TRUE(close(flow.states.front().values, row(trace->taps.at("embed"), 4)));
  const std::string last = "layers." + std::to_string(layers - 1) + ".residual";
  EXPECT_TRUE(close(flow.states.back().values, row(trace->taps.at(last), 4)));
  // The chances are the softmax of the logits.
  double all = 0, most = 0;
  for (Index n = 0; n < trace->logits.dim(1); ++n) {
    const double power = std::exp(static_cast<double>(trace->logits(4, n)));
    all += power;
    most = std::max(most, power);
  }
  ASSERT_FALSE(flow.chances.empty());
  EXPECT_NEAR(flow.chances.front().chance, most / all, 1e-5);
}

TEST(FlowView, ATokenThatHasLeftIsCopied) {
  Experiment e = looking_by_flow();
  e.model = testing::model_case("exits-saturation-decay");
  e.ids = kIds;
  e.exit = 0.0;  // after the first layer
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(e, Stop());
  ASSERT_EQ(trace->counts.at("exit.layer")[10], 1);
  e.view.layer = 1;
  const FlowNumbers flow = numbers_of(*trace, e);
  ASSERT_TRUE(flow.layer);
  EXPECT_EQ(flow.layer->join, FlowLayer::Join::Copied);
  EXPECT_TRUE(close(flow.layer->after, flow.layer->before.values));
  EXPECT_TRUE(flow.states[2].copied);
  EXPECT_FALSE(flow.states[1].copied);
  Look look;
  look.settings = e.view;
  look.width = 1000;
  EXPECT_TRUE(says(look_at(*trace, "flow", look).list, "copied"));
}

TEST(FlowView, AWalkSaysActionsAtItsStates) {
  const testing::TemporaryFolder folder;
  testing::save_walker(folder.path() / "walker");
  Experiment e = testing::walking(folder.path() / "walker");
  e.view.id = "flow";
  ExperimentRun runner(cpu_only());
  const auto trace = runner.run(e, Stop());
  e.view.pinned_query = 1;  // the first state
  const FlowNumbers flow = numbers_of(*trace, e);
  ASSERT_EQ(flow.chances.size(), 4u);
  double all = 0;
  for (const FlowChance& chance : flow.chances) all += chance.chance;
  EXPECT_NEAR(all, 1, 1e-6);
  e.view.pinned_query = 0;
  EXPECT_TRUE(numbers_of(*trace, e).chances.empty());
}

Look wide(const ViewSettings& settings) {
  Look look;
  look.width = 1000;
  look.framed = false;
  look.settings = settings;
  look.settings.id = "flow";
  return look;
}

// Each stage in words; what is not looked at is veiled.
TEST(FlowView, StepsTellOneStageAfterTheOther) {
  const Trace trace = testing::run_model({});
  std::vector<std::string> told;
  for (Index step = 1; step <= kFlowSteps; ++step) {
    ViewSettings settings;
    set_view_value(settings, "flow", "step", step);
    const ViewLayout layout = look_at(trace, "flow", wide(settings));
    const std::string all = all_text(layout.list);
    for (const std::string& other : told) EXPECT_NE(all, other);
    told.push_back(all);
    const auto veils = std::ranges::count_if(layout.list.items, [&](const Item& item) {
      const FilledBox* box = std::get_if<FilledBox>(&item);
      return box != nullptr && box->colour.a > 100 && box->colour.a < 250;
    });
    // Of twelve panels queries and keys share their stage with values.
    const Index expected = step == kFlowSteps ? 0 : step == 3 ? 10 : 11;
    EXPECT_EQ(veils, expected) << step;
  }
  EXPECT_NE(told[4].find("5  Softmax"), std::string::npos);
  EXPECT_NE(told.back().find("Space"), std::string::npos);
  // It opens on the whole.
  EXPECT_EQ(all_text(look_at(trace, "flow", wide({})).list), told.back());
}

// Every panel leads to a view that has something to say.
TEST(FlowView, PanelsAreWaysIntoOtherViews) {
  const Trace trace = testing::run_model({});
  const ViewLayout layout = look_at(trace, "flow", wide({}));
  std::vector<std::string> opened;
  bool pins = false, chooses = false, goes = false;
  for (const Handle& handle : layout.handles) {
    ASSERT_TRUE(handle.click);
    Experiment e = looking_by_flow();
    handle.click(e);
    if (e.view.id != "flow") {
      opened.push_back(e.view.id);
      EXPECT_EQ(view(e.view.id).objection ? view(e.view.id).objection(trace) : "", "");
    }
    pins |= e.view.id == "flow" && e.view.pinned_query == 2;
    chooses |= e.view.head == 1;
    goes |= e.view.layer == 1;
  }
  EXPECT_GE(opened.size(), 12u);
  for (const char* id : {"lines", "vectors", "scores", "map", "grid", "next", "architecture"}) {
    EXPECT_NE(std::ranges::find(opened, id), opened.end()) << id;
  }
  EXPECT_TRUE(pins && chooses && goes);
}

TEST(FlowView, KeysCanBePointedAt) {
  const Trace trace = testing::run_model({});
  const Look look = wide({});
  const ViewLayout layout = look_at(trace, "flow", look);
  const AttentionTap& tap = trace.attention[0];
  const FlowSum sum = flow_sum(trace, tap, 0, 11, 1);
  bool found = false;
  for (double y = 0; y < look.height; y += 3) {
    const auto hit = layout.hit({500, y});
    found |= hit && hit->query == 11 && hit->key == sum.keys.front().column;
  }
  EXPECT_TRUE(found);
}

TEST(FlowView, ComponentsUnderThePointerAreSaid) {
  const Trace trace = testing::run_model({});
  Look look = wide({});
  bool said = false;
  for (double y = 100; y < 500 && !said; y += 9) {
    look.pointer = Point{900, y};
    said = says(look_at(trace, "flow", look).list, "component");
  }
  EXPECT_TRUE(said);
}

TEST(FlowView, SaysWhatAVariantDoesInstead) {
  const auto text_of = [](const char* variant) {
    const Choice choice{variant, default_values(attnscope::variant(variant).parameters)};
    const Trace trace = testing::run_model({.variant = to_json(choice).dump(), .encoding = "none"});
    std::string text = all_text(look_at(trace, "flow", wide({})).list);
    std::ranges::replace(text, '\n', ' ');
    return text;
  };
  EXPECT_NE(text_of("linear").find("Linear forms no scores"), std::string::npos);
  EXPECT_NE(text_of("linear").find("φ(q)·φ(k)"), std::string::npos);
  EXPECT_NE(text_of("dynamic_convolution").find("said by the token"), std::string::npos);
  EXPECT_EQ(text_of("full").find("no query"), std::string::npos);
  ViewSettings step;
  set_view_value(step, "flow", "step", Index{6});
  const Trace gated = testing::run_model({.variant = "gmlp", .encoding = "none"});
  EXPECT_TRUE(says(look_at(gated, "flow", wide(step)).list, "does more with it"));
  set_view_value(step, "flow", "step", Index{4});
  EXPECT_TRUE(says(look_at(gated, "flow", wide(step)).list, "no query meets a key"));
}

// What is told of a step is told to the end.
TEST(FlowView, SentencesHaveRoom) {
  for (const char* model : {"decoder-rope", "decoder-post-norm-biases", "universal-fixed",
                            "join-gru", "exits-geometric", "memory-memorizing"}) {
    const auto trace = testing::run_case(model, kIds);
    for (Index step = 1; step <= kFlowSteps; ++step) {
      Look look = wide({});
      look.width = 660;
      look.height = 620;
      set_view_value(look.settings, "flow", "step", step);
      const std::vector<Text> texts = testing::texts(look_at(*trace, "flow", look).list);
      const double size = std::ranges::max(texts, {}, &Text::size).size;
      for (const Text& text : texts) {
        if (text.size < size) continue;
        EXPECT_FALSE(text.text.ends_with("…")) << model << " " << step << ": " << text.text;
        EXPECT_FALSE(text.text.starts_with("%")) << text.text;
      }
    }
  }
}

// On a narrow page, as beside the words of a lecture, what the step is about is there.
TEST(FlowView, ANarrowPageHasThePanelOfItsStep) {
  const Trace trace = testing::run_model({.length = 12, .heads = 4, .kv_heads = 4});
  const auto text_of = [&](Index step) {
    Look look;
    look.framed = false;
    look.width = 440;
    look.height = 900;
    look.settings.id = "flow";
    set_view_value(look.settings, "flow", "step", step);
    const ViewLayout layout = look_at(trace, "flow", look);
    EXPECT_EQ(testing::fault(layout.list), "") << step;
    return all_text(layout.list);
  };
  EXPECT_NE(text_of(3).find("query “"), std::string::npos);
  EXPECT_NE(text_of(4).find("q·k"), std::string::npos);
  EXPECT_NE(text_of(6).find("weight × value"), std::string::npos);
  EXPECT_NE(text_of(7).find("head 3"), std::string::npos);
  EXPECT_NE(text_of(8).find("+ attention"), std::string::npos);
  EXPECT_NE(text_of(9).find("+ feed-forward"), std::string::npos);
  EXPECT_EQ(text_of(kFlowSteps).find("+ feed-forward"), std::string::npos);  // and no more
}

TEST(FlowView, RefusesWhatHasNoValues) {
  const Trace weights = testing::synthetic_trace(1, 2, 7);
  EXPECT_EQ(view("flow").objection(weights), "No values were kept.");
  EXPECT_NE(look_at(weights, "flow").refusal, "");
  Trace given = testing::run_model({});
  given.given = true;
  EXPECT_EQ(view("flow").objection(given), "No values in this file.");
  const testing::InputOf of(weights, {});
  EXPECT_THROW(view("flow").data(of.input), InputError);
}

TEST(FlowView, DataAddUp) {
  const Trace trace = testing::run_model({});
  ViewSettings settings;
  settings.layer = 1;
  const testing::InputOf of(trace, settings);
  const ViewData data = view("flow").data(of.input);
  const auto table = [&](const std::string& name) -> const ViewData::Matrix& {
    return *std::ranges::find(data.matrices, name, &ViewData::Matrix::name);
  };
  for (const char* name : {"weighted values", "heads", "residual"}) {
    const ViewData::Matrix& m = table(name);
    const Index last = m.values.dim(0) - 1;
    const bool twice = std::string(name) == "weighted values";  // the sum, and what was recorded
    Tensor sum = Tensor::zeros({m.values.dim(1)});
    for (Index r = 0; r < last - (twice ? 1 : 0); ++r) {
      for (Index n = 0; n < sum.size(); ++n) sum[n] += m.values(r, n);
    }
    EXPECT_TRUE(close(sum, row(m.values, last))) << name;
  }
  EXPECT_EQ(table("weights").values.dim(0), 6);
  EXPECT_EQ(table("query and keys").values.dim(0), 7);
  EXPECT_EQ(table("layers").values.dim(0), 3);
}

TEST(FlowView, RowsThatAreShown) {
  using Rows = std::vector<Index>;
  EXPECT_EQ(flow_rows(4, 1, 6), Rows({0, 1, 2, 3}));
  for (const Index count : {7, 12, 100}) {
    for (Index chosen = -1; chosen < count; ++chosen) {
      for (Index most = 3; most < 9; ++most) {
        const Rows rows = flow_rows(count, chosen, most);
        EXPECT_LE(static_cast<Index>(rows.size()), most);
        if (chosen >= 0) {
          EXPECT_NE(std::ranges::find(rows, chosen), rows.end());
        }
      }
    }
  }
}

TEST(FlowView, IsLegibleForEveryKindOfModel) {
  for (const char* model :
       {"decoder-masked", "encoder_decoder-sinusoidal", "rnn_attention-dot", "universal-act",
        "memory-compressive-mean", "exits-geometric", "join-gru", "image"}) {
    Experiment e = looking_by_flow();
    e.model = testing::model_case(model);
    e.ids = std::string(model) == "image" ? testing::completing().ids : kIds;
    const bool writes =
        model == std::string("rnn_attention-dot") || std::string(model).starts_with("encoder");
    if (writes) e.target_ids = {3, 5, 6};
    const testing::Looked looked(e);
    testing::expect_legible(looked, model);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
