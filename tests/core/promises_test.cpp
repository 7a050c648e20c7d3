// Checks that assets/docs/guarantees.md names existing tests, and that the program fetches nothing
// unless the user asks for it.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "core/base/file.h"
#include "tests/support/pattern_match.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

template <class Visit>
void for_each_source(const char* folder, const Visit& visit) {
  for (const auto& entry : fs::recursive_directory_iterator(testing::source_folder() / folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".h" || ending == ".cpp" || ending == ".inc") visit(entry.path());
  }
}

// get-model.sh fetches models. run_program() starts this script when the user asks for a model.
TEST(Promises, NothingIsFetchedOrStartedUnlessAsked) {
  constexpr const char* forbidden =
      R"(<sys/socket\.h>|<netdb\.h>|<netinet/|<arpa/|<spawn\.h>|<curl/|\bstd::system\(|\bpopen\()"
      R"(|\bexec[lv]p?e?\(|\bv?fork\(\)|\bposix_spawn|\bg_spawn_)";
  std::size_t sources = 0;
  for (const char* folder : {"core", "app"}) {
    for_each_source(folder, [&](const fs::path& path) {
      ++sources;
      const std::string text = read_file(path), name = path.filename();
      if (name == "child_process.cpp") return;
      EXPECT_EQ(testing::find_match(text, forbidden), testing::Match()) << path;
      const bool starts = text.find("run_program(") != std::string::npos;
      EXPECT_EQ(starts, name == "child_process.h" || name == "model_fetch.cpp") << path;
    });
  }
  EXPECT_GT(sources, 500u);
}

TEST(Promises, NameExistingTests) {
  const std::string page = read_file(testing::source_folder() / "assets/docs/guarantees.md");
  std::set<std::string> tests;
  constexpr const char* definition = R"(\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\))";
  for_each_source("tests", [&](const fs::path& path) {
    for (const testing::Match& match : testing::find_matches(read_file(path), definition)) {
      tests.insert(match[1] + "." + match[2]);
    }
  });
  const auto names = testing::find_matches(page, R"(`([A-Z]\w+\.[A-Z]\w+)`)");
  for (const testing::Match& name : names) EXPECT_TRUE(tests.contains(name[1])) << name[1];
  EXPECT_GT(names.size(), 15u);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
