// Model figures: names of parts, legibility, clickable boxes.
#include "core/model/architecture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/json.h"
#include "core/model/exits.h"
#include "core/model/input_kind.h"
#include "core/model/model.h"
#include "core/model/output_softmax.h"
#include "core/model/residual_connection.h"
#include "core/model/structure.h"
#include "core/model/weights.h"
#include "core/view/architecture/diagram_drawing.h"
#include "tests/support/small_config.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Trace without a run, with only the config and the tokens that a figure needs.
Trace trace_of(const std::function<void(ModelConfig&)>& change, Index layers = 3) {
  ModelConfig config = testing::small_config({.layers = layers, .heads = 4});
  change(config);
  Trace trace;
  trace.model = "small";
  trace.config = std::make_shared<const ModelConfig>(config);
  const Architecture& a = architecture(config.architecture.id);
  if (a.parts) trace.parts = a.parts(config);
  trace.tokens = testing::synthetic_tokens(6);
  if (a.has_encoder || !a.has_self_attention) {
    trace.streams.push_back({kSourceStream, testing::synthetic_tokens(4)});
  }
  return trace;
}

ModelConfig with_architecture(ModelConfig config, const char* json) {
  Structure structure;
  structure.architecture = choice_from_json(architecture, Json::parse(json), "architecture");
  return apply_structure(config, structure);
}

ViewLayout figure(const Trace& trace, const ViewSettings& settings = {}, double width = 900) {
  testing::LayoutOptions look;
  look.settings = settings;
  look.width = width;
  look.height = 900;
  return testing::lay_out_view(trace, "architecture", look);
}

bool has_text(const ViewLayout& layout, const std::string& fragment) {
  const std::vector<Text> all = testing::texts(layout.list);
  return std::ranges::any_of(
      all, [&](const Text& t) { return t.text.find(fragment) != std::string::npos; });
}

bool has_view(const std::string& id) {
  return std::ranges::find(views(), id, &View::id) != views().end();
}

void expect_figure(const Trace& trace, const std::vector<std::string>& names) {
  for (const double width : {700.0, 1000.0}) {
    const ViewLayout layout = figure(trace, {}, width);
    ASSERT_EQ(layout.refusal, "");
    EXPECT_EQ(testing::layout_error(layout.list), "");
    for (const std::string& name : names) EXPECT_TRUE(has_text(layout, name)) << name;
    for (const Handle& handle : layout.handles) EXPECT_NE(handle.help, "");
  }
}

// Expects boxes that neither overlap nor leave the page, and legible notes.
void expect_separate_boxes(const Trace& trace, const Box& inside) {
  const testing::ViewInputFixture fixture(trace, ViewSettings());
  Page page(fixture.input);
  const auto placed = place_diagram(page, inside, model_diagram(trace, fixture.session));
  ASSERT_TRUE(placed);
  const std::vector<PlacedPart> parts = placed_parts(placed->diagram, placed->placement);
  const double note = placed->placement.unit * placed->placement.measures.note;
  for (std::size_t a = 0; a < parts.size(); ++a) {
    const Box& box = parts[a].box;
    constexpr double kTolerance = 1e-9;
    EXPECT_TRUE(box.x >= -kTolerance && box.y >= -kTolerance &&
                box.right() <= inside.width + kTolerance &&
                box.bottom() <= inside.height + kTolerance)
        << parts[a].part->title;
    const bool is_text = parts[a].part->kind == DiagramPart::Kind::Words;
    EXPECT_TRUE(is_text || parts[a].part->notes.empty() || note >= 0.65 * page.em())
        << parts[a].part->title << ": " << note;
    for (std::size_t b = 0; b < a; ++b) {
      const Box& earlier = parts[b].box;
      const bool is_separate = box.right() <= earlier.x || earlier.right() <= box.x ||
                               box.bottom() <= earlier.y || earlier.bottom() <= box.y;
      EXPECT_TRUE(is_separate) << parts[a].part->title << " and " << parts[b].part->title;
    }
  }
}
void expect_separate_boxes(const Trace& trace) {
  for (const Box& inside : {Box{0, 0, 1400, 1600}, Box{0, 0, 640, 590}}) {
    expect_separate_boxes(trace, inside);
  }
}

