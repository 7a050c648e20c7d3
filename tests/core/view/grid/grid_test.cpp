#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/analysis/head_name.h"
#include "core/experiment/head_table.h"
#include "core/view/grid/grid_order.h"
#include "tests/core/view/sink.h"
#include "tests/support/case_run.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::with_sink;

// Thumbnails: all heat maps except the last, which is the colour bar.
std::vector<HeatMap> thumbnails(const DisplayList& list) {
  std::vector<HeatMap> maps;
  for (const Item& item : list.items) {
    const HeatMap* map = std::get_if<HeatMap>(&item);
    if (map != nullptr && !map->hollow) maps.push_back(*map);
  }
  maps.pop_back();
  return maps;
}

TEST(Grid, HitReportsHead) {
  const ViewLayout layout = lay_out_view(testing::synthetic_trace(3, 4, 10), "grid");
  const std::vector<HeatMap> maps = thumbnails(layout.list);
  ASSERT_EQ(maps.size(), 12u);
  std::set<std::pair<Index, Index>> heads;
  for (const HeatMap& map : maps) {
    const auto hit = layout.hit({map.box.x + map.box.width / 2, map.box.y + map.box.height / 2});
    ASSERT_TRUE(hit.has_value());
    heads.insert({hit->layer, hit->head});
    EXPECT_FALSE(layout.hit({map.box.x - 1, map.box.y - 1}).has_value());  // the gap between maps
  }
  EXPECT_EQ(heads.size(), 12u);
}

// All heads of a causal run exclude the same pairs; a copy for each head would double the memory.
TEST(Grid, SharesExcludedPairs) {
  const ViewLayout layout = lay_out_view(testing::synthetic_trace(3, 4, 10), "grid");
  std::set<const float*> numbers;
  std::set<double> places;
  int count = 0;
  for (const Item& item : layout.list.items) {
    const HeatMap* map = std::get_if<HeatMap>(&item);
    if (map == nullptr || !map->hollow) continue;
    numbers.insert(map->values.data());
    places.insert(map->box.x + 1e4 * map->box.y);
    ++count;
  }
  EXPECT_EQ(count, 12);
  EXPECT_EQ(places.size(), 12u);
  EXPECT_EQ(numbers.size(), 1u);
}

bool has_text(const DisplayList& list, const std::string& part) {
  const std::vector<Text> all = testing::texts(list);
  return std::any_of(all.begin(), all.end(),
                     [&](const Text& text) { return text.text.find(part) != std::string::npos; });
}

// Share of the picture that thumbnails cover.
double covered_share(const std::vector<HeatMap>& maps, double width, double height) {
  double area = 0;
  for (const HeatMap& map : maps) area += map.box.width * map.box.height;
  return area / (width * height);
}

// Layers are arranged in the blocks or the orientation that fills the picture.
TEST(Grid, FillsWindowWithAnyNumberOfLayersAndHeads) {
  constexpr Index kLength = 5;
  for (const auto& [layers, heads] :
       {std::pair<Index, Index>{30, 9}, {6, 12}, {24, 16}, {48, 32}}) {
    const Trace trace = testing::synthetic_trace(layers, heads, kLength);
    for (const auto& [width, height] :
         {std::pair{560.0, 560.0}, {830.0, 760.0}, {1200.0, 840.0}, {640.0, 1200.0}}) {
      LayoutOptions look;
      look.framed = false;
      look.width = width;
      look.height = height;
      const ViewLayout layout = lay_out_view(trace, "grid", look);
      EXPECT_EQ(testing::layout_error(layout.list), "");
      const std::vector<HeatMap> maps = thumbnails(layout.list);
      ASSERT_EQ(static_cast<Index>(maps.size()), layers * heads);
      EXPECT_GE(covered_share(maps, width, height), 0.3)
          << layers << " x " << heads << " in " << width << " x " << height;
      std::set<std::pair<Index, Index>> found;
      for (const HeatMap& map : maps) {
        const auto hit =
            layout.hit({map.box.x + map.box.width / 2, map.box.y + map.box.height / 2});
        ASSERT_TRUE(hit.has_value());
        found.insert({hit->layer, hit->head});
        EXPECT_FALSE(layout.hit({map.box.x - 1, map.box.y - 1}).has_value());
      }
      EXPECT_EQ(static_cast<Index>(found.size()), layers * heads);
    }
  }
}

