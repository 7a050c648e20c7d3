// Compares variants with tests/conformance, whose results were computed from the equations alone.
#include "tests/support/conformance.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Variants, MatchConformanceCases) {
  int count = 0;
  for (const std::string& name : testing::conformance_names()) {
    if (name.starts_with("position-")) continue;  // see tests/core/position
    SCOPED_TRACE(name);
    testing::expect_conformance(name);
    ++count;
  }
  EXPECT_GE(count, 100);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
