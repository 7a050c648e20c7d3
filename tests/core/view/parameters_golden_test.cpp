#include <gtest/gtest.h>

#include "core/view/view.h"
#include "tests/support/golden.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Views, ParametersMatchGolden) {
  std::string text;
  for (const View& v : views()) {
    text += v.id +
            testing::describe({{"zooms", v.cells.zoom},
                               {"merges_words", v.cells.merge_words},
                               {"shows_reference", v.shows_reference()}}) +
            "\n" + testing::describe(v.options.parameters);
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/view/views.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
