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
    look_.framed = false;
    look_.width = 900;
  }

  ViewLayout layout() const { return lay_out_view(trace_, "intervene", look_); }

  // Session after a click at a point.
  Session session_after_click(Point p) {
    look_.pointer = p;
    Session session;
    session.view = look_.settings;
    session.run.interventions = look_.interventions;
    const ViewLayout drawn = layout();
    for (auto handle = drawn.handles.rbegin(); handle != drawn.handles.rend(); ++handle) {
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
  void add_run_b(testing::ViewInputFixture& of, const ViewSettings& settings_b) const {
    of.session.view.id = "intervene";
    of.session.run.interventions = look_.interventions;
    of.session.b.emplace().view = settings_b;
    of.input.canvas.width = look_.width;
    of.input.canvas.height = look_.height;
    of.input.figure.framed = look_.framed;
    of.input.interaction.pointer = look_.pointer;
    of.input.findings = testing::findings_of(trace_, look_.reference);
  }

  ViewLayout layout_with_b(const ViewSettings& settings_b = {}) const {
    testing::ViewInputFixture of(trace_, look_.settings);
    add_run_b(of, settings_b);
    return view("intervene").lay_out(of.input);
  }

  // Help text of the click action on a cell of run A while run B is compared; empty: none.
  std::string offered_help(Index query, Index key) {
    look_.pointer.reset();
    const Box box = heat_maps(layout_with_b()).at(1).box;
    look_.pointer = Point{box.x + (static_cast<double>(key) + 0.5) * box.width / 9,
                          box.y + (static_cast<double>(query) + 0.5) * box.height / 9};
    const ViewLayout drawn = layout_with_b();
    for (const Handle& handle : drawn.handles) {
      if (handle.area.contains(*look_.pointer)) return handle.help;
    }
    return "";
  }

  Point cell(Index query, Index key) const {
    const Box box = maps()[1].box;
    return {box.x + (static_cast<double>(key) + 0.5) * box.width / 9,
            box.y + (static_cast<double>(query) + 0.5) * box.height / 9};
  }

  Trace trace_;
  LayoutOptions look_;
};

TEST_F(Intervene, ShowsBeforeNextToAfter) {
  const Trace before = synthetic_trace(2, 3, 9);
  look_.reference = &before;
  look_.interventions = {intervention_from_text("off layer=0 head=1")};
  ASSERT_EQ(maps().size(), 2u);
  EXPECT_EQ(maps()[0].box.width, maps()[1].box.width);
  const std::vector<Text> all = testing::texts(layout().list);
  for (const char* part : {"before", "after", "Bits per token", "Perplexity", "Switches"}) {
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Text& t) {
      return t.text.find(part) != std::string::npos;
    })) << part;
  }
}

TEST_F(Intervene, PartsShrinkBeforeTheyVanish) {
  const auto contains_text = [](const ViewLayout& drawn, const std::string& part) {
    const std::vector<Text> all = testing::texts(drawn.list);
    return std::any_of(all.begin(), all.end(),
                       [&](const Text& t) { return t.text.find(part) != std::string::npos; });
  };
  look_.font_size = 14;
  look_.width = 428;
  look_.height = 286;
  for (const char* part : {"before", "after", "Perplexity", "Switches", " → "}) {
    EXPECT_TRUE(contains_text(layout(), part)) << part;
  }
  EXPECT_FALSE(contains_text(layout(), "o space for"));
  int notes = 0;
  for (const double width : {150.0, 200.0, 300.0, 428.0}) {
    for (const double height : {160.0, 190.0, 220.0, 260.0, 300.0}) {
      look_.width = width;
      look_.height = height;
      if (maps().empty()) continue;
      const ViewLayout drawn = layout();
      EXPECT_EQ(testing::layout_error(drawn.list), "") << width << " x " << height;
      const bool all = contains_text(drawn, "Switches") && contains_text(drawn, "→ ") &&
                       contains_text(drawn, "exity");
      const bool has_note = contains_text(drawn, "No space") || contains_text(drawn, "Some");
      EXPECT_NE(all, has_note) << width << " x " << height;
      notes += has_note ? 1 : 0;
    }
  }
  EXPECT_GT(notes, 0);
}

// A window of 1280 x 800 leaves 660 x 640 for the view, or 660 x 480 beside a lesson.
TEST_F(Intervene, MapsGetMostOfTheSpace) {
  trace_ = synthetic_trace(4, 6, 23);
  look_.font_size = 14;
  look_.width = 660;
  look_.height = 640;
  ASSERT_EQ(maps().size(), 2u);
  EXPECT_GT(maps()[0].box.width, 195);
  look_.height = 480;
  EXPECT_GT(maps()[0].box.width, 130);
  // Maps are stacked if the page is higher than wide.
  look_.width = 420;
  look_.height = 1000;
  EXPECT_GT(maps()[1].box.y, maps()[0].box.bottom());
  EXPECT_EQ(testing::layout_error(layout().list), "");
}

