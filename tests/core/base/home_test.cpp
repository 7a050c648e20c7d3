#include "core/base/home.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace attnscope {
namespace {

TEST(Home, IsTheSourceFolderUnlessSaidOtherwise) {
  ::unsetenv("ATTNSCOPE_HOME");
  EXPECT_EQ(home_folder(), ATTNSCOPE_SOURCE_DIR);
  ::setenv("ATTNSCOPE_HOME", "/somewhere/else", 1);
  EXPECT_EQ(home_folder(), "/somewhere/else");
  ::setenv("ATTNSCOPE_HOME", "", 1);
  EXPECT_EQ(home_folder(), ATTNSCOPE_SOURCE_DIR);
  ::unsetenv("ATTNSCOPE_HOME");
}

}  // namespace
}  // namespace attnscope
