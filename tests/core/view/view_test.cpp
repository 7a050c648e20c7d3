// Properties of all views, at every size, in both themes.
#include "core/view/view.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/experiment/run.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;

// Trace of a run that has computed only its first layer.
Trace first_layer() {
  const auto watch = std::make_shared<ExperimentRun::LayerWatch>();
  watch->min_parameters = 0;
  watch->delay = watch->interval = 0;
  std::shared_ptr<const Trace> first;
  watch->on_layers = [&](std::shared_ptr<const Trace> trace, Index) {
    if (first == nullptr) first = std::move(trace);
  };
  ExperimentRun run(cpu_only());
  run.watch(watch);
  Session session;
  session.run.text = "The cat sat on the mat.";
  run.run(session.run);
  return *first;
}

std::vector<std::pair<std::string, Trace>> traces() {
  std::vector<std::pair<std::string, Trace>> list;
  for (const Index length : {1, 2, 13, 40, 200, 2000}) {
    list.emplace_back(std::to_string(length), testing::synthetic_trace(1, 2, length));
  }
  list.emplace_back("4 layers", testing::synthetic_trace(4, 3, 20));
  list.emplace_back("memory", testing::synthetic_trace(Pattern::causal(12, 20, 8)));
  list.emplace_back("wide", testing::synthetic_trace(Pattern::all(3, 300)));
  list.emplace_back("one query", testing::synthetic_trace(Pattern::all(1, 500)));
  list.emplace_back("tall", [] {
    Trace trace = testing::synthetic_trace(1, 1, 100);
    trace.attention[0] = testing::synthetic_tap(0, 1, Pattern::all(100, 2));
    return trace;
  }());
  list.emplace_back("global", testing::synthetic_trace(testing::window_and_global(60, 3, 2)));
  for (const Index length : {1, 24, 200}) {
    list.emplace_back("model of " + std::to_string(length),
                      testing::run_model({.length = length, .heads = 6, .kv_heads = 3}));
  }
  list.emplace_back("deberta", testing::run_model({.encoding = R"({"type": "deberta", "clip": 9})",
                                                   .causal = false}));
  list.emplace_back("learned", testing::run_model({.encoding = "learned"}));
  list.emplace_back(
      "spans", testing::run_model({.variant = R"({"type": "adaptive_span", "span": 9, "ramp": 2})",
                                   .encoding = "alibi"}));
  Trace verbose = testing::synthetic_trace(1, 1, 9);
  verbose.model = std::string(300, 'M');
  for (TraceToken& token : verbose.tokens) token.label = std::string(80, 'W');
  verbose.notes.assign(30, "A note that is repeated until the caption is far too long");
  list.emplace_back("wordy", verbose);
  // A variant with separate projections for global tokens, and an unfinished run.
  list.emplace_back("own projections",
                    testing::run_model({.variant = R"({"type": "longformer", "window": 2,
                                                       "global": [0, 5], "projections": "own"})",
                                        .causal = false}));
  list.emplace_back("first layer", first_layer());
  return list;
}

// The text next to the picture is short and unique to the view.
TEST(Views, ExplainThemselvesBriefly) {
  const Trace trace = testing::run_model({});
  std::set<std::string> texts;
  for (const View& v : views()) {
    ASSERT_TRUE(v.reading) << v.id;
    for (const Trace* run : std::initializer_list<const Trace*>{nullptr, &trace}) {
      ViewSettings settings;
      settings.id = v.id;
      const ViewReading reading = v.reading(settings, run);
      EXPECT_GT(reading.text.size(), 40u) << v.id;
      EXPECT_LT(reading.text.size(), 420u) << v.id;
      EXPECT_EQ(reading.text.back(), '.') << v.id;
      EXPECT_LE(reading.terms.size(), 4u) << v.id;
      for (const ViewTerm& term : reading.terms) {
        EXPECT_FALSE(term.name.empty()) << v.id;
        EXPECT_EQ(term.meaning.back(), '.') << v.id << ": " << term.name;
      }
      texts.insert(reading.text);
    }
  }
  EXPECT_EQ(texts.size(), views().size() + 1);  // the mechanism names its variant
}

// A view that objects to a run refuses to draw it. Only the view RoPE draws rotated vectors for any
// run.
TEST(Views, ObjectionsMatchPictures) {
  const auto objection = [](const char* id, const Trace& trace) {
    const View& viewed = view(id);
    return viewed.objection(trace);
  };
  Trace imported = testing::synthetic_trace(1, 2, 7);
  imported.is_imported = true;
  imported.logits = Tensor();
  const Trace model = testing::run_model({.length = 7});
  const Trace synthesizer = testing::run_model(
      {.variant = R"({"type": "synthesizer"})", .encoding = "learned", .length = 7});
  const Trace long_text = testing::run_model({.length = 220});
  Trace without_attention = testing::run_model({.length = 7});
  without_attention.attention.clear();
  for (const Trace* trace : std::initializer_list<const Trace*>{&imported, &model, &synthesizer,
                                                                &long_text, &without_attention}) {
    for (const View& v : views()) {
      if (v.objection(*trace).empty() || v.id == "rope") continue;
      EXPECT_TRUE(v.objection(*trace).ends_with(".")) << v.objection(*trace);
      EXPECT_NE(lay_out_view(*trace, v.id, LayoutOptions()).refusal, "") << v.id;
    }
  }
  for (const char* id : {"map", "scores", "vectors", "position", "rope", "mechanism", "graph",
                         "span", "depth", "next", "intervene", "architecture"}) {
    EXPECT_EQ(objection(id, model), "") << id;
  }
  for (const char* id : {"scores", "vectors", "span", "depth", "next", "intervene", "architecture",
                         "position", "image", "rope"}) {
    EXPECT_NE(objection(id, imported), "") << id;
  }
  for (const char* id : {"scores", "vectors", "rope"})
    EXPECT_NE(objection(id, synthesizer), "") << id;
  EXPECT_NE(objection("graph", long_text), "");
  EXPECT_NE(objection("map", without_attention), "");
  EXPECT_NE(objection("image", model), "");
  for (const View& v : views()) EXPECT_NE(v.group, "") << v.id;
}

