#include "core/base/near_match.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(NearMatch, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("local", "local"), 0);
  EXPECT_EQ(edit_distance("loca", "local"), 1);
  EXPECT_EQ(edit_distance("lcoal", "local"), 1);
  EXPECT_EQ(edit_distance("Local", "lokal"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(NearMatch, FindsMisspeltAndUnfinishedNames) {
  const std::vector<std::string> names = {"full", "local", "block_local", "linear", "linformer"};
  EXPECT_EQ(near_match("loca", names), "local");
  EXPECT_EQ(near_match("LOCAL", names), "local");
  EXPECT_EQ(near_match("liner", names), "linear");
  EXPECT_EQ(near_match("lin", names), "linear");  // the first of two
  EXPECT_EQ(near_match("block", names), "block_local");
  EXPECT_EQ(near_match("sparse", names), "");
  EXPECT_EQ(near_match("x", names), "");
  EXPECT_EQ(near_match("", names), "");
  EXPECT_EQ(near_match(std::string(1000, 'l'), names), "");
}

TEST(NearMatch, SuggestsNameAtEndOfMessage) {
  EXPECT_EQ(suggestion("fulll", {"full"}), "; did you mean \"full\"?");
  EXPECT_EQ(suggestion("none", {"full"}), "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
