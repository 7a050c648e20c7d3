// Option aliases: former names still work, and help lists only the current ones.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::expect_refusal;
using testing::run_process;

const std::string kProgram = testing::program_path();

struct Alias {
  std::string command, current, alias;
};

const Alias kAliases[] = {{"generate", "--num-beams", "--beams"},
                          {"generate", "--max-new-tokens", "--tokens"},
                          {"generate", "--device", "--backend"},
                          {"pairs", "--limit", "--most"},
                          {"pairs", "--max-tokens", "--most-tokens"},
                          {"render", "--salient", "--striking"},
                          {"render", "--colour-map", "--color-map"},
                          {"cost", "--max-seconds", "--most-seconds"},
                          {"train", "--batch-size", "--batch"},
                          {"train", "--micro-batch-size", "--micro-batch"},
                          {"train", "--sequence-length", "--sequence"},
                          {"train", "--learning-rate", "--rate"},
                          {"train", "--min-learning-rate", "--least-rate"},
                          {"train", "--warmup-steps", "--warm-up"},
                          {"train", "--clip-gradient", "--clip"},
                          {"train", "--evaluate-batches", "--score-batches"}};

// Error for an invalid value of the option `name`.
std::string error_of(const Alias& alias, const std::string& name) {
  return run_process(kProgram, {alias.command, name, "-x", "-o", "/nowhere/out.png"}).err;
}

TEST(OptionAliases, BehaveLikeTheCurrentName) {
  for (const Alias& alias : kAliases) {
    std::string alias_error = error_of(alias, alias.alias);
    EXPECT_EQ(alias_error.find("not expected"), std::string::npos) << alias_error;
    if (alias_error.find(alias.alias) != std::string::npos) {
      alias_error.replace(alias_error.find(alias.alias), alias.alias.size(), alias.current);
    }
    EXPECT_EQ(alias_error, error_of(alias, alias.current));
  }
}

TEST(OptionAliases, AppearInErrorsIfTheUserTypedThem) {
  expect_refusal(run_process(kProgram, {"generate", "--beams", "x", "-t", "a"}), "--beams");
  expect_refusal(run_process(kProgram, {"generate", "--beams=x", "-t", "a"}), "--beams");
  expect_refusal(run_process(kProgram, {"--memory", "4G", "pairs", "-t", "a", "--most", "0"}),
                 "--most:");
  expect_refusal(run_process(kProgram, {"pairs", "-t", "a", "--limit", "0"}), "--limit");
}

TEST(OptionAliases, AreAbsentFromHelp) {
  for (const Alias& alias : kAliases) {
    const std::string help = run_process(kProgram, {alias.command, "--help"}).out;
    EXPECT_NE(help.find(alias.current), std::string::npos) << alias.current;
    for (const char* end : {" ", ","}) {
      EXPECT_EQ(help.find(alias.alias + end), std::string::npos) << alias.alias;
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
