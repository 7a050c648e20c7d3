#include "app/command/error_text.h"

#include <gtest/gtest.h>

#include "core/model/memory_need.h"

namespace attnscope::command {
namespace ATTNSCOPE_FILE {

TEST(CommandErrorText, NamesOptionsThatReduceMemory) {
  constexpr double kMega = 1024.0 * 1024;
  MemoryNeed need{.bytes = 1024 * kMega,
                  .budget = 256 * kMega,
                  .length = "200,000 tokens",
                  .largest = {{"recorded activations"}, 476 * kMega},
                  .remedy = {MemoryRemedy::Kind::Tokens, 48770}};
  const std::string start =
      "memory: recorded activations: 476 MB of 1 GB for 200,000 tokens; the budget is 256 MB "
      "(--memory); expected at most ";
  EXPECT_EQ(error_text(MemoryNeedError(need)), start + "48770 tokens (--max-tokens)");
  need.remedy = {MemoryRemedy::Kind::Sequences, 3};
  EXPECT_EQ(error_text(MemoryNeedError(need)),
            start + "3 sequences at a time (--micro-batch-size)");
  EXPECT_EQ(error_text(BudgetError<InputError>("m: its weights need 2 GB")),
            "m: its weights need 2 GB (--memory)");
  EXPECT_EQ(error_text(InputError("text: found none")), "text: found none");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::command
