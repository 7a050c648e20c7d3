#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/text/bpe.h"
#include "core/view/intervene/intervene_clicks.h"
#include "core/view/parts/focus.h"
#include "core/view/view.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::synthetic_trace;

class Intervene : public ::testing::Test {
 protected:
  Intervene() : trace_(synthetic_trace(2, 3, 9)) {
    options_.framed = false;
    options_.width = 900;
  }

  ViewLayout layout() const { return lay_out_view(trace_, "intervene", options_); }

  // Session after a click at `p`.
  Session session_after_click(Point p) {
    options_.pointer = p;
    Session session;
    session.view = options_.settings;
    session.run.interventions = options_.interventions;
    const ViewLayout clickable = layout();
    for (auto handle = clickable.handles.rbegin(); handle != clickable.handles.rend(); ++handle) {
      if (!handle->area.contains(p)) continue;
      EXPECT_FALSE(handle->help.empty());
      handle->click(session);
      return session;
    }
    ADD_FAILURE() << "nothing to click at " << p.x << ", " << p.y;
    return session;
  }

  static std::vector<HeatMap> heat_maps(const ViewLayout& drawn) {
    std::vector<HeatMap> result;
    for (const Item& item : drawn.list.items) {
      const HeatMap* map = std::get_if<HeatMap>(&item);
      if (map != nullptr && !map->hollow && map->values.dim(0) > 1) result.push_back(*map);
    }
    return result;
  }

  std::vector<HeatMap> maps() const { return heat_maps(layout()); }

  // Adds run B with `settings_b` to the input.
  void add_run_b(testing::ViewInputFixture& fixture, const ViewSettings& settings_b) const {
    fixture.session.view.id = "intervene";
    fixture.session.run.interventions = options_.interventions;
    fixture.session.b.emplace().view = settings_b;
    fixture.input.canvas.width = options_.width;
    fixture.input.canvas.height = options_.height;
    fixture.input.figure.framed = options_.framed;
    fixture.input.interaction.pointer = options_.pointer;
    fixture.input.findings = testing::findings_of(trace_, options_.reference);
  }

  ViewLayout layout_with_b(const ViewSettings& settings_b = {}) const {
    testing::ViewInputFixture fixture(trace_, options_.settings);
    add_run_b(fixture, settings_b);
    return view("intervene").lay_out(fixture.input);
  }

  // Help text of a click on a cell of run A, drawn next to run B; empty if a click has no effect.
  std::string click_help(Index query, Index key) {
    options_.pointer.reset();
    const Box box = heat_maps(layout_with_b()).at(1).box;
    options_.pointer = Point{box.x + (static_cast<double>(key) + 0.5) * box.width / 9,
                             box.y + (static_cast<double>(query) + 0.5) * box.height / 9};
    const ViewLayout drawn = layout_with_b();
    for (const Handle& handle : drawn.handles) {
      if (handle.area.contains(*options_.pointer)) return handle.help;
    }
    return "";
  }

  Point cell_centre(Index query, Index key) const {
    const Box box = maps()[1].box;
    return {box.x + (static_cast<double>(key) + 0.5) * box.width / 9,
            box.y + (static_cast<double>(query) + 0.5) * box.height / 9};
  }

  Trace trace_;
  LayoutOptions options_;
};

TEST_F(Intervene, ShowsBeforeNextToAfter) {
  const Trace unchanged_run = synthetic_trace(2, 3, 9);
  options_.reference = &unchanged_run;
  options_.interventions = {intervention_from_text("off layer=0 head=1")};
  ASSERT_EQ(maps().size(), 2u);
  EXPECT_EQ(maps()[0].box.width, maps()[1].box.width);
  const std::vector<Text> drawn_texts = testing::texts(layout().list);
  for (const char* part : {"before", "after", "Bits per token", "Perplexity", "Switches"}) {
    EXPECT_TRUE(std::any_of(drawn_texts.begin(), drawn_texts.end(), [&](const Text& t) {
      return t.text.find(part) != std::string::npos;
    })) << part;
  }
}

