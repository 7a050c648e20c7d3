// Runs each target on its seeds, on earlier findings (found/TARGET/), and on inputs mutated with a
// fixed random seed, within limits of memory and CPU time. ATTNSCOPE_FUZZ_SECONDS extends the time.
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

// Limits. Most seeds have a few kilobytes; models have at most a few megabytes.
constexpr std::size_t kMaxMemory = std::size_t{192} << 20;
constexpr double kMaxSeconds = 5;  // CPU time
constexpr int kHangSeconds = 60;   // CPU time after which the program is aborted
constexpr int kMaxInputs = 2500;   // per target, on machines of any speed
constexpr std::size_t kMaxInputBytes = 200000;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Input that the signal handler writes to a file.
const std::string* current_input = nullptr;
char crash_message[200];

extern "C" void report_and_end(int signal) {
  const char* name = "fuzz-finding";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, crash_message, strlen(crash_message));
  if (FILE* file = current_input != nullptr ? std::fopen(name, "wb") : nullptr) {
    std::fwrite(current_input->data(), 1, current_input->size(), file);
    std::fclose(file);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal == SIGPROF ? SIGABRT : signal);
}

void install_handlers(const Target& target) {
  std::snprintf(crash_message, sizeof crash_message,
                "target %s: crashed or hung; its input is in fuzz-finding\n", target.name.c_str());
  for (const int s : {SIGPROF, SIGABRT}) ::signal(s, report_and_end);
#ifndef __SANITIZE_ADDRESS__
  ::signal(SIGSEGV, report_and_end);
#endif
}

void set_alarm(int seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

// Runs the target on an input. Returns an error message; empty on success.
std::string run_input(const Target& target, const std::string& input) {
  current_input = &input;
  release_cached_storage();
  begin_counting();
  const double start = processor_seconds();
  set_alarm(kHangSeconds);
  std::string error;
  try {
    run(target, input);
  } catch (const std::exception& e) {
    error = std::string("threw an unexpected error: ") + e.what();
  }
  set_alarm(0);
  const double seconds = processor_seconds() - start;
  if (counted_peak() > kMaxMemory) {
    error = "used " + std::to_string(counted_peak() >> 20) + " MB";
  }
  if (!(seconds <= kMaxSeconds)) error = "took " + std::to_string(seconds) + " s";
  current_input = nullptr;
  if (error.empty()) return "";
  const fs::path finding = testing::build_folder() / ("fuzz-finding-" + target.name);
  write_file(finding, input);
  return "target " + target.name + " " + error + "; the input is in " + finding.string();
}

std::vector<std::string> earlier_findings(const Target& target) {
  std::vector<std::string> inputs;
  const fs::path folder = testing::source_folder() / "tests/fuzz/found" / target.name;
  if (!is_folder(folder)) return inputs;
  for (const auto& entry : fs::directory_iterator(folder)) inputs.push_back(read_file(entry));
  return inputs;
}

class Fuzz : public ::testing::TestWithParam<std::string> {};

TEST_P(Fuzz, ReadsOrRejects) {
  const Target& fuzz_target = target(GetParam());
  install_handlers(fuzz_target);
  std::vector<std::string> seeds = fuzz_target.seeds();
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) ASSERT_EQ(run_input(fuzz_target, seed), "");
  for (const std::string& input : earlier_findings(fuzz_target))
    ASSERT_EQ(run_input(fuzz_target, input), "");
  const char* extended_time = std::getenv("ATTNSCOPE_FUZZ_SECONDS");
  const double seconds = extended_time != nullptr ? std::atof(extended_time) : 0.7;
  Random random(1);
  const MutateBytes mutate_bytes = [&](const std::string& text) {
    return mutate_any_bytes(text, random);
  };
  const double start = processor_seconds();
  int inputs = 0;
  for (; (inputs < kMaxInputs || extended_time != nullptr) && processor_seconds() - start < seconds;
       ++inputs) {
    std::string input = seeds[random() % seeds.size()];
    for (auto mutations = 1 + random() % 3; mutations > 0; --mutations) {
      input = mutate(fuzz_target.format, input, mutate_bytes, random);
    }
    if (input.size() > kMaxInputBytes) continue;
    ASSERT_EQ(run_input(fuzz_target, input), "") << "after " << inputs;
  }
  RecordProperty("inputs", inputs);
  EXPECT_GT(inputs, 5);
}

std::vector<std::string> target_names() {
  std::vector<std::string> list;
  for (const Target& target : targets()) list.push_back(target.name);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Target, Fuzz, ::testing::ValuesIn(target_names()),
                         [](const auto& info) { return info.param; });

// A reader that rejects its seeds would leave the code behind its first checks untested.
TEST(FuzzTargets, AcceptTheirSeeds) {
  for (const Target& target : targets()) {
    int accepted = 0, count = 0;
    for (const std::string& seed : target.seeds()) {
      ++count;
      try {
        target.read(seed);
        ++accepted;
      } catch (const std::exception& e) {
        if (count == 1) std::printf("%s: %s\n", target.name.c_str(), e.what());
      }
    }
    EXPECT_GE(2 * accepted, count) << target.name << ": " << accepted << " of " << count;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::fuzz
