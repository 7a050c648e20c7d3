#include "app/window/error_text.h"

#include <gtest/gtest.h>

#include "core/attention/variant.h"
#include "core/model/memory_need.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

constexpr double kMega = 1024.0 * 1024, kGiga = 1024 * kMega;

const Parameter& features() {
  return *std::ranges::find(variant("performer").parameters, "features", &Parameter::key);
}

MemoryNeed need_of(const MemoryRemedy& remedy) {
  return {.bytes = 68 * kGiga,
          .budget = 256 * kMega,
          .length = "100 tokens",
          .largest = {{"Performer", &features(), 3000000}, 67 * kGiga},
          .remedy = remedy};
}

TEST(ErrorText, NamesMenuAndLabelsOfControls) {
  const std::string start =
      "This requires 68 GB of memory for 100 tokens, 67 GB of it for Performer with Features "
      "3,000,000. At most 256 MB are allowed (menu Window, Memory). ";
  using Kind = MemoryRemedy::Kind;
  const auto text = [](const MemoryRemedy& remedy) {
    return error_text(MemoryNeedError(need_of(remedy)));
  };
  EXPECT_EQ(text({Kind::Parameter, 11009, &features()}), start + "Features up to 11,009 would fit");
  EXPECT_EQ(text({Kind::Tokens, 48770}), start + "A text of up to 48,770 tokens would fit");
  EXPECT_EQ(text({.other = "a smaller model or a larger budget"}),
            start + "Use a smaller model or a larger budget");
  EXPECT_EQ(error_text(BudgetError<WorkError>("memory budget of 4 GB exceeded")),
            "memory budget of 4 GB exceeded (menu Window, Memory)");
}

TEST(ErrorText, ReturnsOtherErrorsUnchanged) {
  EXPECT_EQ(error_text(InputError("text: found none")), "text: found none");
  EXPECT_EQ(error_text(std::make_exception_ptr(WorkError("disk full"))), "disk full");
  EXPECT_EQ(error_text(std::exception_ptr()), "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
