#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include "core/position/encoding.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Encodings, MatchGolden) {
  std::string text;
  for (const Encoding& e : encodings()) {
    text += testing::describe(e, {{"of_steps", e.uses_step},
                                  {"absolute", e.absolute},
                                  {"embeds", static_cast<bool>(e.embed)}});
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/position/encodings.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
