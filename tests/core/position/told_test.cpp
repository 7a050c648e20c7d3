#include "tests/support/told.h"

#include <gtest/gtest.h>

#include "core/position/encoding.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Encodings, AreAsTold) {
  std::string text;
  for (const Encoding& e : encodings()) {
    text += testing::told(e, {{"of_steps", e.of_steps},
                              {"absolute", e.absolute},
                              {"embeds", static_cast<bool>(e.embed)}});
  }
  EXPECT_TRUE(testing::is_as_told(text, "core/position/encodings.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
