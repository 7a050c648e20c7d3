#include "core/base/lower_case.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(LowerCase, ChangesOnlyAsciiLetters) {
  EXPECT_EQ(lower_case("@AZ[`az{ 09ÄÉ\xff"), "@az[`az{ 09ÄÉ\xff");
  EXPECT_EQ(lower_case('Q'), 'q');
  EXPECT_EQ(lower_case('\xC4'), '\xC4');  // "Ä" in Latin-1
}

TEST(LowerCase, ExtensionIsAfterLastDotOfFileName) {
  EXPECT_EQ(lower_extension("A.B/Model.tar.NPZ"), ".npz");
  EXPECT_EQ(lower_extension("A.B/README"), "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
