// Window killed repeatedly at random moments while text is typed and views change: the next start
// offers everything older than two seconds. ATTNSCOPE_KILLS: number of kills (8).
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

constexpr auto kMayBeLost = 2s;

// A requested state and the time at which it was observed; never: possibly not reached.
struct Moment {
  std::string text, view;
  Clock::time_point seen = Clock::time_point::max();
};

std::string words(const Moment& m) {
  return "\"" + m.text + "\" in " + m.view;
}

Moment moment(const Report& r) {
  return {r["experiment"]["text"].text(), r["experiment"]["view"]["type"].text(), Clock::now()};
}

bool same(const Moment& a, const Moment& b) {
  return a.text == b.text && a.view == b.view;
}

// States that may be offered after a kill: the last one that was old enough, and all later ones.
std::vector<Moment> possible(const std::vector<Moment>& moments, Clock::time_point killed) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (moments[i].seen < killed - kMayBeLost) first = i;
  }
  return {moments.begin() + static_cast<std::ptrdiff_t>(first), moments.end()};
}

class KilledWindow : public ::testing::Test {
 protected:
  KilledWindow() : display_(700, 500) { save_small_model(folder_.path() / "model"); }

  std::vector<std::string> arguments() const {
    return {"--model", (folder_.path() / "model").string(), "--size", "640x480", "--scale", "1"};
  }

  // Types a letter or opens the next view until the program is dead.
  static void work(Program& program, std::mt19937& random, std::vector<Moment>& moments) {
    const bool types = random() % 3 != 0;
    if (types) program.click("text");
    for (int n = 0;; ++n) {
      Moment next = moments.back();
      next.seen = Clock::time_point::max();
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
                       [&](const Report& r) { return same(moment(r), next); });
      moments.back().seen = Clock::now();
      std::this_thread::sleep_for(100ms);  // fast typing
    }
  }

  testing::TemporaryFolder folder_;
  Display display_;
};

TEST_F(KilledWindow, LosesAtMostTwoSecondsOfWork) {
  const char* asked = std::getenv("ATTNSCOPE_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 8;
  std::mt19937 random(1);
  std::vector<Moment> kept;  // states of which the next start must offer one; empty: none
  int compared = 0;
  for (int kill = 0; kill <= kills; ++kill) {
    SCOPED_TRACE(kill);
    const bool is_last = kill == kills;
    Program program(display_, folder_.path(), arguments());
    // Some are killed during startup, most during work.
    const bool dies_early = kill % 4 == 3;
    Clock::time_point dies;
    std::thread killer;
    const auto kill_within = [&](unsigned least, unsigned more) {
      dies = Clock::now() + std::chrono::milliseconds(least + random() % more);
      killer = std::thread([dies, process = program.process()] {
        std::this_thread::sleep_until(dies);
        ::kill(process, SIGKILL);
      });
    };
    if (dies_early) kill_within(0, 1500);
    std::vector<Moment> moments;
    try {
      const auto has_run = [](const Report& r) { return r["has_trace"].get<bool>(); };
      Report report = program.wait_for("a first picture", has_run);
      if (!dies_early && !is_last) kill_within(kept.empty() ? 3500 : 0, 4000);
      if (!kept.empty()) {
        if (!report["widgets"].contains("autosave.restore")) {
          ADD_FAILURE() << "nothing is offered; expected " << words(kept.front()) << " or later";
        } else {
          program.click("autosave.restore");
          report = program.wait_for("it to be restored", [&](const Report& r) {
            return has_run(r) && !r["widgets"].contains("autosave.restore");
          });
        }
        const Moment found = moment(report);
        bool expected = false;
        for (const Moment& m : kept) expected = expected || same(m, found);
        EXPECT_TRUE(expected) << "restored " << words(found) << ", expected " << words(kept.front())
                              << " to " << words(kept.back());
        ++compared;
      }
      moments.push_back(moment(report));
      if (!is_last) work(program, random, moments);
    } catch (const std::exception& e) {  // program has ended
      if (!killer.joinable() || Clock::now() < dies) ADD_FAILURE() << e.what();
    }
    if (killer.joinable()) killer.join();
    if (HasFailure()) break;
    // The initial state of a start need not be kept.
    const bool begun = !kept.empty() || (moments.size() > 1 && moments[1].seen < dies - kMayBeLost);
    if (!moments.empty() && begun) kept = possible(moments, dies);
  }
  EXPECT_GE(compared, kills / 3);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
