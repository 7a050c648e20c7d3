#include <gtest/gtest.h>

#include "app/window/window.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

TEST(Tour, OpensOnFirstStartWithoutArguments) {
  WindowOptions options;
  EXPECT_TRUE(starts_tour(options, false));
  EXPECT_FALSE(starts_tour(options, true));
  WindowOptions file_options, lesson_options;
  file_options.open = "attention.npy";
  lesson_options.lesson = "rope";
  EXPECT_FALSE(starts_tour(file_options, false));
  EXPECT_FALSE(starts_tour(lesson_options, false));
  file_options.tour = true;  // explicit request
  options.tour = false;
  EXPECT_TRUE(starts_tour(file_options, true));
  EXPECT_FALSE(starts_tour(options, false));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