TEST(Grid, FramedPictureNamesHeadUnderPointer) {
  const Trace trace = testing::synthetic_trace(2, 3, 6);
  const auto names_head = [&](const LayoutOptions& look) {
    const std::vector<Text> texts = testing::texts(lay_out_view(trace, "grid", look).list);
    return std::any_of(texts.begin(), texts.end(),
                       [](const Text& t) { return t.text.starts_with("layer 1, head 2"); });
  };
  LayoutOptions look;
  look.pointer = Point{0, 0};
  EXPECT_FALSE(names_head(look));
  const ViewLayout layout = lay_out_view(trace, "grid", look);
  for (double y = 1; y < look.height; y += 5) {
    for (double x = 1; x < look.width; x += 5) {
      const auto hit = layout.hit({x, y});
      if (hit && hit->layer == 1 && hit->head == 2) look.pointer = Point{x, y};
    }
  }
  EXPECT_TRUE(names_head(look));
  look.framed = false;  // as in the window, whose panels name the head
  EXPECT_FALSE(names_head(look));
}

TEST(Grid, AcceptsLayersOfDifferentShapes) {
  Trace trace = testing::synthetic_trace(2, 4, 10);
  trace.attention[1] = testing::synthetic_tap(1, 2, Pattern::all(10, 14));
  const ViewLayout layout = lay_out_view(trace, "grid");
  const std::vector<HeatMap> maps = thumbnails(layout.list);
  ASSERT_EQ(maps.size(), 6u);
  EXPECT_EQ(maps[5].width, 14);
  EXPECT_EQ(testing::layout_error(layout.list), "");
  // An empty place, where layer 1 has no head, reports no hit.
  const Box last_head = maps[3].box, lower_map = maps[4].box;
  EXPECT_FALSE(layout.hit({last_head.x + 5, lower_map.y + 5}).has_value());
}

TEST(Grid, HeadGroupsShareALayer) {
  Trace trace = testing::synthetic_trace(1, 2, 6);
  AttentionTap second = testing::synthetic_tap(0, 2, Pattern::causal(6, 6));
  second.address.group = 1;
  second.heads = {2, 3};
  trace.attention.push_back(second);
  EXPECT_EQ(thumbnails(lay_out_view(trace, "grid").list).size(), 4u);
}

TEST(Grid, ScalesAreSharedOrPerMap) {
  const Trace trace = testing::synthetic_trace(2, 2, 10);
  LayoutOptions look;
  look.settings.colour_end = ColourEnd::One;
  for (const HeatMap& map : thumbnails(lay_out_view(trace, "grid", look).list))
    EXPECT_EQ(map.most, 1);
  Trace flat = trace;
  flat.attention[0].result.attention = Tensor::full({2, 10, 10}, 0.1f);
  look.settings.colour_end = ColourEnd::Largest;
  const std::vector<HeatMap> shared = thumbnails(lay_out_view(flat, "grid", look).list);
  EXPECT_EQ(shared[0].most, shared[2].most);
  EXPECT_GT(shared[0].most, 0.2);
  set_view_value(look.settings, "grid", "own", true);
  const std::vector<HeatMap> maps = thumbnails(lay_out_view(flat, "grid", look).list);
  EXPECT_EQ(maps[0].most, 0.1f);
  EXPECT_GT(maps[2].most, 0.2);
  EXPECT_LT(maps[2].most, 1);
}

TEST(Grid, DrawsManyHeads) {
  const Trace trace = testing::synthetic_trace(24, 32, 5);
  const ViewLayout layout = lay_out_view(trace, "grid");
  EXPECT_EQ(thumbnails(layout.list).size(), 24u * 32u);
  EXPECT_EQ(testing::layout_error(layout.list), "");
}

LayoutOptions sorted_by(const std::string& measure, bool ascending = false) {
  LayoutOptions look;
  Values values = default_values(view("grid").options.parameters);
  values.set("sort", measure);
  values.set("ascending", ascending);
  set_view_values(look.settings, "grid", values);
  return look;
}

