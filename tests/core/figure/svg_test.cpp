#include "core/figure/svg.h"

#include <gtest/gtest.h>

#include "tests/support/picture.h"

namespace attnscope {
namespace {

TEST(Svg, IsWellFormedAndHoldsRealText) {
  DisplayList list;
  list.width = 200;
  list.height = 100;
  HeatMap map;
  map.box = {10, 10, 50, 50};
  map.values = Tensor::full({2, 2}, 0.5f);
  map.width = map.height = 2;
  list.items = {FilledBox{{0, 0, 10, 10}, {255, 0, 0, 128}, 2},
                OutlinedBox{{0, 0, 10, 10}, {}, 1},
                Line{{{1, 2}, {3, 4}}, {}, 1},
                Clip{Box{0, 0, 100, 100}},
                map,
                Clip{},
                Clip{},  // one too many must not break the nesting
                Clip{Box{0, 0, 50, 50}},
                Text{{5, 5}, "tokens <s> & \"q\" \xE4 \xC3\xA4", {}, 13, Align::End, 90, true}};
  const std::string svg = encode_svg(list, {{"Title", "a < b"}, {"Experiment", "{\"a\": 1}"}});
  EXPECT_EQ(testing::xml_fault(svg), "");
  EXPECT_NE(svg.find(">tokens &lt;s&gt; &amp; &quot;q&quot; \xEF\xBF\xBD \xC3\xA4</text>"),
            std::string::npos);
  EXPECT_NE(svg.find("<title>a &lt; b</title>"), std::string::npos);
  EXPECT_NE(svg.find("data:image/png;base64,"), std::string::npos);
  EXPECT_NE(svg.find("rotate(-90"), std::string::npos);
  EXPECT_NE(svg.find("viewBox=\"0 0 200.00 100.00\""), std::string::npos);
}

TEST(Svg, TheCheckItselfFindsFaults) {
  const std::string head = "<?xml version=\"1.0\"?>";
  EXPECT_EQ(testing::xml_fault(head + "<a><b c=\"1\"/>x &amp; y</a>"), "");
  EXPECT_NE(testing::xml_fault(head + "<a><b></a>"), "");
  EXPECT_NE(testing::xml_fault(head + "<a>"), "");
  EXPECT_NE(testing::xml_fault(head + "<a>&</a>"), "");
  EXPECT_NE(testing::xml_fault(head + "<a b=c/>"), "");
}

}  // namespace
}  // namespace attnscope
