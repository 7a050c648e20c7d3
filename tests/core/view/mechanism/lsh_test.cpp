#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;

constexpr Index kLength = 14;

Trace run_lsh(const char* parameters = "") {
  return testing::run_model(
      {.variant = std::string(R"({"type": "lsh", "buckets": 4, "rounds": 2)") + parameters + "}",
       .length = kLength});
}

ViewSettings settings_with_head(const char* json, Index head = 1) {
  ViewSettings settings = testing::settings_with("mechanism", json);
  settings.head = head;
  return settings;
}

std::vector<HeatMap> heat_maps(const DisplayList& list) {
  std::vector<HeatMap> result;
  for (const Item& item : list.items) {
    if (const auto* map = std::get_if<HeatMap>(&item)) result.push_back(*map);
  }
  return result;
}

std::vector<ViewData::Matrix> exported_matrices(const Trace& trace, const ViewSettings& settings) {
  const testing::ViewInputFixture fixture(trace, settings);
  return view("mechanism").data(fixture.input).matrices;
}

TEST(LshMechanism, ExportMatchesTrace) {
  const Trace trace = run_lsh();
  const AttentionTap& tap = trace.attention[0];
  const IntTensor& bucket = tap.result.extra_counts.at("lsh.bucket");
  const IntTensor& rank = tap.result.extra_counts.at("lsh.rank");
  for (const Index round : {0, 1}) {
    const auto matrices = exported_matrices(
        trace, settings_with_head(round == 0 ? R"({"round": 1})" : R"({"round": 2})"));
    ASSERT_EQ(matrices.size(), 3u);
    ASSERT_EQ(matrices[0].values.shape(), (Shape{2, kLength}));
    const Tensor weights = tap.attention(1);
    for (Index i = 0; i < kLength; ++i) {
      for (const Index n : {0, 1}) {
        EXPECT_EQ(matrices[0].values(n, i), static_cast<float>(bucket(n, 1, i)));
      }
      EXPECT_EQ(matrices[1].values(0, i), static_cast<float>(rank(round, 1, i)));
      for (Index j = 0; j < kLength; ++j) {
        EXPECT_EQ(matrices[2].values(rank(round, 1, i), rank(round, 1, j)), weights(i, j));
      }
    }
  }
}

// Buckets have distinct colours. Exactly the allowed pairs are coloured or grey.
TEST(LshMechanism, PictureShowsBucketsAndPairs) {
  for (const char* chunk : {"", R"(, "chunk": 3)"}) {
    const Trace trace = run_lsh(chunk);
    const AttentionTap& tap = trace.attention[0];
    const IntTensor& bucket = tap.result.extra_counts.at("lsh.bucket");
    const IntTensor& rank = tap.result.extra_counts.at("lsh.rank");
    LayoutOptions options;
    options.width = 1000;
    options.height = 900;
    options.settings = settings_with_head(R"({"round": 2})");
    const std::vector<HeatMap> maps = heat_maps(lay_out_view(trace, "mechanism", options).list);
    ASSERT_GE(maps.size(), 6u);  // rounds, text, sorted, weights, other pairs, pairs of the round
    const Tensor &rounds = maps[0].values, &text = maps[1].values, &sorted = maps[2].values;
    const Tensor &other_pairs = maps[maps.size() - 2].values, &round_pairs = maps.back().values;
    for (Index i = 0; i < kLength; ++i) {
      EXPECT_EQ(text(0, i), rounds(1, i));
      EXPECT_EQ(sorted(0, rank(1, 1, i)), rounds(1, i));
      for (Index j = 0; j < kLength; ++j) {
        EXPECT_EQ(rounds(1, i) == rounds(1, j), bucket(1, 1, i) == bucket(1, 1, j));
        const bool is_allowed = tap.result.pattern->allowed(1, i, j);
        EXPECT_EQ(is_allowed, !std::isnan(round_pairs(i, j)) || other_pairs(i, j) == 1)
            << i << ", " << j;
        if (std::isnan(round_pairs(i, j))) continue;
        EXPECT_TRUE(std::isnan(other_pairs(i, j)));
        EXPECT_EQ(round_pairs(i, j), rounds(1, i));
        EXPECT_EQ(rounds(1, i), rounds(1, j));
      }
    }
  }
}

TEST(LshMechanism, RoundIsClampedToLast) {
  const Trace trace = run_lsh();
  const auto last = exported_matrices(trace, settings_with_head(R"({"round": 2})"));
  const auto beyond = exported_matrices(trace, settings_with_head(R"({"round": 9})"));
  for (Index i = 0; i < kLength; ++i) EXPECT_EQ(last[1].values(0, i), beyond[1].values(0, i));
}

// The sentence names the token under the pointer and its number of keys.
TEST(LshMechanism, PointerHighlightsToken) {
  const Trace trace = run_lsh();
  const AttentionTap& tap = trace.attention[0];
  LayoutOptions options;
  options.width = 1000;
  options.height = 900;
  options.settings = settings_with_head("{}");
  const Box strip = heat_maps(lay_out_view(trace, "mechanism", options).list)[0].box;
  for (Index i = 0; i < kLength; ++i) {
    const double fraction = (static_cast<double>(i) + 0.5) / kLength;
    options.pointer = Point{strip.x + fraction * strip.width, strip.y + strip.height / 2};
    const std::string expected = "(" + std::to_string(i) + ") at " +
                                 std::to_string(tap.result.pattern->row_size(1, i)) + " of 14";
    bool is_shown = false;
    for (const Text& text : testing::texts(lay_out_view(trace, "mechanism", options).list)) {
      is_shown = is_shown || text.text.find(expected) != std::string::npos;
    }
    EXPECT_TRUE(is_shown) << expected;
  }
}

TEST(LshMechanism, HitReportsPairOfText) {
  const Trace trace = run_lsh();
  LayoutOptions options;
  options.width = 1000;
  options.height = 900;
  options.settings = settings_with_head("{}");
  const ViewLayout layout = lay_out_view(trace, "mechanism", options);
  const std::vector<HeatMap> maps = heat_maps(layout.list);
  // The colour bar and two maps of pairs follow the sorted map.
  const HeatMap& sorted = maps[maps.size() - 4];
  const HeatMap& text = maps.back();
  const IntTensor& rank = trace.attention[0].result.extra_counts.at("lsh.rank");
  const auto cell_centre = [&](const HeatMap& map, Index row, Index column) {
    return Point{map.box.x + (static_cast<double>(column) + 0.5) * map.box.width / kLength,
                 map.box.y + (static_cast<double>(row) + 0.5) * map.box.height / kLength};
  };
  for (const auto& [i, j] : {std::pair<Index, Index>{3, 8}, {13, 0}}) {
    for (const Point p :
         {cell_centre(text, i, j), cell_centre(sorted, rank(0, 1, i), rank(0, 1, j))}) {
      const std::optional<Hit> hit = layout.hit(p);
      ASSERT_TRUE(hit.has_value());
      EXPECT_EQ(hit->query, i);
      EXPECT_EQ(hit->key, j);
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