// Layer and head of the thumbnails in reading order.
std::vector<std::pair<Index, Index>> heads_in_order(const ViewLayout& layout) {
  std::vector<std::pair<Index, Index>> heads;
  for (const HeatMap& map : thumbnails(layout.list)) {
    const auto hit = layout.hit({map.box.x + map.box.width / 2, map.box.y + map.box.height / 2});
    heads.emplace_back(hit ? hit->layer : -1, hit ? hit->head : -1);
  }
  return heads;
}

TEST(Grid, SortsByHeadStatistics) {
  const Trace trace = testing::synthetic_trace(3, 4, 20);
  for (const HeadMeasure& measure : head_measures()) {
    for (const bool ascending : {false, true}) {
      const ViewLayout layout = lay_out_view(trace, "grid", sorted_by(measure.id, ascending));
      EXPECT_EQ(testing::layout_error(layout.list), "") << measure.id;
      const std::vector<std::pair<Index, Index>> heads = heads_in_order(layout);
      ASSERT_EQ(heads.size(), 12u);
      const HeadTable table = head_table(trace);
      double previous = ascending ? -1e9 : 1e9;
      for (const auto& [layer, head] : heads) {
        const double value = table.find({layer, head})->*measure.value;
        if (std::isnan(value)) continue;
        EXPECT_TRUE(ascending ? value >= previous - 1e-6 : value <= previous + 1e-6) << measure.id;
        previous = value;
      }
    }
  }
}

// All labels of a picture have one size, and narrow pictures keep the names of sorted heads.
TEST(Grid, NarrowSortedPictureNamesHeads) {
  const Trace trace = testing::synthetic_trace(30, 9, 16);
  LayoutOptions look = sorted_by("entropy");
  look.width = 340;  // a column of an article
  look.height = 900;
  std::set<double> sizes;
  std::set<std::string> names;
  for (const Text& text : testing::texts(lay_out_view(trace, "grid", look).list)) {
    const bool is_name = text.text.find("·") != std::string::npos && text.text.size() <= 6;
    if (!is_name) continue;
    names.insert(text.text);
    sizes.insert(text.size);
  }
  EXPECT_EQ(names.size(), 270u);
  EXPECT_EQ(sizes.size(), 1u);
}

TEST(Grid, LegendCountsNamedHeads) {
  const Trace trace = testing::synthetic_trace(30, 9, 60);
  LayoutOptions look;
  look.framed = false;
  const HeadTable table = head_table(trace);
  std::map<std::string, int> counts;
  for (const HeadTable::Row& row : table.rows) {
    Index n = 0;
    const AttentionTap* tap = trace.find(row.at, &n);
    const HeadName name = head_name(row.statistics, head_baseline(trace, *tap, n));
    if (!name.badge.empty()) ++counts[name.badge];
  }
  ASSERT_FALSE(counts.empty());
  const DisplayList list = lay_out_view(trace, "grid", look).list;
  for (const auto& [badge, count] : counts) {
    EXPECT_TRUE(has_text(list, badge + " (" + std::to_string(count) + ")")) << badge;
  }
}

TEST(Grid, LimitsHideHeads) {
  const Trace trace = testing::synthetic_trace(3, 4, 20);
  const HeadTable table = head_table(trace);
  std::vector<double> values;
  for (const HeadTable::Row& row : table.rows) values.push_back(row.statistics.entropy);
  std::sort(values.begin(), values.end());
  LayoutOptions look = sorted_by("entropy");
  Values options = view_values(look.settings, "grid");
  options.set("at_least", (values[4] + values[5]) / 2);
  set_view_values(look.settings, "grid", options);
  EXPECT_EQ(heads_in_order(lay_out_view(trace, "grid", look)).size(), 7u);
  options.set("at_most", 0.0);
  set_view_values(look.settings, "grid", options);
  EXPECT_NE(lay_out_view(trace, "grid", look).refusal, "");
}

LayoutOptions look_with(const std::string& key, const Value& value) {
  LayoutOptions look;
  set_view_value(look.settings, "grid", key, value);
  return look;
}

// The first row of a causal map is a single 1 in every head.
TEST(Grid, PerMapScaleIgnoresRowsWithOneKey) {
  const Trace trace = testing::synthetic_trace(1, 2, 10);
  LayoutOptions look;
  look.settings.colour_end = ColourEnd::Largest;
  set_view_value(look.settings, "grid", "own", true);
  const std::vector<HeatMap> maps = thumbnails(lay_out_view(trace, "grid", look).list);
  for (Index head = 0; head < 2; ++head) {
    const Tensor weights = trace.attention[0].attention(head);
    float largest = 0;
    for (Index i = 1; i < 10; ++i) {
      for (Index c = 0; c < 10; ++c) largest = std::max(largest, weights(i, c));
    }
    EXPECT_EQ(maps[static_cast<std::size_t>(head)].most, static_cast<double>(largest));
    EXPECT_LT(largest, 1);
  }
}