// The new top token is listed with its former value, even if few tokens fit.
TEST_F(Intervene, NewTopTokenIsAmongListedTokens) {
  const Trace before = synthetic_trace(4, 6, 23);
  trace_ = synthetic_trace(4, 6, 23);
  float* logits = trace_.logits.data() + 22 * trace_.logits.dim(1);
  for (Index id = 0; id < trace_.logits.dim(1); ++id) logits[id] = static_cast<float>(id == 11);
  look_.reference = &before;
  look_.interventions = {intervention_from_text("off layer=0 head=1")};
  look_.font_size = 14;
  look_.width = 660;
  for (const double height : {480.0, 560.0, 640.0}) {
    look_.height = height;
    std::size_t bars = 0;
    bool named = false, titled = false;
    for (const Text& text : testing::texts(layout().list)) {
      const std::size_t arrow = text.text.find("% → ");
      bars += arrow != std::string::npos ? 1 : 0;
      named = named || text.text == "#11";
      titled = titled || text.text.starts_with("Predictions after “");
    }
    EXPECT_GE(bars, 4u) << height;
    EXPECT_TRUE(named) << height;
    EXPECT_TRUE(titled) << height;
  }
}

TEST_F(Intervene, MaskedModelShowsCandidatesForMaskedPosition) {
  auto config = std::make_shared<ModelConfig>(*trace_.config);
  config->architecture.values.set("masked", 0.2);
  trace_.config = config;
  const std::string all = testing::all_text(layout().list);
  EXPECT_NE(all.find("Predictions in place of “"), std::string::npos) << all;
  EXPECT_EQ(all.find("Predictions after"), std::string::npos) << all;
}

TEST_F(Intervene, SelectingATokenMovesNothingAndMarksItsRow) {
  look_.width = 660;
  look_.height = 640;
  const auto outlined = [&] {
    const DisplayList list = layout().list;
    return std::ranges::count_if(list.items, [&](const Item& item) {
      const OutlinedBox* box = std::get_if<OutlinedBox>(&item);
      return box != nullptr && box->thickness == 2;
    });
  };
  const Box unselected = maps()[1].box;
  EXPECT_EQ(outlined(), 0);
  look_.settings.pinned_query = 4;
  EXPECT_EQ(maps()[1].box.x, unselected.x);
  EXPECT_EQ(maps()[1].box.y, unselected.y);
  EXPECT_EQ(maps()[1].box.width, unselected.width);
  EXPECT_EQ(outlined(), 2);
}

TEST_F(Intervene, RunBIsNotLabelledBefore) {
  const Trace other = synthetic_trace(2, 3, 9);
  const auto all_text = [&] { return testing::all_text(layout().list); };
  look_.reference = &other;
  EXPECT_NE(all_text().find("B is the reference run, not this run before"), std::string::npos);
  look_.framed = true;
  EXPECT_EQ(all_text().find("before and after"), std::string::npos) << all_text();
  EXPECT_NE(all_text().find("in B (synthetic"), std::string::npos) << all_text();
  look_.interventions = {intervention_from_text("off layer=0 head=1")};  // no B
  EXPECT_NE(all_text().find("before and after"), std::string::npos) << all_text();
}

// Run A and run B may display different heads.
TEST_F(Intervene, ComparedRunsHaveSeparateHeads) {
  const Trace other = synthetic_trace(2, 3, 9);
  look_.reference = &other;
  look_.settings.head = 1;
  look_.framed = true;
  look_.width = 1600;
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
    const Tensor weights = other.attention[is_b ? 1 : 0].attention(hit->head);
    EXPECT_EQ(map.values(hit->query, hit->key), weights(hit->query, hit->key));
  }
  settings_b = look_.settings;
  EXPECT_NE(all_text().find("changes) and in A:"), std::string::npos) << all_text();
}

TEST_F(Intervene, ComparisonMayBePending) {
  EXPECT_NE(layout_with_b().refusal.find("Computing"), std::string::npos)
      << layout_with_b().refusal;
  EXPECT_TRUE(heat_maps(layout_with_b()).empty());
  testing::ViewInputFixture of(trace_, look_.settings);
  add_run_b(of, {});
  try {
    view("intervene").data(of.input);
    ADD_FAILURE() << "exported without run B";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("being computed"), std::string::npos) << e.what();
  }
  look_.reference = &trace_;
  EXPECT_EQ(heat_maps(layout_with_b()).size(), 2u);
}