// An encoder without an output head predicts nothing: its states show the effect.
TEST_F(Intervene, ShowsChangeOfStatesWithoutPredictions) {
  trace_.logits = {};
  trace_.taps["layers.0.residual"] = trace_.taps["layers.1.residual"] = Tensor::full({9, 4}, 1);
  Trace unchanged_run = trace_;
  Tensor states = Tensor::full({9, 4}, 1);
  states(7, 0) = -1;  // cosine 0.5
  unchanged_run.taps["layers.1.residual"] = states;
  options_.reference = &unchanged_run;
  options_.interventions = {intervention_from_text("off layer=0 head=1")};
  for (const double width : {400.0, 900.0, 1500.0}) {
    options_.width = width;
    const DisplayList list = layout().list;
    EXPECT_EQ(testing::layout_error(list), "") << width;
    EXPECT_TRUE(testing::shows_text(list, "1 − cosine")) << width;
    EXPECT_TRUE(testing::shows_text(list, "0.5")) << width;
    EXPECT_FALSE(testing::shows_text(list, "Perplexity")) << width;
    const std::vector<Text> drawn = testing::texts(list);
    const auto y_of = [&](const std::string& label) {
      double y = -1;  // of the last text with this label: the axis labels of maps precede it
      for (const Text& text : drawn) {
        if (text.text.starts_with(label)) y = text.at.y;
      }
      return y;
    };
    EXPECT_GT(y_of("7 and"), 0) << width;
    EXPECT_LT(y_of("7 and"), y_of("0 The")) << width;
  }
  trace_.taps.clear();  // no states either
  EXPECT_FALSE(testing::shows_text(layout().list, "cosine"));
}

TEST_F(Intervene, NarrowPicturesStackAllPanels) {
  options_.framed = true;
  options_.width = 360;
  options_.height = 858;  // of figures without a requested height
  for (const auto& [layers, heads] : {std::pair<Index, Index>{30, 9}, {24, 16}}) {
    const Trace trace = synthetic_trace(layers, heads, 24);
    const DisplayList list = lay_out_view(trace, "intervene", options_).list;
    EXPECT_EQ(testing::layout_error(list), "") << layers;
    EXPECT_FALSE(testing::shows_text(list, "o space for")) << layers;
    for (const char* part : {"Switches", "Perplexity", " → "}) {
      EXPECT_TRUE(testing::shows_text(list, part)) << layers << " " << part;
    }
  }
}

TEST_F(Intervene, OmitsPanelsOnlyIfShrinkingIsNotEnough) {
  const auto contains_text = [](const ViewLayout& drawn, const std::string& part) {
    const std::vector<Text> drawn_texts = testing::texts(drawn.list);
    return std::any_of(drawn_texts.begin(), drawn_texts.end(),
                       [&](const Text& t) { return t.text.find(part) != std::string::npos; });
  };
  options_.font_size = 14;
  options_.width = 428;
  options_.height = 286;
  for (const char* part : {"before", "after", "Perplexity", "Switches", " → "}) {
    EXPECT_TRUE(contains_text(layout(), part)) << part;
  }
  EXPECT_FALSE(contains_text(layout(), "o space for"));
  int notes = 0;
  for (const double width : {150.0, 200.0, 300.0, 428.0}) {
    for (const double height : {160.0, 190.0, 220.0, 260.0, 300.0}) {
      options_.width = width;
      options_.height = height;
      if (maps().empty()) continue;
      const ViewLayout drawn = layout();
      EXPECT_EQ(testing::layout_error(drawn.list), "") << width << " x " << height;
      const bool has_all_panels = contains_text(drawn, "Switches") && contains_text(drawn, "→ ") &&
                                  contains_text(drawn, "exity");
      const bool has_note = contains_text(drawn, "No space") || contains_text(drawn, "Some");
      EXPECT_NE(has_all_panels, has_note) << width << " x " << height;
      notes += has_note ? 1 : 0;
    }
  }
  EXPECT_GT(notes, 0);
}

// A window of 1280 x 800 pixels leaves 660 x 640 for the view, or 660 x 480 next to a lesson.
TEST_F(Intervene, MapsGetMostOfTheSpace) {
  trace_ = synthetic_trace(4, 6, 23);
  options_.font_size = 14;
  options_.width = 660;
  options_.height = 640;
  ASSERT_EQ(maps().size(), 2u);
  EXPECT_GT(maps()[0].box.width, 195);
  options_.height = 480;
  EXPECT_GT(maps()[0].box.width, 130);
  // Maps are stacked if the page is higher than wide.
  options_.width = 420;
  options_.height = 1000;
  EXPECT_GT(maps()[1].box.y, maps()[0].box.bottom());
  EXPECT_EQ(testing::layout_error(layout().list), "");
}