TEST(Grid, ScalesMatchMap) {
  const Trace trace = testing::synthetic_trace(2, 2, 10);
  const Tensor weights = trace.attention[0].attention(0);
  LayoutOptions log_look = look_with("scale", std::string("log"));
  log_look.settings.colour_end = ColourEnd::One;
  const HeatMap log = thumbnails(lay_out_view(trace, "grid", log_look).list)[0];
  ASSERT_EQ(log.values.shape(), weights.shape());
  for (Index i = 0; i < weights.size(); ++i) {
    const double expected = 1 + std::log10(std::max(1e-4, static_cast<double>(weights[i]))) / 4;
    EXPECT_NEAR(static_cast<double>(log.values[i]), weights[i] > 0 ? expected : 0, 1e-5);
  }
  // The rank scale puts half of the numbers of all maps in the lower half of the colours.
  Index lower_half = 0, total = 0;
  for (const HeatMap& map :
       thumbnails(lay_out_view(trace, "grid", look_with("scale", std::string("rank"))).list)) {
    for (const float v : map.values) {
      lower_half += v > 0 && v <= 0.5F ? 1 : 0;
      total += v > 0 ? 1 : 0;
    }
  }
  EXPECT_NEAR(static_cast<double>(lower_half) / static_cast<double>(total), 0.5, 0.05);
}

// The first token is hidden in pooled and in unpooled maps.
TEST(Grid, FirstTokenCanBeHidden) {
  for (const Index length : {10, 500}) {
    const Trace trace = testing::synthetic_trace(1, 2, length);
    LayoutOptions look = look_with("hide_first", true);
    look.width = 1600;
    look.height = 500;
    const ViewLayout layout = lay_out_view(trace, "grid", look);
    for (const HeatMap& map : thumbnails(layout.list)) {
      EXPECT_TRUE(std::isnan(map.values(map.values.dim(0) - 1, 0)) || length > 10);
      EXPECT_EQ(length > 10, map.values.dim(0) < length);  // pooled pixels
      EXPECT_FALSE(std::isnan(map.values(map.values.dim(0) - 1, map.values.dim(1) - 1)));
    }
    EXPECT_TRUE(has_text(layout.list, "column is hidden"));
    EXPECT_EQ(has_text(layout.list, "each pixel shows its largest"), length > 10);
  }
}

// A first token with most of the weight is hidden unless the user shows it.
TEST(Grid, SinkIsHiddenAutomatically) {
  const Trace trace = testing::synthetic_trace(2, 2, 24);
  const auto is_hidden = [](const Trace& run, const LayoutOptions& look) {
    const ViewLayout layout = lay_out_view(run, "grid", look);
    const HeatMap map = thumbnails(layout.list).front();
    const bool hidden = std::isnan(map.values(map.values.dim(0) - 1, 0));
    EXPECT_EQ(has_text(layout.list, "first token hidden"), hidden);
    return hidden;
  };
  LayoutOptions look;
  look.framed = false;
  EXPECT_FALSE(is_hidden(trace, look));
  EXPECT_TRUE(is_hidden(with_sink(trace, 0.7F), look));
  EXPECT_TRUE(has_text(lay_out_view(with_sink(trace, 0.7F), "grid", look).list,
                       "of the weight, at equal attention 12%"));
  // A bar at the left edge of each thumbnail is as high as the head's share.
  const ViewLayout layout = lay_out_view(with_sink(trace, 0.7F), "grid", look);
  const HeatMap map = thumbnails(layout.list).front();
  const auto is_bar = [&](const Item& item) {
    const auto* box = std::get_if<FilledBox>(&item);
    return box != nullptr && box->box.x == map.box.x && box->box.width < 0.2 * map.box.width &&
           std::abs(box->box.bottom() - map.box.bottom()) < 1e-9 &&
           std::abs(box->box.height / map.box.height - 0.73) < 0.04;
  };
  EXPECT_TRUE(std::ranges::any_of(layout.list.items, is_bar));
  EXPECT_TRUE(has_text(layout.list, "bar"));
  set_view_value(look.settings, "grid", "hide_first", false);
  EXPECT_FALSE(is_hidden(with_sink(trace, 0.7F), look));
  set_view_value(look.settings, "grid", "hide_first", true);
  EXPECT_TRUE(is_hidden(trace, look));
}

