#include <gtest/gtest.h>

#include "app/window/window.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

TEST(Tour, OpensOnFirstStartWithoutArguments) {
  WindowOptions plain;
  EXPECT_TRUE(starts_tour(plain, false));
  EXPECT_FALSE(starts_tour(plain, true));
  WindowOptions with_file, with_lesson;
  with_file.open = "attention.npy";
  with_lesson.lesson = "rope";
  EXPECT_FALSE(starts_tour(with_file, false));
  EXPECT_FALSE(starts_tour(with_lesson, false));
  with_file.tour = true;  // explicit request
  plain.tour = false;
  EXPECT_TRUE(starts_tour(with_file, true));
  EXPECT_FALSE(starts_tour(plain, false));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
