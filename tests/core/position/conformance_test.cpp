// Compares encodings with the cases of tests/conformance, whose results were computed from the
// equations alone.
#include "tests/support/conformance.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Encodings, MatchConformanceCases) {
  int count = 0;
  for (const std::string& name : testing::conformance_names()) {
    if (!name.starts_with("position-")) continue;
    SCOPED_TRACE(name);
    testing::expect_conformance(name);
    ++count;
  }
  EXPECT_GE(count, 30);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