// At the same size, switches of a deep model leave maps of about 200 units.
TEST_F(Intervene, SwitchesOfDeepModelsGiveWayToMaps) {
  options_.font_size = 13;
  options_.width = 611;
  options_.height = 590;
  for (const auto& [layers, heads] : {std::pair<Index, Index>{30, 9}, {24, 16}, {48, 32}}) {
    trace_ = synthetic_trace(layers, heads, 16);
    const Index selected = std::min<Index>(40, layers - 1);
    options_.settings.layer = selected;
    const ViewLayout drawn = layout();
    EXPECT_EQ(testing::layout_error(drawn.list), "") << layers;
    EXPECT_GT(heat_maps(drawn).at(0).box.width, 195) << layers;
    const std::vector<Text> drawn_texts = testing::texts(drawn.list);
    for (const char* part : {"Switches", "Bits per token", " → "}) {
      EXPECT_TRUE(
          std::any_of(drawn_texts.begin(), drawn_texts.end(),
                      [&](const Text& t) { return t.text.find(part) != std::string::npos; }))
          << layers << " " << part;
    }
    const std::string name = "all of layer " + std::to_string(selected);
    EXPECT_TRUE(std::any_of(drawn.handles.begin(), drawn.handles.end(), [&](const Handle& h) {
      return h.help.find(name) != std::string::npos;
    })) << layers;
    const auto switches = std::ranges::count_if(
        drawn.handles, [](const Handle& h) { return h.help.starts_with("Switch head"); });
    EXPECT_EQ(switches % heads, 0) << layers;
    if (heads < 16) {
      EXPECT_EQ(switches, layers * heads);
    }
  }
}

TEST_F(Intervene, ListsNewTopTokenEvenIfFewBarsFit) {
  const Trace unchanged_run = synthetic_trace(4, 6, 23);
  trace_ = synthetic_trace(4, 6, 23);
  float* logits = trace_.logits.value().data() + 22 * trace_.logits.dim(1);
  for (Index id = 0; id < trace_.logits.dim(1); ++id) logits[id] = static_cast<float>(id == 11);
  options_.reference = &unchanged_run;
  options_.interventions = {intervention_from_text("off layer=0 head=1")};
  options_.font_size = 14;
  options_.width = 660;
  for (const double height : {480.0, 560.0, 640.0}) {
    options_.height = height;
    std::size_t bars = 0;
    bool has_new_token = false, has_title = false;
    for (const Text& text : testing::texts(layout().list)) {
      const std::size_t arrow = text.text.find("% → ");
      bars += arrow != std::string::npos ? 1 : 0;
      has_new_token = has_new_token || text.text == "#11";
      has_title = has_title || text.text.starts_with("Predictions after “");
    }
    EXPECT_GE(bars, 2u) << height;
    EXPECT_TRUE(has_new_token) << height;
    EXPECT_TRUE(has_title) << height;
  }
}

TEST_F(Intervene, MaskedModelShowsCandidatesForMaskedPosition) {
  auto config = std::make_shared<ModelConfig>(*trace_.config);
  config->architecture.values.set("masked", 0.2);
  trace_.config = config;
  const std::string drawn_text = testing::all_text(layout().list);
  EXPECT_NE(drawn_text.find("Predictions in place of “"), std::string::npos) << drawn_text;
  EXPECT_EQ(drawn_text.find("Predictions after"), std::string::npos) << drawn_text;
}

TEST_F(Intervene, SelectingATokenMarksItsRowAndMovesNothing) {
  options_.width = 660;
  options_.height = 640;
  const auto outline_count = [&] {
    const DisplayList list = layout().list;
    return std::ranges::count_if(list.items, [&](const Item& item) {
      const OutlinedBox* box = std::get_if<OutlinedBox>(&item);
      return box != nullptr && box->thickness == 2;
    });
  };
  const Box box_without_selection = maps()[1].box;
  EXPECT_EQ(outline_count(), 0);
  options_.settings.pinned_query = 4;
  EXPECT_EQ(maps()[1].box.x, box_without_selection.x);
  EXPECT_EQ(maps()[1].box.y, box_without_selection.y);
  EXPECT_EQ(maps()[1].box.width, box_without_selection.width);
  EXPECT_EQ(outline_count(), 2);
}

TEST_F(Intervene, RunBIsNotLabelledBefore) {
  const Trace run_b = synthetic_trace(2, 3, 9);
  const auto all_text = [&] { return testing::all_text(layout().list); };
  options_.reference = &run_b;
  EXPECT_NE(all_text().find("B is a separate run, not A before its changes"), std::string::npos);
  options_.framed = true;
  EXPECT_EQ(all_text().find("before and after"), std::string::npos) << all_text();
  EXPECT_NE(all_text().find("in B (synthetic"), std::string::npos) << all_text();
  // With interventions, the reference run is this run without them.
  options_.interventions = {intervention_from_text("off layer=0 head=1")};
  EXPECT_NE(all_text().find("before and after"), std::string::npos) << all_text();
}