TEST(Views, NothingOverlapsOrLeavesThePage) {
  const Trace other = testing::synthetic_trace(1, 2, 11);
  for (const auto& [name, trace] : traces()) {
    for (const View& view : views()) {
      for (const auto& [width, height, font] : {std::tuple{700.0, 720.0, 13.0},
                                                {1600.0, 900.0, 13.0},
                                                {320.0, 260.0, 13.0},
                                                {1280.0, 800.0, 26.0},
                                                {120.0, 90.0, 13.0},
                                                {300.0, 1000.0, 16.0}}) {
        for (const bool framed : {true, false}) {
          LayoutOptions look;
          look.width = width;
          look.height = height;
          look.font_size = font;
          look.framed = framed;
          look.tight = framed && width > 1000;
          look.reference = font == 13 ? &trace : &other;  // reference of equal or different size
          const ViewLayout layout = lay_out_view(trace, view.id, look);
          EXPECT_EQ(testing::layout_error(layout.list), "")
              << view.id << " of " << name << ", " << width << " x " << height << " font " << font
              << (framed ? " framed" : "");
          EXPECT_FALSE(layout.hit({-1, -1}).has_value());
        }
      }
    }
  }
}

TEST(Views, AreLegibleWithPointerAndZoom) {
  for (const auto& [name, trace] : traces()) {
    for (const View& view : views()) {
      LayoutOptions look;
      look.framed = false;
      look.pointer = Point{350, 360};
      look.reference = &trace;
      look.flipped = true;
      if (view.cells.zoom) {
        look.settings.row = look.settings.column = 0.3;
        look.settings.height = look.settings.width = 7.7;
      }
      EXPECT_EQ(testing::layout_error(lay_out_view(trace, view.id, look).list), "")
          << view.id << " " << name;
    }
  }
}

TEST(Views, AreLegibleForEveryParameter) {
  for (const auto& [name, trace] : traces()) {
    if (trace.tokens.size() > 300) continue;  // rollout and receptive fields of long texts are slow
    for (const View& view : views()) {
      for (const Parameter& parameter : view.options.parameters) {
        for (const std::string& choice : choice_ids(parameter)) {
          for (const auto& [width, height] : {std::pair{700.0, 720.0}, {320.0, 260.0}}) {
            LayoutOptions look;
            look.width = width;
            look.height = height;
            look.framed = false;
            look.settings.pinned_query = look.settings.pinned_key = 2;
            Values values = default_values(view.options.parameters);
            values.set(parameter.key, choice);
            set_view_values(look.settings, view.id, values);
            EXPECT_EQ(testing::layout_error(lay_out_view(trace, view.id, look).list), "")
                << view.id << "," << parameter.key << "=" << choice << " of " << name << " "
                << width;
          }
        }
      }
    }
  }
}

TEST(Views, ExplainMissingContent) {
  for (const View& view : views()) {
    const ViewLayout empty = lay_out_view(Trace{}, view.id);
    EXPECT_GE(testing::texts(empty.list).size(), 2u) << view.id;
    EXPECT_EQ(testing::layout_error(empty.list), "");
    EXPECT_FALSE(empty.hit({350, 360}).has_value());
    EXPECT_EQ(empty.plot.width, 0);
    EXPECT_FALSE(empty.refusal.empty()) << view.id;
  }
  LayoutOptions look;
  look.settings.layer = 5;
  for (const char* id : {"map", "pattern"}) {
    const std::vector<Text> texts =
        testing::texts(lay_out_view(testing::synthetic_trace(2, 2, 5), id, look).list);
    ASSERT_GE(texts.size(), 2u);
    EXPECT_NE(texts[0].text.find("No layer 5"), std::string::npos);
    EXPECT_NE(texts[1].text.find("2 layers of 2 heads"), std::string::npos);
  }
}

TEST(Views, ThemesDiffer) {
  for (const View& view : views()) {
    LayoutOptions look;
    const Trace trace = testing::synthetic_trace(1, 1, 8);
    EXPECT_EQ(lay_out_view(trace, view.id, look).list.background, Theme::light().background);
    look.dark = true;
    EXPECT_EQ(lay_out_view(trace, view.id, look).list.background, Theme::dark().background);
  }
}

TEST(Views, HaveUniqueIds) {
  std::set<std::string> ids;
  for (const View& view : views()) {
    EXPECT_TRUE(ids.insert(view.id).second);
    EXPECT_FALSE(view.label.empty());
    EXPECT_FALSE(view.summary.empty());
    EXPECT_EQ(&attnscope::view(view.id), &view);
  }
  EXPECT_EQ(views().front().id, "map");
  try {
    view("lines?");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("map, grid, pattern"), std::string::npos);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
