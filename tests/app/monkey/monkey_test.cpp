// Monkey test: random keys, clicks, drags, drops and commands, deterministic for a seed. Fails on a
// crash, a frame of more than two seconds, a frame that differs from one drawn from scratch,
// memory in use that grows from window to window, or if undo does not restore the start.
//
// ATTNSCOPE_MONKEY_ACTIONS  number of actions (1,500)
// ATTNSCOPE_MONKEY_SEED     seed (1)
// ATTNSCOPE_MONKEY_REPLAY   file with actions to perform instead of random ones, one per line: the
//                           output of a failing test, or a part of it
#include <gtest/gtest.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "core/base/file.h"
#include "core/tensor/npy.h"
#include "core/tensor/storage.h"
#include "core/view/session_file.h"
#include "tests/app/events/desktop.h"
#include "tests/app/events/small_model.h"
#include "tests/app/monkey/rehearsal.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

std::uint64_t option(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

constexpr double kMaxGrowthMegabytes = 20;

// Memory that the program holds, without the cache of freed blocks, in megabytes; 0 where the
// allocator does not tell, as with sanitizers.
double held_megabytes() {
#ifdef __GLIBC__
  const auto info = mallinfo2();
  const StorageStatistics storage = storage_statistics();
  return (static_cast<double>(info.uordblks + info.hblkhd) -
          static_cast<double>(storage.cached_bytes)) /
         1e6;
#else
  return 0;
#endif
}

class Monkey : public ::testing::Test {
 protected:
  Monkey() : display_(1200, 900), old_folder_(std::filesystem::current_path()) {
    display_.use(folder_.path());
    setenv("HOME", folder_.path().c_str(), 1);
    std::filesystem::current_path(folder_.path());
    make_files();
  }
  ~Monkey() override { std::filesystem::current_path(old_folder_); }

  // Files to drop, valid and broken.
  void make_files() {
    const std::filesystem::path files = folder_.path() / "files";
    std::filesystem::create_directories(files);
    save_small_model(files / "model");
    Session session;
    session.run.text = "the cat sat on the mat";
    save_session(files / "session.json", session);
    write_file(files / "text.txt", "The dog saw the other dog, and the other dog saw it.");
    write_file(files / "long.txt", std::string(3000, 'a') + std::string(3000, ' '));
    write_file(files / "broken.json", "{\"version\": ");
    write_file(files / "broken.png", "\x89PNG\r\n\x1a\n");
    write_file(files / "empty", "");
    Tensor map = Tensor::zeros({9, 9});
    for (Index i = 0; i < 9; ++i) map(i, i) = 1;
    write_npy(files / "map.npy", stored(map));
    write_file(files / "short.npy", read_file(files / "map.npy").substr(0, 100));
    for (const auto& lesson :
         std::filesystem::directory_iterator(testing::source_folder() / "assets" / "lessons")) {
      if (lesson.path().extension() != ".json") continue;
      std::filesystem::copy(lesson.path(), files / "lesson.json");
      break;
    }
  }

  std::vector<std::string> replayed_actions() const {
    std::vector<std::string> lines;
    const char* path = std::getenv("ATTNSCOPE_MONKEY_REPLAY");
    if (path == nullptr) return lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (!line.empty()) lines.push_back(line);
    }
    return lines;
  }

  testing::TemporaryFolder folder_;
  Display display_;
  std::filesystem::path old_folder_;
};

TEST_F(Monkey, SurvivesRandomActions) {
  const std::vector<std::string> replay = replayed_actions();
  const std::uint64_t seed = option("ATTNSCOPE_MONKEY_SEED", 1);
  const std::size_t count =
      replay.empty() ? option("ATTNSCOPE_MONKEY_ACTIONS", 1500) : replay.size();
  constexpr std::size_t kPerWindow = 500, kPerComparison = 10;  // actions
  WindowOptions options;
  options.width = 800;
  options.height = 540;
  options.scale = 1;
  options.tour = false;
  std::mt19937_64 random(seed);
  std::vector<std::string> performed;
  const std::filesystem::path list_path =
      testing::build_folder() / ("monkey-actions-" + std::to_string(seed) + ".txt");
  std::ofstream list_file(list_path);  // flushed after each line, to survive a crash
  const auto start = std::chrono::steady_clock::now();
  double first_megabytes = 0;  // after the first window
  double longest_frame_seconds = 0, longest_end_seconds = 0, frame_seconds = 0;
  int comparisons = 0, frames = 0;
  for (std::size_t n = 0; n < count && !HasFailure();) {
    options.simple = n / kPerWindow % 3 == 2;
    auto window = std::make_unique<Rehearsal>(options, folder_.path());
    try {
      window->rest(30);  // the window opens on its most salient pair, without an undo step
      window->begin_chain();
      for (std::size_t i = 0; i < kPerWindow && n < count; ++i, ++n) {
        performed.push_back(replay.empty() ? window->random_action(random) : replay[n]);
        list_file << performed.back() << std::endl;
        window->perform(performed.back());
        if (i % kPerComparison == 0 && window->rest(0.05)) {
          window->compare_with_fresh_frame();
          ++comparisons;
        }
        if (i % 100 == 99) {
          window->undo_and_redo_chain();
          window->begin_chain();
        }
      }
    } catch (const std::exception& e) {
      std::string last_actions;
      const std::size_t first = performed.size() > 30 ? performed.size() - 30 : 0;
      for (std::size_t k = first; k < performed.size(); ++k) last_actions += performed[k] + "\n";
      ADD_FAILURE() << e.what() << "\nseed " << seed << ", after " << performed.size()
                    << " actions, all in " << list_path << "; the last are\n"
                    << last_actions;
    }
    frame_seconds += window->frame_seconds();
    frames += window->frames();
    longest_frame_seconds = std::max(longest_frame_seconds, window->longest_frame());
    window->close();
    const auto end_start = std::chrono::steady_clock::now();
    window.reset();
    const std::chrono::duration<double> end_time = std::chrono::steady_clock::now() - end_start;
    longest_end_seconds = std::max(longest_end_seconds, end_time.count());
    if (first_megabytes <= 0) first_megabytes = held_megabytes();
  }
  const double growth = held_megabytes() - first_megabytes;
  EXPECT_LE(growth, kMaxGrowthMegabytes) << "since the first window";
  const std::chrono::duration<double> total = std::chrono::steady_clock::now() - start;
  std::cout << performed.size() << " actions in " << total.count() << " s, " << frames
            << " frames in " << frame_seconds << " s, " << comparisons
            << " compared; the longest frame " << longest_frame_seconds
            << " s, the longest shutdown " << longest_end_seconds << " s, memory grew by " << growth
            << " MB\n";
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
