#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/experiment/head_table.h"
#include "tests/core/view/synthetic.h"

namespace attnscope {
namespace {

using testing::Look;
using testing::look_at;

// Thumbnails are the heat maps but the last, which is the colour bar.
std::vector<HeatMap> thumbnails(const DisplayList& list) {
  std::vector<HeatMap> maps;
  for (const Item& item : list.items) {
    if (const HeatMap* map = std::get_if<HeatMap>(&item)) maps.push_back(*map);
  }
  maps.pop_back();
  return maps;
}

TEST(Grid, EachHeadIsHit) {
  const ViewLayout layout = look_at(testing::synthetic_trace(3, 4, 10), "grid");
  const std::vector<HeatMap> maps = thumbnails(layout.list);
  ASSERT_EQ(maps.size(), 12u);
  std::set<std::pair<Index, Index>> seen;
  for (const HeatMap& map : maps) {
    const auto hit = layout.hit({map.box.x + map.box.width / 2, map.box.y + map.box.height / 2});
    ASSERT_TRUE(hit.has_value());
    seen.insert({hit->layer, hit->head});
    EXPECT_FALSE(layout.hit({map.box.x - 1, map.box.y - 1}).has_value());  // the gap
  }
  EXPECT_EQ(seen.size(), 12u);
}

TEST(Grid, TellsAnAudienceWhichHeadIsPointedAt) {
  const Trace trace = testing::synthetic_trace(2, 3, 6);
  const auto says = [&](const Look& look) {
    const std::vector<Text> all = testing::texts(look_at(trace, "grid", look).list);
    return std::any_of(all.begin(), all.end(),
                       [](const Text& t) { return t.text == "layer 1, head 2"; });
  };
  Look look;
  look.pointer = Point{0, 0};
  EXPECT_FALSE(says(look));
  const ViewLayout layout = look_at(trace, "grid", look);
  for (double y = 1; y < look.height; y += 5) {
    for (double x = 1; x < look.width; x += 5) {
      const auto hit = layout.hit({x, y});
      if (hit && hit->layer == 1 && hit->head == 2) look.pointer = Point{x, y};
    }
  }
  EXPECT_TRUE(says(look));
  look.framed = false;  // beside the window's panels
  EXPECT_FALSE(says(look));
}

TEST(Grid, LayersOfDifferentShapes) {
  Trace trace = testing::synthetic_trace(2, 4, 10);
  trace.attention[1] = testing::synthetic_tap(1, 2, Pattern::all(10, 14));
  const ViewLayout layout = look_at(trace, "grid");
  const std::vector<HeatMap> maps = thumbnails(layout.list);
  ASSERT_EQ(maps.size(), 6u);
  EXPECT_EQ(maps[5].width, 14);
  EXPECT_EQ(testing::fault(layout.list), "");
  // Where layer 1 has no head there is nothing to hit.
  const Box last = maps[3].box, below = maps[4].box;
  EXPECT_FALSE(layout.hit({last.x + 5, below.y + 5}).has_value());
}

TEST(Grid, HeadGroupsShareALayer) {
  Trace trace = testing::synthetic_trace(1, 2, 6);
  AttentionTap second = testing::synthetic_tap(0, 2, Pattern::causal(6, 6));
  second.address.group = 1;
  second.heads = {2, 3};
  trace.attention.push_back(second);
  EXPECT_EQ(thumbnails(look_at(trace, "grid").list).size(), 4u);
}

TEST(Grid, SharedOrOwnScale) {
  const Trace trace = testing::synthetic_trace(2, 2, 10);
  Look look;
  for (const HeatMap& map : thumbnails(look_at(trace, "grid", look).list)) EXPECT_EQ(map.most, 1);
  Trace flat = trace;
  flat.attention[0].result.attention = Tensor::full({2, 10, 10}, 0.1f);
  look.settings.normalise = true;
  const std::vector<HeatMap> maps = thumbnails(look_at(flat, "grid", look).list);
  EXPECT_EQ(maps[0].most, 0.1f);
  EXPECT_EQ(maps[2].most, 1);
}

TEST(Grid, ManyHeads) {
  const Trace trace = testing::synthetic_trace(24, 32, 5);
  const ViewLayout layout = look_at(trace, "grid");
  EXPECT_EQ(thumbnails(layout.list).size(), 24u * 32u);
  EXPECT_EQ(testing::fault(layout.list), "");
}

Look sorted_by(const std::string& measure, bool ascending = false) {
  Look look;
  Values values = default_values(view("grid").parameters);
  values.set("sort", measure);
  values.set("ascending", ascending);
  set_view_values(look.settings, "grid", values);
  return look;
}

// Layer and head of the thumbnails in the order of reading.
std::vector<std::pair<Index, Index>> order(const ViewLayout& layout) {
  std::vector<std::pair<Index, Index>> heads;
  for (const HeatMap& map : thumbnails(layout.list)) {
    const auto hit = layout.hit({map.box.x + map.box.width / 2, map.box.y + map.box.height / 2});
    heads.emplace_back(hit ? hit->layer : -1, hit ? hit->head : -1);
  }
  return heads;
}

TEST(Grid, SortsByWhatHeadsDo) {
  const Trace trace = testing::synthetic_trace(3, 4, 20);
  for (const HeadMeasure& measure : head_measures()) {
    for (const bool ascending : {false, true}) {
      const ViewLayout layout = look_at(trace, "grid", sorted_by(measure.id, ascending));
      EXPECT_EQ(testing::fault(layout.list), "") << measure.id;
      const std::vector<std::pair<Index, Index>> heads = order(layout);
      ASSERT_EQ(heads.size(), 12u);
      const HeadTable table = head_table(trace);
      double before = ascending ? -1e9 : 1e9;
      for (const auto& [layer, head] : heads) {
        const double value = table.find(layer, head)->*measure.value;
        if (std::isnan(value)) continue;
        EXPECT_TRUE(ascending ? value >= before - 1e-6 : value <= before + 1e-6) << measure.id;
        before = value;
      }
    }
  }
}

TEST(Grid, LimitsLeaveHeadsOut) {
  const Trace trace = testing::synthetic_trace(3, 4, 20);
  const HeadTable table = head_table(trace);
  std::vector<double> values;
  for (const HeadTable::Row& row : table.rows) values.push_back(row.statistics.entropy);
  std::sort(values.begin(), values.end());
  Look look = sorted_by("entropy");
  Values options = view_values(look.settings, "grid");
  options.set("at_least", (values[4] + values[5]) / 2);
  set_view_values(look.settings, "grid", options);
  EXPECT_EQ(order(look_at(trace, "grid", look)).size(), 7u);
  options.set("at_most", 0.0);
  set_view_values(look.settings, "grid", options);
  EXPECT_NE(look_at(trace, "grid", look).refusal, "");
}

}  // namespace
}  // namespace attnscope
