#include "core/view/parts/colour_bar.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/figure/colour_map.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(ColourBar, LogarithmicPositionsSpanTheRange) {
  ColourRange range;
  range.scale = ColourRange::Scale::Log;
  range.most = 0.5;
  range.smallest = 1e-3;
  EXPECT_EQ(range.position(0), 0);
  EXPECT_EQ(range.position(1e-5), 0);
  EXPECT_NEAR(range.position(0.5), 1, 1e-12);
  EXPECT_EQ(range.position(7), 1);
  EXPECT_TRUE(std::isnan(range.position(std::nan(""))));
  range.colour_map = "vik";  // diverging
  EXPECT_EQ(range.position(0), 0.5);
  EXPECT_NEAR(range.position(-0.5), 0, 1e-12);
}

TEST(ColourBar, LinearRangeLabelsItsEnds) {
  const auto texts = [](const ColourRange& range) {
    std::vector<std::string> list;
    for (const Tick& tick : ticks_of(range, 1)) list.push_back(tick.text);
    return list;
  };
  EXPECT_EQ(texts({-14.2, 14.2, "vik"}), (std::vector<std::string>{"-14", "0", "14"}));
  EXPECT_EQ(texts({0, 0.37, "viridis"}), (std::vector<std::string>{"0", "0.37"}));
}

TEST(ColourBar, RankPositionsAreEvenlySpaced) {
  Tensor numbers = Tensor::zeros({10, 10});
  for (Index i = 0; i < 100; ++i)
    numbers[i] = i < 50 ? 0.0F : std::pow(2.0F, static_cast<float>(-i));
  ColourRange range;
  range.scale = ColourRange::Scale::Rank;
  range.ranked = sampled_ranks(numbers);
  ASSERT_EQ(range.ranked.size(), 50u);
  EXPECT_EQ(range.position(0), 0);
  for (Index i = 50; i < 100; ++i) {
    const double expected = static_cast<double>(100 - i) / 50;
    EXPECT_NEAR(range.position(static_cast<double>(numbers[i])), expected, 1e-12);
  }
}

// Each tick is at the colour of its number.
TEST(ColourBar, TicksMatchTheirValues) {
  for (const auto scale :
       {ColourRange::Scale::Linear, ColourRange::Scale::Log, ColourRange::Scale::Rank}) {
    for (const char* map : {"viridis", "vik"}) {
      ColourRange range;
      range.scale = scale;
      range.colour_map = map;
      range.least = std::string(map) == "vik" ? -1 : 0;
      for (int i = 1; i <= 64; ++i) range.ranked.push_back(static_cast<float>(i) / 64);
      const std::vector<Tick> ticks = ticks_of(range, 8);
      EXPECT_GE(ticks.size(), 3u);
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        EXPECT_TRUE(i == 0 || ticks[i].position > ticks[i - 1].position);
        std::string text = ticks[i].text;
        if (text.starts_with("±")) continue;  // middle of a diverging logarithmic scale
        const bool negative = text.starts_with("−");
        if (negative) text.erase(0, std::string("−").size());
        const double number = (negative ? -1 : 1) * std::stod(text);
        EXPECT_NEAR(range.position(number), ticks[i].position, 0.02) << map << " " << text;
      }
    }
  }
}

TEST(ColourBar, RangeLabelsItsMinimum) {
  const std::vector<Tick> ticks = ticks_of({0.02, 0.5, "viridis"}, 8);
  ASSERT_GE(ticks.size(), 3u);
  EXPECT_EQ(ticks.front().position, 0);
  EXPECT_EQ(ticks.front().text, "0.02");
  EXPECT_GE(ticks[1].position, 0.5 / 8);  // far enough from the minimum
  EXPECT_EQ(ticks_of({0, 0.5, "viridis"}, 8).front().text.substr(0, 1), "0");
}

TEST(ColourBar, NumbersAreNeverCut) {
  const Trace trace = testing::synthetic_trace(1, 1, 5);
  testing::ViewInputFixture fixture(trace, {});
  fixture.input.canvas.width = fixture.input.canvas.height = 400;
  for (const auto scale :
       {ColourRange::Scale::Linear, ColourRange::Scale::Log, ColourRange::Scale::Rank}) {
    for (const double maximum : {0.0109, 1.0, 0.00123, 14.2, 123456.0}) {
      for (const char* colours : {"viridis", "vik"}) {
        const double minimum = colour_map(colours).diverging() ? -maximum : 0;
        ColourRange range{minimum, maximum, colours, scale, maximum / 1e4};
        range.ranked = {static_cast<float>(maximum / 7), static_cast<float>(maximum)};
        Page page(fixture.input);
        const double em = page.em();
        const Box box{100, 50, colour_bar_width(page), 300};
        draw_colour_bar(page, box, range, {"attention weight"});
        const DisplayList list = page.take(400);
        EXPECT_EQ(testing::layout_error(list), "") << maximum << colours;
        for (const Text& text : testing::texts(list)) {
          EXPECT_EQ(text.text.find("…"), std::string::npos) << text.text;
          EXPECT_LE(testing::extent(text).right(), box.right() + (maximum < 100 ? 1 : em))
              << text.text;
        }
      }
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