// A window of 1280 x 800 has a view of 640 x 600. Smaller views show titles only.
TEST(ArchitectureView, EncoderDecoderShowsNotesInSmallWindow) {
  const Trace trace = trace_of([](ModelConfig& config) {
    config = with_architecture(config,
                               R"({"type": "encoder_decoder", "encoder_layers": 2, "start": 0})");
  });
  testing::LayoutOptions look;
  look.framed = false;
  look.width = 640;
  look.height = 600;
  const auto small = testing::lay_out_view(trace, "architecture", look);
  for (const char* words : {"4 heads of 8 · Full", "32 → 16 → 32", "256 → 32"}) {
    EXPECT_TRUE(has_text(small, words)) << words << testing::all_text(small.list);
  }
  look.height = 400;
  const auto lower = testing::lay_out_view(trace, "architecture", look);
  EXPECT_EQ(lower.refusal, "");
  EXPECT_TRUE(has_text(lower, "Cross-attention"));
  EXPECT_FALSE(has_text(lower, "32 → 16 → 32"));
}

TEST(ArchitectureView, NamesPartsOfDecoder) {
  const Trace trace = trace_of([](ModelConfig&) {});
  expect_figure(trace, {"Token embedding", "256 → 32", "Self-attention", "4 heads of 8", "Full",
                        "RoPE", "Feed-forward", "32 → 16 → 32", "RMS norm", "Linear",
                        "tied to the embedding", "× 3", "layers 0–2", "Next token"});
  expect_separate_boxes(trace);
}

TEST(ArchitectureView, GroupsDigitsOfSizes) {
  const ViewLayout layout = figure(trace_of([](ModelConfig& config) {
    config.width = 1024;
    config.hidden = 4096;
    config.vocabulary = 50000;
  }));
  EXPECT_TRUE(has_text(layout, "1,024 → 4,096 → 1,024"));
  EXPECT_TRUE(has_text(layout, "1,024 → 50,000"));
}

TEST(ArchitectureView, NamesPartsOfEveryArchitecture) {
  struct Case {
    const char* json;
    std::vector<std::string> names;
  };
  const std::vector<Case> cases = {
      {R"({"type": "encoder_decoder", "encoder_layers": 2, "start": 0})",
       {"Encoder", "Decoder", "Cross-attention", "keys from the encoder", "Source"}},
      {R"({"type": "universal", "steps": 6, "halting": "act"})",
       {"up to T = 6", "times", "Halting", "until Σh ≥ 1 − ε"}},
      {R"({"type": "universal", "steps": 2})", {"T = 2"}},
      {R"({"type": "rnn_attention", "score": "additive", "start": 0})",
       {"Recurrent cell", "Attention", "additive score", "Combine", "Encoder"}},
      {R"({"type": "rnn_attention", "score": "none", "start": 0})", {"Recurrent cell", "Linear"}},
      {R"({"type": "rnn_attention", "bidirectional": true, "start": 0})",
       {"Forward cell", "Backward cell", "Attention", "dot-product score"}},
      {R"({"type": "universal_encoder_decoder", "encoder_layers": 1, "steps": 6, "halting": "act",
           "transition": "separable_convolution", "start": 0})",
       {"Encoder", "Decoder", "Cross-attention", "up to T = 6", "Halting", "Separable"}},
      {R"({"type": "recurrent", "steps": 6, "halting": "act"})",
       {"Recurrent cell", "up to T = 6", "Halting", "Tokens"}},
      {R"({"type": "trajectory", "state_size": 2, "actions": 4, "most_steps": 8})",
       {"Return to go", "State", "Action", "+ time", "Actions", "Next action"}}};
  std::vector<std::string> tested{"decoder"};
  for (const Case& c : cases) {
    const Trace trace =
        trace_of([&](ModelConfig& config) { config = with_architecture(config, c.json); });
    SCOPED_TRACE(c.json);
    expect_figure(trace, c.names);
    expect_separate_boxes(trace);
    tested.push_back(trace.config->architecture.id);
  }
  for (const Architecture& a : architectures()) {
    EXPECT_NE(std::ranges::find(tested, a.id), tested.end()) << a.id;
  }
}

