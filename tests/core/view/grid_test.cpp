#include <gtest/gtest.h>

#include <set>

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

}  // namespace
}  // namespace attnscope
