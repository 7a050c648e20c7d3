#include <gtest/gtest.h>

#include <algorithm>

#include "core/model/logit_lens.h"
#include "core/view/view.h"
#include "tests/core/view/synthetic.h"

namespace attnscope {
namespace {

using testing::Look;
using testing::look_at;
using testing::synthetic_trace;

Look with_threshold(double threshold) {
  Look look;
  Values values = view_values(look.settings, "depth");
  values.set("threshold", threshold);
  set_view_values(look.settings, "depth", values);
  return look;
}

std::string all_text(const DisplayList& list) {
  std::string all;
  for (const Text& text : testing::texts(list)) all += text.text + "\n";
  return all;
}

TEST(Depth, SaysWhatIsSaved) {
  const Trace trace = synthetic_trace(4, 2, 10);
  const std::string none = all_text(look_at(trace, "depth", with_threshold(1)).list);
  EXPECT_NE(none.find("0 % of the layers saved; 100 % of the tokens"), std::string::npos) << none;
  const std::string most = all_text(look_at(trace, "depth", with_threshold(0)).list);
  EXPECT_NE(most.find("75 % of the layers saved"), std::string::npos) << most;
  EXPECT_NE(most.find("0 (10)"), std::string::npos);  // all ten exit after the first layer
}

TEST(Depth, ColoursTokensByTheirExit) {
  const Trace trace = synthetic_trace(4, 2, 10);
  const auto grounds = [](const DisplayList& list) {
    std::vector<Colour> colours;
    for (const Item& item : list.items) {
      if (const auto* box = std::get_if<FilledBox>(&item)) colours.push_back(box->colour);
    }
    colours.resize(10);  // the tokens come first
    return colours;
  };
  const std::vector<Index> exits = exit_layers(*trace.lens, Confidence::Margin, 0.3);
  const std::vector<Colour> colours = grounds(look_at(trace, "depth", with_threshold(0.3)).list);
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t j = 0; j < 10; ++j) {
      EXPECT_EQ(colours[i] == colours[j], exits[i] == exits[j]) << i << ", " << j;
    }
  }
}

int outlines(const DisplayList& list) {
  int count = 0;
  for (const Item& item : list.items) {
    const auto* box = std::get_if<OutlinedBox>(&item);
    if (box && box->colour == Theme::light().accent) ++count;
  }
  return count;
}

TEST(Depth, SaysWhatMarksMean) {
  const Trace trace = synthetic_trace(4, 2, 19);
  Look look;
  look.framed = false;
  const ViewLayout large = look_at(trace, "depth", look);
  EXPECT_NE(all_text(large.list).find("bold: the last layer's guess"), std::string::npos);
  EXPECT_NE(all_text(large.list).find("outlined: exits here"), std::string::npos);
  EXPECT_EQ(outlines(large.list), 19);
  look.width = 455;
  look.height = 290;  // a window of 1920 x 1080 at scale 2 leaves as much
  const ViewLayout small = look_at(trace, "depth", look);
  EXPECT_NE(all_text(small.list).find("line: where it exits"), std::string::npos);
  EXPECT_EQ(outlines(small.list), 0);  // they would fill the cells
  EXPECT_NE(all_text(small.list).find("margin ≥ 0.3"), std::string::npos);
}

TEST(Depth, HitsAreLayersAndPositions) {
  const Trace trace = synthetic_trace(4, 2, 10);
  const ViewLayout layout = look_at(trace, "depth");
  EXPECT_EQ(layout.rows, 10);
  EXPECT_EQ(layout.columns, 4);
  const Box plot = layout.plot;
  const auto hit = layout.hit({plot.x + 2.5 * plot.width / 4, plot.y + 7.5 * plot.height / 10});
  ASSERT_TRUE(hit.has_value());
  EXPECT_EQ(hit->layer, 2);
  EXPECT_EQ(hit->query, 7);
  EXPECT_EQ(hit->key, -1);
}

TEST(Depth, AsksForPatienceUntilTheLayersHaveSpoken) {
  Trace trace = synthetic_trace(2, 2, 5);
  trace.lens.reset();
  EXPECT_NE(look_at(trace, "depth").refusal.find("One moment"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
