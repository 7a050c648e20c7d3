// Runs each target on its seeds, on earlier findings (found/TARGET/), and on mutated inputs from a
// fixed seed, within limits of memory and CPU time. ATTNSCOPE_FUZZ_SECONDS extends the time.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "core/base/file.h"
#include "core/tensor/storage.h"
#include "tests/fuzz/memory.h"
#include "tests/fuzz/mutate.h"
#include "tests/support/places.h"

namespace attnscope::fuzz {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

// Limits per input. Most seed files have a few kilobytes, models a few megabytes at most.
constexpr std::size_t kMaxMemory = std::size_t{192} << 20;
constexpr double kMaxSeconds = 5;         // CPU time
constexpr int kHangSeconds = 60;          // the program is then aborted
constexpr int kMaxInputs = 2500;          // per target, regardless of the machine
constexpr std::size_t kLongest = 200000;  // bytes of an input

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Current input, for the report of a crash.
const std::string* input_now = nullptr;
char message_now[200];

extern "C" void say_and_end(int signal) {
  const char* name = "fuzz-finding";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, message_now, strlen(message_now));
  if (FILE* file = input_now != nullptr ? std::fopen(name, "wb") : nullptr) {
    std::fwrite(input_now->data(), 1, input_now->size(), file);
    std::fclose(file);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal == SIGPROF ? SIGABRT : signal);
}

void watch(const Target& target) {
  std::snprintf(message_now, sizeof message_now,
                "target %s: ended the program or hangs; its input is in fuzz-finding\n",
                target.name.c_str());
  for (const int s : {SIGPROF, SIGABRT}) ::signal(s, say_and_end);
#ifndef __SANITIZE_ADDRESS__
  ::signal(SIGSEGV, say_and_end);
#endif
}

void set_alarm(int seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

// Error message; empty on success.
std::string fault(const Target& target, const std::string& input) {
  input_now = &input;
  release_cached_storage();
  begin_counting();
  const double begin = processor_seconds();
  set_alarm(kHangSeconds);
  std::string words;
  try {
    run(target, input);
  } catch (const std::exception& e) {
    words = std::string("threw an unexpected error: ") + e.what();
  }
  set_alarm(0);
  const double seconds = processor_seconds() - begin;
  if (peak_counted() > kMaxMemory) {
    words = "took " + std::to_string(peak_counted() >> 20) + " MB";
  }
  if (!(seconds <= kMaxSeconds)) words = "took " + std::to_string(seconds) + " s";
  input_now = nullptr;
  if (words.empty()) return "";
  const fs::path kept = testing::build_folder() / ("fuzz-finding-" + target.name);
  write_file(kept, input);
  return "target " + target.name + " " + words + "; the input is in " + kept.string();
}

std::vector<std::string> found_before(const Target& target) {
  std::vector<std::string> inputs;
  const fs::path folder = testing::source_folder() / "tests/fuzz/found" / target.name;
  if (!is_folder(folder)) return inputs;
  for (const auto& entry : fs::directory_iterator(folder)) inputs.push_back(read_file(entry));
  return inputs;
}

class Fuzz : public ::testing::TestWithParam<std::string> {};

TEST_P(Fuzz, ReadsOrRejects) {
  const Target& tested = target(GetParam());
  watch(tested);
  std::vector<std::string> seeds = tested.seeds();
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) ASSERT_EQ(fault(tested, seed), "");
  for (const std::string& input : found_before(tested)) ASSERT_EQ(fault(tested, input), "");
  const char* asked = std::getenv("ATTNSCOPE_FUZZ_SECONDS");
  const double seconds = asked != nullptr ? std::atof(asked) : 0.7;
  Random random(1);
  const ChangeBytes bytes = [&](const std::string& text) { return any_bytes(text, random); };
  const double begin = processor_seconds();
  int inputs = 0;
  for (; (inputs < kMaxInputs || asked != nullptr) && processor_seconds() - begin < seconds;
       ++inputs) {
    std::string input = seeds[random() % seeds.size()];
    for (auto times = 1 + random() % 3; times > 0; --times) {
      input = changed(tested.format, input, bytes, random);
    }
    if (input.size() > kLongest) continue;
    ASSERT_EQ(fault(tested, input), "") << "after " << inputs;
  }
  RecordProperty("inputs", inputs);
  EXPECT_GT(inputs, 5);
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const Target& target : targets()) list.push_back(target.name);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Target, Fuzz, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

// Rejected seeds would leave later readers untested.
TEST(FuzzTargets, AcceptTheirSeeds) {
  for (const Target& target : targets()) {
    int read = 0, all = 0;
    for (const std::string& seed : target.seeds()) {
      ++all;
      try {
        target.read(seed);
        ++read;
      } catch (const std::exception& e) {
        if (all == 1) std::printf("%s: %s\n", target.name.c_str(), e.what());
      }
    }
    EXPECT_GE(2 * read, all) << target.name << ": " << read << " of " << all;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::fuzz
