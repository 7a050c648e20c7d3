#include "core/base/home.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Home, DefaultsToSourceFolder) {
  ::unsetenv("ATTNSCOPE_HOME");
  EXPECT_EQ(home_folder().string(), testing::source_folder().string());
  ::setenv("ATTNSCOPE_HOME", "/somewhere/else", 1);
  EXPECT_EQ(home_folder(), "/somewhere/else");
  ::setenv("ATTNSCOPE_HOME", "", 1);
  EXPECT_EQ(home_folder().string(), testing::source_folder().string());
  ::unsetenv("ATTNSCOPE_HOME");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
