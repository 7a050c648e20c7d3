// Window killed repeatedly at random moments while text is typed and views change: the next start
// offers a session that lacks at most the last two seconds. ATTNSCOPE_KILLS: number of kills (8).
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/app/events/desktop.h"
#include "tests/app/events/small_model.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Report = Program::Report;

constexpr auto kMaxLoss = 2s;

// A requested state and the time of its observation; time_point::max(): not observed.
struct Moment {
  std::string text, view;
  Clock::time_point observed = Clock::time_point::max();
};

std::string describe(const Moment& moment) {
  return "\"" + moment.text + "\" in " + moment.view;
}

Moment moment(const Report& r) {
  return {r["experiment"]["text"].text(), r["experiment"]["view"]["type"].text(), Clock::now()};
}

bool same_state(const Moment& a, const Moment& b) {
  return a.text == b.text && a.view == b.view;
}

// States that the next start may offer: the last state observed more than kMaxLoss before the kill,
// and all later states.
std::vector<Moment> possible_states(const std::vector<Moment>& moments, Clock::time_point killed) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (moments[i].observed < killed - kMaxLoss) first = i;
  }
  return {moments.begin() + static_cast<std::ptrdiff_t>(first), moments.end()};
}

class KilledWindow : public ::testing::Test {
 protected:
  KilledWindow() : display_(700, 500) { save_small_model(folder_.path() / "model"); }

  std::vector<std::string> arguments() const {
    return {"--model", (folder_.path() / "model").string(), "--size", "640x480", "--scale", "1"};
  }

  // Types letters or opens views until the killed program causes an exception.
  static void work_until_killed(Program& program, std::mt19937& random,
                                std::vector<Moment>& moments) {
    const bool types = random() % 3 != 0;
    if (types) program.click("text");
    for (int n = 0;; ++n) {
      Moment next = moments.back();
      next.observed = Clock::time_point::max();
      if (types) {
        const std::string letter(1, static_cast<char>('a' + random() % 26));
        if (n == 0) program.press("ctrl+End");
        next.text += letter;
        moments.push_back(next);
        program.press(letter);
      } else {
        next.view = next.view == "map" ? "grid" : next.view == "grid" ? "pattern" : "map";
        moments.push_back(next);
        program.press(next.view == "map" ? "1" : next.view == "grid" ? "2" : "3");
      }
      program.wait_for("the requested state",
                       [&](const Report& r) { return same_state(moment(r), next); });
      moments.back().observed = Clock::now();
      std::this_thread::sleep_for(100ms);  // fast typing
    }
  }

  testing::TemporaryFolder folder_;
  Display display_;
};

TEST_F(KilledWindow, LosesAtMostTwoSecondsOfWork) {
  const char* setting = std::getenv("ATTNSCOPE_KILLS");
  const int kills = setting != nullptr ? std::atoi(setting) : 8;
  std::mt19937 random(1);
  std::vector<Moment> candidates;  // the next start must offer one of these states; empty: any
  int comparisons = 0;
  for (int kill = 0; kill <= kills; ++kill) {
    SCOPED_TRACE(kill);
    const bool is_last = kill == kills;
    Program program(display_, folder_.path(), arguments());
    // Every fourth program is killed during startup, the others during work.
    const bool dies_early = kill % 4 == 3;
    Clock::time_point kill_time;
    std::thread killer;
    const auto kill_within = [&](unsigned min_delay, unsigned delay_range) {
      kill_time = Clock::now() + std::chrono::milliseconds(min_delay + random() % delay_range);
      killer = std::thread([kill_time, process = program.process()] {
        std::this_thread::sleep_until(kill_time);
        ::kill(process, SIGKILL);
      });
    };
    if (dies_early) kill_within(0, 1500);
    std::vector<Moment> moments;
    try {
      const auto has_run = [](const Report& r) { return r["has_trace"].get<bool>(); };
      Report report = program.wait_for("a first picture", has_run);
      if (!dies_early && !is_last) kill_within(candidates.empty() ? 3500 : 0, 4000);
      if (!candidates.empty()) {
        if (!report["widgets"].contains("autosave.restore")) {
          ADD_FAILURE() << "no session is offered; expected " << describe(candidates.front())
                        << " or later";
        } else {
          program.click("autosave.restore");
          report = program.wait_for("the restored session", [&](const Report& r) {
            return has_run(r) && !r["widgets"].contains("autosave.restore");
          });
        }
        const Moment restored = moment(report);
        bool is_expected = false;
        for (const Moment& m : candidates) is_expected = is_expected || same_state(m, restored);
        EXPECT_TRUE(is_expected) << "restored " << describe(restored) << ", expected "
                                 << describe(candidates.front()) << " to "
                                 << describe(candidates.back());
        ++comparisons;
      }
      moments.push_back(moment(report));
      if (!is_last) work_until_killed(program, random, moments);
    } catch (const std::exception& e) {  // program has ended
      if (!killer.joinable() || Clock::now() < kill_time) ADD_FAILURE() << e.what();
    }
    if (killer.joinable()) killer.join();
    if (HasFailure()) break;
    // The initial state of a program need not be offered.
    const bool has_progress =
        !candidates.empty() || (moments.size() > 1 && moments[1].observed < kill_time - kMaxLoss);
    if (!moments.empty() && has_progress) candidates = possible_states(moments, kill_time);
  }
  EXPECT_GE(comparisons, kills / 3);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