TEST(ArchitectureView, NamesResidualConnectionsAndExits) {
  for (const ResidualConnection& j : residual_connections()) {
    const Trace trace = trace_of([&](ModelConfig& config) {
      config.residual_connection = {j.id, default_values(j.parameters)};
      if (j.adapt) j.adapt(config);
    });
    SCOPED_TRACE(j.id);
    expect_figure(trace, {j.has_gate               ? j.label
                          : j.scale_symbol.empty() ? "Self-attention"
                                                   : j.scale_symbol});
    expect_separate_boxes(trace);
  }
  for (const ExitRule& e : exit_rules()) {
    const Trace trace = trace_of([&](ModelConfig& config) {
      config.exits = Choice{e.id, default_values(e.parameters)};
    });
    SCOPED_TRACE(e.id);
    expect_figure(trace, {"Early exit"});
    EXPECT_TRUE(has_text(figure(trace), e.label.substr(0, 8))) << e.label;
    expect_separate_boxes(trace);
  }
}

TEST(ArchitectureView, NamesIngredientsOfBlocksAndOutput) {
  const Trace shared = trace_of([](ModelConfig& config) { config.own_layers = 1; });
  expect_figure(shared, {"same weights"});
  expect_separate_boxes(shared);
  const Trace unnormed = trace_of([](ModelConfig& config) {
    config.norm = Norm::None;
    config.activation = Activation::Sigmoid;
  });
  expect_figure(unnormed, {"GLU"});
  EXPECT_FALSE(has_text(figure(unnormed), "norm"));
  const Trace mixture = trace_of(
      [](ModelConfig& config) { config.softmax = default_choice(output_softmax("mixture")); });
  expect_figure(mixture, {"Mixture of 4 softmaxes"});
  expect_separate_boxes(mixture);
  const Trace adaptive = trace_of([](ModelConfig& config) {
    config.tied_output = false;
    config.softmax = default_choice(output_softmax("adaptive"));
    config.softmax.values.set("cutoffs", std::vector<Index>{16});
    config.softmax.values.set("narrowing", Index{2});
  });
  expect_figure(adaptive, {"Adaptive softmax"});
  expect_separate_boxes(adaptive);
}

TEST(ArchitectureView, NamesMemoryInputAndNorms) {
  const auto layered = [](const char* variant_json) {
    return [=](ModelConfig& config) {
      config.segment = 8;
      config.groups = uniform_groups(
          config, variant_from_json(Json::parse(variant_json), "variant"), default_encoding());
    };
  };
  for (const Variant& v : variants()) {
    if (!v.memory.remember) continue;
    const Trace trace = trace_of([&](ModelConfig& config) {
      config.segment = 8;
      config.groups =
          uniform_groups(config, {v.id, default_values(v.parameters)}, default_encoding());
    });
    SCOPED_TRACE(v.id);
    expect_figure(trace, {"Memory", "segments of 8"});
    expect_separate_boxes(trace);
  }
  EXPECT_FALSE(has_text(figure(trace_of(layered(R"({"type": "full"})"))), "Memory"));
  const Trace image = trace_of([](ModelConfig& config) {
    config.input = choice_from_json(
        input_kind, Json::parse(R"({"type": "image", "width": 8, "height": 8, "levels": 4})"),
        "input");
    config.vocabulary = 5;
  });
  expect_figure(image, {"Pixels so far", "8 × 8 of 4 levels", "+ row and column", "Next pixel"});
  const Trace post_norm = trace_of([](ModelConfig& config) {
    config.pre_norm = false;
    config.norm = Norm::LayerNorm;
  });
  expect_figure(post_norm, {"Layer norm"});
  expect_separate_boxes(post_norm);
}