TEST_F(Intervene, RejectsImportedTensors) {
  trace_.is_imported = true;
  EXPECT_TRUE(layout().handles.empty());
  EXPECT_NE(layout().refusal.find("a model and a text"), std::string::npos);
}

TEST_F(Intervene, ClickTogglesPair) {
  Session after = session_after_click(cell(5, 2));
  ASSERT_EQ(after.run.interventions.size(), 1u);
  EXPECT_EQ(to_text(after.run.interventions[0]), "forbid query=5 key=2 layer=0 head=0");
  look_.interventions = after.run.interventions;
  EXPECT_TRUE(session_after_click(cell(5, 2)).run.interventions.empty());
}

TEST_F(Intervene, ClickCanForcePair) {
  Values values = view_values(look_.settings, "intervene");
  values.set("click", std::string("force"));
  values.set("heads", std::string("all"));
  set_view_values(look_.settings, "intervene", values);
  look_.interventions = {intervention_from_text("forbid query=5 key=2")};
  const Session after = session_after_click(cell(5, 2));
  ASSERT_EQ(after.run.interventions.size(), 1u);  // the opposite intervention is removed
  EXPECT_EQ(to_text(after.run.interventions[0]), "force query=5 key=2");
}

TEST_F(Intervene, KeyLabelSelectsItsColumn) {
  const Point p{cell(0, 3).x, maps()[1].box.y - 10};
  EXPECT_EQ(to_text(session_after_click(p).run.interventions.at(0)), "forbid key=3 layer=0 head=0");
}

TEST_F(Intervene, DisallowedPairsAreNotClickable) {
  look_.pointer = cell(2, 5);
  const ViewLayout drawn = layout();
  EXPECT_FALSE(std::any_of(drawn.handles.begin(), drawn.handles.end(),
                           [&](const Handle& h) { return h.area.contains(*look_.pointer); }));
}

// Clicks apply to A even if B's pattern does not allow the pair.
TEST_F(Intervene, ClicksApplyToRunA) {
  Trace other = synthetic_trace(2, 3, 9);
  other.attention[0] = testing::synthetic_tap(0, 3, testing::window_and_global(9, 1, 1));
  look_.reference = &other;
  EXPECT_EQ(offered_help(5, 2), "Forbid this pair.");
  EXPECT_EQ(offered_help(3, 4), "");
  // Pairs no longer in A's pattern can be restored.
  look_.interventions = {intervention_from_text("forbid query=5 key=2 layer=0 head=0")};
  trace_.attention[0] = testing::synthetic_tap(
      0, 3, changed_pattern(Pattern::causal(9, 9), look_.interventions, 0, 0, 3));
  EXPECT_EQ(offered_help(5, 2), "Undo the change of this pair.");
  EXPECT_EQ(offered_help(5, 3), "Forbid this pair.");
  look_.settings.head = 1;  // a head without intervention
  EXPECT_EQ(offered_help(5, 2), "Forbid this pair.");
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

TEST_F(Intervene, ShowsPinnedTokenOrLast) {
  ViewSettings settings;
  EXPECT_EQ(selected_position(settings, trace_), 8);
  for (const Index pinned : {0, 4, 8}) {
    settings.pinned_query = pinned;
    EXPECT_EQ(selected_position(settings, trace_), pinned);
  }
  settings.pinned_query = 9;  // left over from a longer text
  EXPECT_EQ(selected_position(settings, trace_), 8);
  EXPECT_EQ(selected_position(settings, Trace()), -1);
}

TEST_F(Intervene, SelectedTokenCanBeReplaced) {
  const Point label{maps()[0].box.x - 8, cell(4, 0).y};
  EXPECT_EQ(session_after_click(label).view.pinned_query, 4);
  look_.settings.pinned_query = 4;
  look_.pointer.reset();
  int offered = 0;
  for (const Handle& handle : layout().handles) {
    Session session;
    handle.click(session);
    if (session.run.interventions.empty()) continue;
    const Intervention& i = session.run.interventions[0];
    if (i.kind != Intervention::Kind::Replace) continue;
    ++offered;
    EXPECT_EQ(i.position, 4);
    EXPECT_NE(i.token, trace_.tokens[4].id);
  }
  EXPECT_GE(offered, 3);
}

// Whole words precede word pieces, even more likely ones.
TEST(Replacements, ListWordsFirst) {
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
    if (tokenizer->bytes(id) == "p") trace.logits(1, id) = 9;
  }
  const std::vector<std::int32_t> offered = replacements(trace, 2);
  ASSERT_GE(words, 2u);
  ASSERT_GT(offered.size(), words);
  for (std::size_t n = 0; n < words; ++n) EXPECT_TRUE(is_word(offered[n])) << n;
  EXPECT_EQ(tokenizer->bytes(offered[words]), "p");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
