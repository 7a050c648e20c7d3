// single_head(part, head) gives the same results as `part` gives for `head`.
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
  const ResultRequest wanted{.output = true, .attention = true};
  int count = 0, head_pattern_count = 0, head_position_count = 0;
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
        const OperationInput input =
            testing::random_operation(sizes, choice, encoding_choice, causal, ++seed);
        const OperationResult operation_result = evaluate(input, cpu_backend(), wanted);
        if (operation_result.part == nullptr) continue;
        SCOPED_TRACE(testing::describe(input));
        const PartResult expected = cpu_backend().run(*operation_result.part, wanted);
        for (Index head = 0; head < 4; ++head) {
          const Part single = single_head(*operation_result.part, head);
          const PartResult result = cpu_backend().run(single, wanted);
          EXPECT_TRUE(close(result.attention, expected.attention.slice(head, 1), 1e-6)) << head;
          EXPECT_TRUE(close(result.output, expected.output.slice(head, 1), 1e-5)) << head;
          ++count;
        }
        head_pattern_count += operation_result.part->pattern->heads() > 1;
        head_position_count +=
            static_cast<Index>(operation_result.part->pos_k.size()) > operation_result.part->keys();
      }
    }
  }
  EXPECT_GE(count, 200);
  EXPECT_GE(head_pattern_count, 3);
  EXPECT_GE(head_position_count, 1);
}

TEST(SingleHead, RequiresBatchOfOne) {
  OperationSizes sizes;
  sizes.batch = 2;
  const OperationInput input =
      testing::random_operation(sizes, default_variant(), default_encoding(), true, 3);
  const OperationResult result = evaluate(input, cpu_backend(), {.output = true, .tiles = true});
  ASSERT_NE(result.part, nullptr);
  EXPECT_THROW(single_head(*result.part, 0), std::logic_error);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