// Run A and run B may display different heads.
TEST_F(Intervene, ComparedRunsHaveSeparateHeads) {
  const Trace run_b = synthetic_trace(2, 3, 9);
  options_.reference = &run_b;
  options_.settings.head = 1;
  options_.framed = true;
  options_.width = 1600;
  ViewSettings settings_b;
  settings_b.layer = 1;
  settings_b.head = 2;
  const auto all_text = [&] { return testing::all_text(layout_with_b(settings_b).list); };
  EXPECT_NE(all_text().find("Layer 1, head 2, in B (synthetic"), std::string::npos) << all_text();
  EXPECT_NE(all_text().find("and layer 0, head 1, in A:"), std::string::npos) << all_text();
  const ViewLayout drawn = layout_with_b(settings_b);
  const std::vector<HeatMap> drawn_maps = heat_maps(drawn);
  ASSERT_EQ(drawn_maps.size(), 2u);
  for (const bool is_b : {true, false}) {
    const HeatMap& map = drawn_maps[is_b ? 0 : 1];
    const auto hit = drawn.hit({map.box.x + map.box.width / 2, map.box.y + map.box.height / 2});
    ASSERT_TRUE(hit.has_value());
    EXPECT_EQ(hit->layer, is_b ? 1 : 0);
    EXPECT_EQ(hit->head, is_b ? 2 : 1);
    EXPECT_EQ(hit->of_reference, is_b);
    const Tensor weights = run_b.attention[is_b ? 1 : 0].attention(hit->head);
    EXPECT_EQ(map.values(hit->query, hit->key), weights(hit->query, hit->key));
  }
  settings_b = options_.settings;
  EXPECT_NE(all_text().find("changes) and in A:"), std::string::npos) << all_text();
}

TEST_F(Intervene, ReportsThatRunBIsBeingComputed) {
  EXPECT_NE(layout_with_b().refusal.find("Computing"), std::string::npos)
      << layout_with_b().refusal;
  EXPECT_TRUE(heat_maps(layout_with_b()).empty());
  testing::ViewInputFixture fixture(trace_, options_.settings);
  add_run_b(fixture, {});
  try {
    view("intervene").data(fixture.input);
    ADD_FAILURE() << "exported without run B";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("being computed"), std::string::npos) << e.what();
  }
  options_.reference = &trace_;
  EXPECT_EQ(heat_maps(layout_with_b()).size(), 2u);
}

TEST_F(Intervene, RejectsImportedTensors) {
  trace_.is_imported = true;
  EXPECT_TRUE(layout().handles.empty());
  EXPECT_NE(layout().refusal.find("a model and a text"), std::string::npos);
}

TEST_F(Intervene, ClickTogglesPair) {
  Session after = session_after_click(cell_centre(5, 2));
  ASSERT_EQ(after.run.interventions.size(), 1u);
  EXPECT_EQ(to_text(after.run.interventions[0]), "forbid query=5 key=2 layer=0 head=0");
  options_.interventions = after.run.interventions;
  EXPECT_TRUE(session_after_click(cell_centre(5, 2)).run.interventions.empty());
}

TEST_F(Intervene, ClickCanForcePair) {
  Values values = view_values(options_.settings, "intervene");
  values.set("click", std::string("force"));
  values.set("heads", std::string("all"));
  set_view_values(options_.settings, "intervene", values);
  options_.interventions = {intervention_from_text("forbid query=5 key=2")};
  const Session after = session_after_click(cell_centre(5, 2));
  ASSERT_EQ(after.run.interventions.size(), 1u);  // the opposite intervention is removed
  EXPECT_EQ(to_text(after.run.interventions[0]), "force query=5 key=2");
}

TEST_F(Intervene, ClickOnKeyLabelForbidsItsColumn) {
  const Point p{cell_centre(0, 3).x, maps()[1].box.y - 10};
  EXPECT_EQ(to_text(session_after_click(p).run.interventions.at(0)), "forbid key=3 layer=0 head=0");
}

TEST_F(Intervene, DisallowedPairsAreNotClickable) {
  options_.pointer = cell_centre(2, 5);
  const ViewLayout drawn = layout();
  EXPECT_FALSE(std::any_of(drawn.handles.begin(), drawn.handles.end(),
                           [&](const Handle& h) { return h.area.contains(*options_.pointer); }));
}