// The text on the view mentions the left edge only if it can be seen.
TEST(Grid, ReadingFollowsHiddenToken) {
  ViewSettings settings;
  const auto mentions = [&](const char* part) {
    return view("grid").reading(settings, nullptr).text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(mentions("a bright left edge") && mentions("hidden if it outshines"));
  set_view_value(settings, "grid", "hide_first", false);
  EXPECT_TRUE(mentions("a bright left edge") && !mentions("hidden"));
  set_view_value(settings, "grid", "hide_first", true);
  EXPECT_TRUE(!mentions("a bright left edge") && mentions("column is hidden."));
}

// Hidden weights affect neither the per-map scale nor the scale of signed weights.
TEST(Grid, HiddenTokenDoesNotAffectScale) {
  for (const Index length : {10, 500}) {
    Trace trace = testing::synthetic_trace(1, 2, length);
    Tensor& weights = trace.attention[0].result.attention;
    std::vector<float> largest(2);
    for (Index head = 0; head < 2; ++head) {
      float& largest_of_head = largest[static_cast<std::size_t>(head)];
      for (Index i = 0; i < length; ++i) {
        for (Index c = 1; c < length; ++c) {
          largest_of_head = std::max(largest_of_head, weights(head, i, c) *= 0.1F);
        }
        weights(head, i, 0) = 0.9F;
      }
    }
    LayoutOptions look = look_with("hide_first", true);
    look.width = 1600;
    look.height = 500;
    look.settings.colour_end = ColourEnd::Largest;
    set_view_value(look.settings, "grid", "own", true);
    const std::vector<HeatMap> maps = thumbnails(lay_out_view(trace, "grid", look).list);
    ASSERT_EQ(maps.size(), 2u);
    for (std::size_t n = 0; n < 2; ++n) EXPECT_EQ(maps[n].most, static_cast<double>(largest[n]));
    weights(1, length - 1, 1) = -2;
    weights(1, length - 1, 0) = 5;
    for (const bool is_hidden : {true, false}) {
      look = look_with("hide_first", is_hidden);
      look.settings.colour_end = ColourEnd::Largest;
      for (const HeatMap& map : thumbnails(lay_out_view(trace, "grid", look).list)) {
        EXPECT_EQ(map.most, is_hidden ? 2 : 5);
        EXPECT_EQ(map.least, -map.most);
      }
    }
  }
}

// Lays out two heads per layer, sorted by these entropies, as measured on texts of a file.
DisplayList sorted_over_texts(const Trace& trace, const std::vector<double>& entropies) {
  HeadTable table;
  for (const double entropy : entropies) {
    const auto n = static_cast<Index>(table.rows.size());
    HeadTable::Row row{{n / 2, n % 2}, {}};
    row.statistics.entropy = entropy;
    table.rows.push_back(row);
  }
  LayoutOptions look = sorted_by("entropy");
  look.settings.statistics_file = "texts.txt";
  look.heads = &table;
  return lay_out_view(trace, "grid", look).list;
}

TEST(Grid, SortedNumbersAreDistinguishable) {
  const Trace trace = testing::synthetic_trace(2, 2, 10);
  const DisplayList list = sorted_over_texts(trace, {0.06, 0.061, 0.062, 0.063});
  for (const char* number : {"0.060", "0.061", "0.062", "0.063"}) {
    EXPECT_TRUE(has_text(list, number)) << number;
  }
  EXPECT_TRUE(has_text(list, "layer·head"));
}

TEST(Grid, UnmeasuredHeadsDoNotAffectDigits) {
  const Trace trace = testing::synthetic_trace(2, 2, 10);
  const DisplayList list = sorted_over_texts(trace, {0.25, 0.75});  // values of layer 0 only
  std::multiset<std::string> texts;
  for (const Text& text : testing::texts(list)) texts.insert(text.text);
  // At least once: the colour bar may show the same number.
  EXPECT_GE(texts.count("0.25"), 1u);
  EXPECT_GE(texts.count("0.75"), 1u);
  EXPECT_EQ(texts.count("0.250"), 0u);
  EXPECT_EQ(texts.count("–"), 2u);
}

// Clicks the head with a modifier and returns the selection.
HeadList click(const Trace& trace, LayoutOptions& look, std::pair<Index, Index> head, bool adds,
               bool extends) {
  look.pointer.reset();
  const ViewLayout layout = lay_out_view(trace, "grid", look);
  for (const HeatMap& map : thumbnails(layout.list)) {
    const Point middle{map.box.x + map.box.width / 2, map.box.y + map.box.height / 2};
    const auto hit = layout.hit(middle);
    if (hit && std::pair{hit->layer, hit->head} == head) look.pointer = middle;
  }
  look.adds = adds;
  look.extends = extends;
  const ViewLayout hovered = lay_out_view(trace, "grid", look);
  Session session;
  session.view = look.settings;
  for (const Handle& handle : hovered.handles) handle.click(session);
  look.settings = session.view;
  return selected_heads(session.view);
}

TEST(Grid, ClicksWithModifiersSelectHeads) {
  const Trace trace = testing::synthetic_trace(3, 4, 10);
  LayoutOptions look;
  look.framed = false;
  EXPECT_EQ(click(trace, look, {1, 2}, false, false), HeadList());
  EXPECT_EQ(click(trace, look, {1, 2}, true, false), (HeadList{{1, 2}}));
  EXPECT_EQ(click(trace, look, {2, 0}, false, true), (HeadList{{1, 2}, {1, 3}, {2, 0}}));
  EXPECT_EQ(click(trace, look, {1, 3}, true, false), (HeadList{{1, 2}, {2, 0}}));
  EXPECT_EQ(testing::layout_error(lay_out_view(trace, "grid", look).list), "");
}

// A range of sorted heads follows the order of the picture.
TEST(Grid, RangeFollowsTheOrder) {
  const Trace trace = testing::synthetic_trace(3, 4, 20);
  LayoutOptions look = sorted_by("entropy");
  look.framed = false;
  const std::vector<std::pair<Index, Index>> order =
      heads_in_order(lay_out_view(trace, "grid", look));
  click(trace, look, order[2], true, false);
  const HeadList selected = click(trace, look, order[5], false, true);
  EXPECT_EQ(selected, (HeadList{order[2], order[3], order[4], order[5]}));
}

TEST(Grid, ShowsAndExportsOnlySelectedHeads) {
  const Trace trace = testing::synthetic_trace(3, 4, 10);
  LayoutOptions look;
  select_heads(look.settings, {{2, 1}, {0, 3}});
  set_view_value(look.settings, "grid", "only_selected", true);
  const ViewLayout layout = lay_out_view(trace, "grid", look);
  EXPECT_EQ(heads_in_order(layout), (std::vector<std::pair<Index, Index>>{{0, 3}, {2, 1}}));
  EXPECT_TRUE(has_text(layout.list, "2 selected heads"));
  const testing::ViewInputFixture fixture(trace, look.settings);
  const ViewData data = view("grid").data(fixture.input);
  ASSERT_EQ(data.matrices.size(), 2u);
  EXPECT_EQ(data.matrices[0].name, "attention.2.1");
  EXPECT_EQ(data.matrices[0].values(9, 4), trace.attention[2].attention(1)(9, 4));
  select_heads(look.settings, {{7, 1}});
  EXPECT_NE(lay_out_view(trace, "grid", look).refusal, "");
}

// Cached numbers belong to one step of the recurrence.
TEST(Grid, StepsHaveSeparateCaches) {
  const auto trace = testing::run_case("universal-fixed", testing::kIds);
  const auto range_end = [&](Index step, ViewCache* cache) {
    LayoutOptions look;
    look.settings.part.step = step;
    look.settings.colour_end = ColourEnd::Largest;
    look.cache = cache;
    return thumbnails(lay_out_view(*trace, "grid", look).list).front().most;
  };
  ViewCache cache;
  const double first = range_end(1, &cache), second = range_end(2, &cache);
  EXPECT_EQ(first, range_end(1, nullptr));
  EXPECT_EQ(second, range_end(2, nullptr));
  EXPECT_NE(first, second);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
