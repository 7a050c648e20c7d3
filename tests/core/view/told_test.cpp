#include "tests/support/told.h"

#include <gtest/gtest.h>

#include "core/view/view.h"

namespace attnscope {
namespace {

TEST(Views, AreAsTold) {
  std::string text;
  for (const View& v : views()) {
    text += v.id +
            testing::told({{"zooms", v.zooms},
                           {"merges_words", v.merges_words},
                           {"shows_reference", v.shows_reference()}}) +
            "\n" + testing::told(v.parameters);
  }
  EXPECT_TRUE(testing::is_as_told(text, "core/view/views.txt"));
}

}  // namespace
}  // namespace attnscope