// Clicks apply to A even if B's pattern does not allow the pair.
TEST_F(Intervene, ClicksApplyToRunA) {
  Trace run_b = synthetic_trace(2, 3, 9);
  run_b.attention[0] = testing::synthetic_tap(0, 3, testing::window_and_global(9, 1, 1));
  options_.reference = &run_b;
  EXPECT_EQ(click_help(5, 2), "Forbid this pair.");
  EXPECT_EQ(click_help(3, 4), "");
  // Pairs that an intervention removed from A's pattern can be restored.
  options_.interventions = {intervention_from_text("forbid query=5 key=2 layer=0 head=0")};
  trace_.attention[0] = testing::synthetic_tap(
      0, 3, changed_pattern(Pattern::causal(9, 9), options_.interventions, 0, 0, 3));
  EXPECT_EQ(click_help(5, 2), "Undo the change of this pair.");
  EXPECT_EQ(click_help(5, 3), "Forbid this pair.");
  options_.settings.head = 1;  // a head without intervention
  EXPECT_EQ(click_help(5, 2), "Forbid this pair.");
}

TEST_F(Intervene, EveryHeadAndLayerHasASwitch) {
  int heads = 0, layers = 0;
  for (const Handle& handle : layout().handles) {
    Session session;
    handle.click(session);
    ASSERT_EQ(session.run.interventions.size(), 1u);
    const Intervention& i = session.run.interventions[0];
    EXPECT_EQ(i.kind, Intervention::Kind::Off);
    (i.head >= 0 ? heads : layers) += 1;
    handle.click(session);
    EXPECT_TRUE(session.run.interventions.empty());
  }
  EXPECT_EQ(heads, 6);
  EXPECT_EQ(layers, 2);
}

TEST_F(Intervene, SelectedPositionIsPinnedTokenOrLast) {
  ViewSettings settings;
  EXPECT_EQ(selected_position(settings, trace_), 8);
  for (const Index pinned : {0, 4, 8}) {
    settings.pinned_query = pinned;
    EXPECT_EQ(selected_position(settings, trace_), pinned);
  }
  settings.pinned_query = 9;  // beyond this text
  EXPECT_EQ(selected_position(settings, trace_), 8);
  EXPECT_EQ(selected_position(settings, Trace()), -1);
}

TEST_F(Intervene, SelectedTokenCanBeReplaced) {
  const Point label{maps()[0].box.x - 8, cell_centre(4, 0).y};
  EXPECT_EQ(session_after_click(label).view.pinned_query, 4);
  options_.settings.pinned_query = 4;
  options_.pointer.reset();
  int replacement_count = 0;
  for (const Handle& handle : layout().handles) {
    Session session;
    handle.click(session);
    if (session.run.interventions.empty()) continue;
    const Intervention& i = session.run.interventions[0];
    if (i.kind != Intervention::Kind::Replace) continue;
    ++replacement_count;
    EXPECT_EQ(i.position, 4);
    EXPECT_NE(i.token, trace_.tokens[4].id);
  }
  EXPECT_GE(replacement_count, 3);
}

// Whole words precede word pieces, even if the pieces are likelier.
TEST(ReplacementCandidates, ListWholeWordsFirst) {
  Trace trace = synthetic_trace(1, 1, 4);
  const auto tokenizer = train_bpe("the cat sat on the mat and the dog sat on the log", 280);
  trace.tokenizer = tokenizer;
  const Index size = tokenizer->vocabulary_size();
  trace.logits = Tensor::zeros({4, size});
  const auto is_word = [&](std::int32_t id) {
    const std::string bytes = tokenizer->bytes(id);
    return bytes.size() >= 4 && bytes[0] == ' ' && std::isalpha(bytes[1]) != 0;
  };
  std::size_t words = 0;
  for (std::int32_t id = 0; id < size; ++id) {
    words += !tokenizer->is_special(id) && is_word(id);
    if (tokenizer->bytes(id) == "p") trace.logits.value()(1, id) = 9;
  }
  const std::vector<std::int32_t> candidates = replacement_candidates(trace, 2);
  ASSERT_GE(words, 2u);
  ASSERT_GT(candidates.size(), words);
  for (std::size_t n = 0; n < words; ++n) EXPECT_TRUE(is_word(candidates[n])) << n;
  EXPECT_EQ(tokenizer->bytes(candidates[words]), "p");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
