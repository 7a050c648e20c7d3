// The window is closed while something runs: all of it ends by itself, without the last resort
// (app/window/last_resort.h), and what was half written is gone.
#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "app/window/dialogs/calibration_dialog.h"
#include "app/window/dialogs/cost_dialog.h"
#include "app/window/jobs/calibration_job.h"
#include "app/window/jobs/cost_job.h"
#include "app/window/jobs/export_job.h"
#include "app/window/jobs/surprise_job.h"
#include "app/window/last_resort.h"
#include "app/window/surprise.h"
#include "core/base/file.h"
#include "core/view/export/frames.h"
#include "tests/app/events/desktop.h"
#include "tests/app/monkey/rehearsal.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

constexpr double kMostSeconds = 2;

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string words(int count) {
  std::string text;
  for (int n = 0; n < count; ++n) text += "the old house by river " + std::to_string(n % 37) + " ";
  return text;
}

class Closing : public ::testing::Test {
 protected:
  Closing() : display_(900, 700) {
    display_.use(folder_.path());
    options_.width = 640;
    options_.height = 480;
    options_.tour = false;
    options_.text = "the cat sat on the mat";
  }

  // `begins` is to start something that takes long; whether it still runs when the window closes.
  void close_during(const char* what, const std::function<void(State&)>& begins,
                    const std::function<bool(Rehearsal&)>& runs) {
    auto window = std::make_unique<Rehearsal>(options_, folder_.path());
    window->rest(10);
    begins(window->state());
    EXPECT_TRUE(window->turn_until([&] { return runs(*window); })) << what;
    window->linger(0.1);
    window->close();
    const double before = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    window.reset();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    // Others may have the processors meanwhile.
    EXPECT_LE(std::min(wall.count(), processor_seconds() - before), kMostSeconds) << what;
    EXPECT_LE(wall.count(), 10 * kMostSeconds) << what;
  }

  bool has_leftovers() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      if (name.find("moving") != std::string::npos) return true;
    }
    return false;
  }

  testing::TemporaryFolder folder_;
  Display display_;
  WindowOptions options_;
};

TEST_F(Closing, EndsARunAndAnExportThatLeavesNothing) {
  options_.text = words(40);
  close_during(
      "a run and an export",
      [this](State& s) {
        Experiment experiment = s.shown_experiment();
        experiment.variant = Choice{"local", default_values(variant("local").parameters)};
        const std::filesystem::path path = folder_.path() / "moving.gif";
        s.exporting.job = std::make_shared<ExportJob>(path, [path, experiment](const auto& progress,
                                                                               const Stop& stop) {
          ExperimentRun run(cpu_only());
          const Traces traces = run.observe(experiment, {}, stop);
          FrameSequence frames(experiment, traces, frames_from_text("variant.window=1:150"), run);
          write_frames(path, frames, {}, progress, stop);
        });
        s.experiment.text = words(700);
        s.experiment.overlong = Overlong::All;
        s.experiment.variant = Choice{"performer", default_values(variant("performer").parameters)};
        s.experiment.variant->values.set("features", Index{400});
      },
      [](Rehearsal& window) {
        const auto& job = window.state().exporting.job;
        return window.runs() && job != nullptr && !job->over();
      });
  EXPECT_FALSE(has_leftovers());
}

TEST_F(Closing, EndsWhatMeasuresCalibratesAndLooks) {
  options_.model = "exits-calm";
  options_.text = words(20);
  write_file(folder_.path() / "long.txt", words(20000));
  close_during(
      "a measurement and a calibration",
      [this](State& s) {
        s.surprises.job = std::make_shared<SurpriseJob>(s.trace, 1000);
        s.calibration.open = true;
        s.calibration.text = (folder_.path() / "long.txt").string();
        start_calibrating(s);
        s.cost.open = true;
        s.cost.variants = {"gmlp", "bigbird", "full"};
        s.cost.first = 8192;
        s.cost.last = Index{1} << 17;
        start_measuring(s.cost);
      },
      [](Rehearsal& window) {
        const auto& calibration = window.state().calibration.job;
        const auto& cost = window.state().cost.job;
        return calibration != nullptr && !calibration->over() && cost != nullptr && !cost->over();
      });
}

// What cannot be broken off is cut off, and whoever waits for a file is told.
TEST(LastResortDeathTest, SaysWhatWasNotWritten) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [](const char* unwritten) {
    LastResort resort;
    resort.begin(unwritten);
    std::this_thread::sleep_for(std::chrono::seconds(60));
  };
  EXPECT_EXIT(end("moving.gif"), ::testing::ExitedWithCode(1),
              "moving.gif: not written: the window was closed");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
