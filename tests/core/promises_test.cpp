// Checks that assets/docs/guarantees.md names existing tests, and that the program fetches nothing
// unless the user asks for it.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "core/base/file.h"
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
  const std::regex forbidden(
      R"(<sys/socket\.h>|<netdb\.h>|<netinet/|<arpa/|<spawn\.h>|<curl/|\bstd::system\(|\bpopen\()"
      R"(|\bexec[lv]p?e?\(|\bv?fork\(\)|\bposix_spawn|\bg_spawn_)");
  std::size_t sources = 0;
  for (const char* folder : {"core", "app"}) {
    for_each_source(folder, [&](const fs::path& path) {
      ++sources;
      const std::string text = read_file(path), name = path.filename();
      std::smatch match;
      if (name == "child_process.cpp") return;
      EXPECT_FALSE(std::regex_search(text, match, forbidden)) << path << ": " << match.str();
      const bool starts = text.find("run_program(") != std::string::npos;
      EXPECT_EQ(starts, name == "child_process.h" || name == "model_fetch.cpp") << path;
    });
  }
  EXPECT_GT(sources, 500u);
}

TEST(Promises, NameExistingTests) {
  const std::string page = read_file(testing::source_folder() / "assets/docs/guarantees.md");
  std::set<std::string> tests;
  const std::regex definition(R"(\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  for_each_source("tests", [&](const fs::path& path) {
    const std::string text = read_file(path);
    for (std::sregex_iterator match(text.begin(), text.end(), definition), end; match != end;
         ++match) {
      tests.insert((*match)[1].str() + "." + (*match)[2].str());
    }
  });
  const std::regex name(R"(`([A-Z]\w+\.[A-Z]\w+)`)");
  std::size_t name_count = 0;
  for (std::sregex_iterator match(page.begin(), page.end(), name), end; match != end; ++match) {
    ++name_count;
    EXPECT_TRUE(tests.contains((*match)[1].str())) << (*match)[1].str();
  }
  EXPECT_GT(name_count, 15u);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
