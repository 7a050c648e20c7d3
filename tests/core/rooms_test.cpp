// Dependencies between the rooms (subfolders) of core/. No room includes a room above it, and no
// room below view/ reads ids of views.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "core/view/view.h"
#include "tests/support/pattern_match.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

// All rooms, from the lowest to the highest. Each room may include itself and the rooms before it.
const std::vector<std::string> kRooms = {
    "base",     "tensor",    "text",       "autodiff", "figure", "part",
    "position", "attention", "input",      "trace",    "model",  "checkpoint",
    "analysis", "training",  "experiment", "view",     "lesson", "study"};

std::ptrdiff_t height(const std::string& room) {
  const auto found = std::ranges::find(kRooms, room);
  return found == kRooms.end() ? -1 : found - kRooms.begin();
}

// Returns the room of a file: "model" for "core/model/weights.h".
std::string room_of(const fs::path& file) {
  return (++file.begin())->string();
}

// Returns the quoted includes of a source file in order.
std::vector<std::string> includes_of(const fs::path& source) {
  std::ifstream file(source);
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);) {
    const testing::Match match = testing::find_match(line, "^#include \"([^\"]+)\"");
    if (!match.empty()) found.push_back(match[1]);
  }
  return found;
}

// Returns the paths of all source files of core/, relative to the project.
std::vector<fs::path> core_sources() {
  const fs::path top = testing::source_folder();
  std::vector<fs::path> sources;
  for (const auto& entry : fs::recursive_directory_iterator(top / "core")) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".h" || ending == ".cpp" || ending == ".inc") {
      sources.push_back(fs::relative(entry.path(), top));
    }
  }
  std::ranges::sort(sources);
  return sources;
}

TEST(Rooms, EveryFolderIsListed) {
  for (const auto& entry : fs::directory_iterator(testing::source_folder() / "core")) {
    if (!entry.is_directory()) continue;
    EXPECT_GE(height(entry.path().filename().string()), 0) << entry.path();
  }
}

TEST(Rooms, IncludesRunDownwards) {
  const std::vector<fs::path> sources = core_sources();
  ASSERT_GT(sources.size(), 200u);
  std::size_t include_count = 0;
  for (const fs::path& source : sources) {
    for (const std::string& include : includes_of(testing::source_folder() / source)) {
      if (fs::path(include).begin()->string() != "core") {
        EXPECT_TRUE(include.ends_with(".inc")) << source << " includes " << include;
        continue;
      }
      ++include_count;
      EXPECT_LE(height(room_of(include)), height(room_of(source)))
          << source.string() << " includes " << include << " of a higher room";
    }
  }
  EXPECT_GT(include_count, 1000u);
}

// Rooms below view/ must not read ids or options of views. Views pass typed requests to them.
TEST(Rooms, OnlyViewsReadTheirIdsAndOptions) {
  constexpr const char* access = R"(\bview(?:ed\.view)?\.(?:id|options)\b)";
  for (const fs::path& source : core_sources()) {
    if (height(room_of(source)) >= height("view")) continue;
    const std::string text = read_file(testing::source_folder() / source);
    EXPECT_EQ(testing::find_match(text, access), testing::Match()) << source;
  }
}

TEST(Rooms, ExperimentFolderNamesNoView) {
  // Strings in core/experiment that are also ids of views.
  const std::set<std::pair<std::string, std::string>> homonyms = {
      {"core/experiment/attend.cpp", "position"},  // a JSON key
      {"core/experiment/attend.cpp", "scores"},    // a tensor name
      {"core/experiment/compatible_choice.cpp", "position"},
      {"core/experiment/mask_and_graph.h", "graph"},  // a variant id
      {"core/experiment/view_settings.h", "map"}};    // the initial view
  std::set<std::pair<std::string, std::string>> found;
  for (const fs::path& source : core_sources()) {
    if (room_of(source) != "experiment") continue;
    const std::string text = read_file(testing::source_folder() / source);
    for (const View& view : views()) {
      if (text.find('"' + view.id + '"') != std::string::npos) {
        found.emplace(source.string(), view.id);
      }
    }
  }
  EXPECT_EQ(found, homonyms);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
