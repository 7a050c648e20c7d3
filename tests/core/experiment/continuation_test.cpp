#include "core/experiment/continuation.h"

#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// A model without end tokens ends at its start token. With end tokens, the start token may recur.
TEST(Continuation, StopsAtEndTokenOfModel) {
  Checkpoint checkpoint =
      load_checkpoint((testing::source_folder() / "tests" / "layouts" / "bart").string());
  RunSpec spec;
  spec.ids = {5, 6, 7};
  const auto end_ids = [&] {
    return continuation(checkpoint, checkpoint.model.config, spec, -1).ends;
  };
  ASSERT_FALSE(checkpoint.end_tokens.empty());
  EXPECT_EQ(end_ids(), checkpoint.end_tokens);
  checkpoint.end_tokens.clear();
  const auto start =
      static_cast<std::int32_t>(checkpoint.model.config.architecture.values.integer("start"));
  EXPECT_EQ(end_ids(), std::vector<std::int32_t>{start});
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
