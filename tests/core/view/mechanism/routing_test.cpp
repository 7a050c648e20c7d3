#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;

constexpr Index kLength = 14;

Trace run_routing(bool is_shared) {
  return testing::run_model({.variant = std::string(R"({"type": "routing", "clusters": 3)") +
                                        (is_shared ? R"(, "shared": true})" : "}"),
                             .length = kLength});
}

ViewSettings settings_of_head(Index head) {
  ViewSettings settings = testing::settings_with("mechanism", "{}");
  settings.head = head;
  return settings;
}

TEST(RoutingMechanism, ExportMatchesTrace) {
  for (const bool is_shared : {false, true}) {
    const Trace trace = run_routing(is_shared);
    const AttentionTap& tap = trace.attention[0];
    const IntTensor& query = tap.result.extra_counts.at("routing.query_cluster");
    const IntTensor& key = tap.result.extra_counts.at("routing.key_cluster");
    const testing::ViewInputFixture fixture(trace, settings_of_head(1));
    const auto matrices = view("mechanism").data(fixture.input).matrices;
    ASSERT_EQ(matrices.size(), 3u);
    const Tensor &clusters = matrices[0].values, &loads = matrices[1].values;
    ASSERT_EQ(clusters.shape(), (Shape{is_shared ? 1 : 2, kLength}));
    ASSERT_EQ(loads.shape(), (Shape{is_shared ? 1 : 2, 3}));
    float total_load = 0;
    std::vector<Index> counted(3, 0);
    for (Index i = 0; i < kLength; ++i) {
      EXPECT_EQ(clusters(0, i), static_cast<float>(query(1, i)));
      EXPECT_EQ(clusters(is_shared ? 0 : 1, i), static_cast<float>(key(1, i)));
      ++counted[static_cast<std::size_t>(query(1, i))];
    }
    for (Index c = 0; c < 3; ++c) {
      EXPECT_EQ(loads(0, c), static_cast<float>(counted[static_cast<std::size_t>(c)]));
      total_load += loads(0, c);
    }
    EXPECT_EQ(total_load, static_cast<float>(kLength));
    // The sorted map has the rows of the text, sorted by cluster, then by text order.
    const Tensor weights = tap.attention(1);
    Index row = 0;
    for (Index c = 0; c < 3; ++c) {
      for (Index i = 0; i < kLength; ++i) {
        if (query(1, i) != c) continue;
        Index column = 0;
        for (Index d = 0; d < 3; ++d) {
          for (Index j = 0; j < kLength; ++j) {
            if (key(1, j) != d) continue;
            EXPECT_EQ(matrices[2].values(row, column++), weights(i, j));
          }
        }
        ++row;
      }
    }
    EXPECT_EQ(row, kLength);
  }
}

// All weights of the sorted map lie within the outlined blocks.
TEST(RoutingMechanism, BlocksContainAllWeights) {
  const Trace trace = run_routing(false);
  LayoutOptions options;
  options.width = 1000;
  options.height = 800;
  options.settings = settings_of_head(0);
  const DisplayList list = lay_out_view(trace, "mechanism", options).list;
  const HeatMap* map = nullptr;
  std::vector<Box> blocks;
  for (const Item& item : list.items) {
    const auto* cells = std::get_if<HeatMap>(&item);
    if (cells != nullptr && !cells->hollow && cells->values.dim(0) == kLength) map = cells;
    const auto* outline = std::get_if<OutlinedBox>(&item);
    if (map != nullptr && outline != nullptr) blocks.push_back(outline->box);
  }
  ASSERT_NE(map, nullptr);
  for (Index i = 0; i < kLength; ++i) {
    for (Index j = 0; j < kLength; ++j) {
      if (map->values(i, j) == 0) continue;
      const Point p{map->box.x + (static_cast<double>(j) + 0.5) / kLength * map->box.width,
                    map->box.y + (static_cast<double>(i) + 0.5) / kLength * map->box.height};
      EXPECT_TRUE(std::ranges::any_of(
          blocks, [&](const Box& b) { return b.width < map->box.width && b.contains(p); }))
          << i << ", " << j;
    }
  }
}

TEST(RoutingMechanism, PointerReportsTokenAndCluster) {
  const Trace trace = run_routing(true);
  const IntTensor& query = trace.attention[0].result.extra_counts.at("routing.query_cluster");
  LayoutOptions options;
  options.width = 1000;
  options.height = 800;
  options.settings = settings_of_head(1);
  options.settings.pinned_query = 5;
  bool is_shown = false;
  for (const Text& text : testing::texts(lay_out_view(trace, "mechanism", options).list)) {
    is_shown = is_shown || text.text.ends_with("in cluster " + std::to_string(query(1, 5)));
  }
  EXPECT_TRUE(is_shown);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
