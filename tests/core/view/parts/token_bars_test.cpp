#include "core/view/parts/token_bars.h"

#include <gtest/gtest.h>

#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Labels = std::vector<std::string>;

// Labels without their space markers can be equal; quotes show the space.
TEST(TokenBars, LabelsAreDistinct) {
  const Trace trace;
  testing::ViewInputFixture fixture(trace, {});
  const Page page(fixture.input);
  EXPECT_EQ(distinct_labels(page, {"␣She", "The", "She"}), (Labels{"“ She”", "The", "“She”"}));
  EXPECT_EQ(distinct_labels(page, {"␣She", "␣The", "␣"}), (Labels{"␣She", "␣The", "␣"}));
  EXPECT_EQ(distinct_labels(page, {"a", "a"}), (Labels{"a", "a"}));
  fixture.session.view.space_markers = true;  // the markers are shown
  EXPECT_EQ(distinct_labels(page, {"␣She", "She"}), (Labels{"␣She", "She"}));
}

TEST(TokenBars, TitleStatesValueOfFullBar) {
  const Trace trace;
  testing::ViewInputFixture fixture(trace, {});
  const auto drawn = [&](double width, double most) {
    Page page(fixture.input);
    draw_bars_title(page, {0, 0, width, 20}, {"A long title of bars", "Bars"}, most);
    return testing::all_text(page.take(20));
  };
  EXPECT_EQ(drawn(900, 0.031), "A long title of bars\nfull bar: 3.1%\n");
  EXPECT_EQ(drawn(900, 1), "A long title of bars\n");
  EXPECT_EQ(drawn(180, 0.031), "A long title of bars\nto 3.1%\n");
  EXPECT_EQ(drawn(40, 0.031), "Bars\n");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