// Identical layers are drawn once; other layers are clickable, and head groups are side by side.
TEST(ArchitectureView, DrawsSelectedLayerInFull) {
  const Trace trace = trace_of(
      [](ModelConfig& config) {
        const Choice local =
            variant_from_json(Json::parse(R"({"type": "local", "window": 2})"), "variant");
        config.groups[2] = {{1, local, default_encoding()}, {3, default_variant(), {}}};
        config.groups[2][1].encoding = default_encoding();
      },
      5);
  ViewSettings settings;
  settings.layer = 4;
  const ViewLayout layout = figure(trace, settings);
  EXPECT_TRUE(has_text(layout, "layers 3–4"));
  EXPECT_TRUE(has_text(layout, "shown: 4"));
  EXPECT_TRUE(has_text(layout, "Layer 2"));
  EXPECT_TRUE(has_text(layout, "Layers 0–1"));
  settings.layer = 2;
  const ViewLayout groups = figure(trace, settings);
  EXPECT_EQ(testing::layout_error(groups.list), "");
  EXPECT_TRUE(has_text(groups, "Head 0"));
  EXPECT_TRUE(has_text(groups, "Heads 1–3"));
  EXPECT_TRUE(has_text(groups, "Local window"));
  Index clicked = -1;
  for (const Handle& handle : layout.handles) {
    if (handle.help.find("click to draw them") == std::string::npos) continue;
    Session session;
    session.view.id = "architecture";
    handle.click(session);
    EXPECT_EQ(session.view.id, "architecture");
    clicked = std::max(clicked, session.view.layer);
  }
  EXPECT_EQ(clicked, 2);
}

TEST(ArchitectureView, SeparatesLayersWithAndWithoutExperts) {
  const Trace trace = trace_of([](ModelConfig& config) {
    config.model_options.experts = {
        .count = 6, .chosen = 2, .shared_hidden = 20, .dense_layers = {0}, .dense_hidden = 48};
  });
  const ViewLayout dense = figure(trace);
  EXPECT_TRUE(has_text(dense, "32 → 48 → 32"));
  EXPECT_TRUE(has_text(dense, "Full, 6 experts"));
  ViewSettings settings;
  settings.layer = 1;
  const ViewLayout mixed = figure(trace, settings);
  EXPECT_EQ(testing::layout_error(mixed.list), "");
  EXPECT_TRUE(has_text(mixed, "× 2"));
  EXPECT_TRUE(has_text(mixed, "32 → 16 → 32"));
  EXPECT_TRUE(has_text(mixed, "6 experts, 2 per token"));
  EXPECT_TRUE(has_text(mixed, "shared expert 32 → 20 → 32"));
  EXPECT_TRUE(has_text(mixed, "Full, no experts"));
}

TEST(ArchitectureView, BoxesOpenTheirViews) {
  const Trace trace = trace_of([](ModelConfig& config) {
    config.residual_connection = {"gru", default_values(residual_connection("gru").parameters)};
    config.exits = Choice{"response", default_values(exit_rule("response").parameters)};
  });
  ViewSettings settings;
  settings.layer = 1;
  std::set<std::string> opened;
  for (const Handle& handle : figure(trace, settings).handles) {
    if (!handle.click) continue;
    Session session;
    handle.click(session);
    EXPECT_TRUE(has_view(session.view.id)) << session.view.id;
    opened.insert(session.view.id);
  }
  for (const char* id : {"map", "next", "depth"}) EXPECT_TRUE(opened.contains(id)) << id;
  EXPECT_EQ(opened.contains("gates"), has_view("gates"));
}

TEST(ArchitectureView, CountsParameters) {
  const Trace trace = trace_of([](ModelConfig&) {});
  const testing::ViewInputFixture fixture(trace, ViewSettings());
  const ViewData data = view("architecture").data(fixture.input);
  const Tensor& counts = data.matrices[0].values;
  const std::vector<std::string>& names = data.matrices[0].rows;
  double unrepeated = 0, layer = 0;
  for (std::size_t n = 0; n + 1 < names.size(); ++n) {
    const bool is_outside = names[n] == "Token embedding" || n + 2 == names.size();
    (is_outside ? unrepeated : layer) += static_cast<double>(counts[static_cast<Index>(n)]);
  }
  EXPECT_EQ(unrepeated + 3 * layer, static_cast<double>(parameter_count(*trace.config)));
  EXPECT_EQ(counts[counts.size() - 1], static_cast<float>(parameter_count(*trace.config)));
}

TEST(ArchitectureView, RequiresModel) {
  const Trace imported = testing::synthetic_trace(1, 1, 5);
  EXPECT_NE(view("architecture").objection(imported), "");
  EXPECT_NE(figure(imported).refusal, "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
