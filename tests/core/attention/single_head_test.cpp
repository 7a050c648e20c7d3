// A part with a single head computes the same as this head in the whole part.
#include "core/attention/single_head.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/attention/backend.h"
#include "core/attention/variant.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::OperationSizes;

TEST(SingleHead, MatchesTheOperation) {
  const Wanted wanted{.output = true, .attention = true};
  int count = 0, with_head_patterns = 0, with_head_positions = 0;
  std::uint64_t seed = 0;
  for (const Variant& v : variants()) {
    for (const Values& values : testing::value_cases(v.parameters)) {
      const Choice choice = testing::small_choice(v, values);
      for (const Encoding& e : encodings()) {
        const Choice encoding_choice{e.id, default_values(e.parameters)};
        OperationSizes sizes;
        sizes.heads = 4;
        sizes.inner = 8;
        const bool causal = v.causality.refusal.empty();
        if (!refusal(choice, encoding_choice, causal, testing::dimensions(sizes), 16, 16).empty()) {
          continue;
        }
        const OperationInput in =
            testing::random_operation(sizes, choice, encoding_choice, causal, ++seed);
        const OperationResult whole = evaluate(in, cpu_backend(), wanted);
        if (whole.part == nullptr) continue;
        SCOPED_TRACE(testing::describe(in));
        const PartResult expected = cpu_backend().run(*whole.part, wanted);
        for (Index head = 0; head < 4; ++head) {
          const Part single = single_head(*whole.part, head);
          const PartResult result = cpu_backend().run(single, wanted);
          EXPECT_TRUE(close(result.attention, expected.attention.slice(head, 1), 1e-6)) << head;
          EXPECT_TRUE(close(result.output, expected.output.slice(head, 1), 1e-5)) << head;
          ++count;
        }
        with_head_patterns += whole.part->pattern->heads() > 1;
        with_head_positions += static_cast<Index>(whole.part->pos_k.size()) > whole.part->keys();
      }
    }
  }
  EXPECT_GE(count, 200);
  EXPECT_GE(with_head_patterns, 3);
  EXPECT_GE(with_head_positions, 1);
}

TEST(SingleHead, RequiresBatchOfOne) {
  OperationSizes sizes;
  sizes.batch = 2;
  const OperationInput in =
      testing::random_operation(sizes, default_variant(), default_encoding(), true, 3);
  const OperationResult whole = evaluate(in, cpu_backend(), {.output = true, .tiles = true});
  ASSERT_NE(whole.part, nullptr);
  EXPECT_THROW(single_head(*whole.part, 0), std::logic_error);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
