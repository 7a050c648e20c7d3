// Window closed during background work: everything ends without the watchdog
// (app/window/shutdown_watchdog.h), and partial files are removed.
#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "app/window/dialogs/calibration_dialog.h"
#include "app/window/dialogs/cost_dialog.h"
#include "app/window/dialogs/dialogs.h"
#include "app/window/dialogs/study_job.h"
#include "app/window/salient_pairs.h"
#include "app/window/shutdown_watchdog.h"
#include "core/base/file.h"
#include "core/view/export/frames.h"
#include "tests/app/events/desktop.h"
#include "tests/app/monkey/rehearsal.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

constexpr double kMaxSeconds = 2;

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::string sample_text(int count) {
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

  // Starts long work, closes the window while the work is running, and checks that closing is fast.
  void close_while_running(const char* work, const std::function<void(Rehearsal&)>& start_work,
                           const std::function<bool(Rehearsal&)>& is_running) {
    auto window = std::make_unique<Rehearsal>(options_, folder_.path());
    ASSERT_TRUE(window->draw_until([&] {
      return !window->is_running() && window->state().shown_session()->run.text == options_.text;
    }));
    start_work(*window);
    EXPECT_TRUE(window->draw_until([&] { return is_running(*window); })) << work;
    window->linger(0.1);
    window->close();
    const double cpu_start = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    window.reset();
    const std::chrono::duration<double> wall_time = std::chrono::steady_clock::now() - start;
    // Uses the shorter of wall and CPU time: other processes may occupy the processors.
    EXPECT_LE(std::min(wall_time.count(), processor_seconds() - cpu_start), kMaxSeconds) << work;
    EXPECT_LE(wall_time.count(), 10 * kMaxSeconds) << work;
  }

  bool has_partial_files() const {
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

TEST_F(Closing, EndsRunAndRemovesPartialExport) {
  options_.text = sample_text(40);
  close_while_running(
      "a run and an export",
      [this](Rehearsal& window) {
        State& s = window.state();
        Session session = *s.shown_session();
        session.run.variant = Choice{"local", default_values(variant("local").parameters)};
        const std::filesystem::path path = folder_.path() / "moving.gif";
        start_export(s.dialogs.exporting, path, [path, session](Task& task) {
          ExperimentRun run(cpu_only());
          const Traces traces = run.observe(session, {});
          // Repeated, so that the export cannot end before the run starts and the window closes.
          for (;; std::filesystem::remove(path)) {
            FrameSequence frames(session, traces, frames_from_text("variant.window=1:150"), run);
            write_frames(path, frames, {}, [&](double fraction) { task.report(fraction); });
          }
        });
        const auto& task = s.dialogs.exporting.task;
        EXPECT_TRUE(window.draw_until([&] { return task != nullptr && task->fraction() > 0; }))
            << s.dialogs.exporting.problem;
        s.session.edit().run.text = sample_text(700);
        s.session.edit().run.overlong = Overlong::All;
        s.session.edit().run.variant =
            Choice{"performer", default_values(variant("performer").parameters)};
        s.session.edit().run.variant->values.set("features", Index{400});
      },
      [](Rehearsal& window) {
        const auto& task = window.state().dialogs.exporting.task;
        return window.is_running() && task != nullptr && !task->is_finished();
      });
  EXPECT_FALSE(has_partial_files());
}

TEST_F(Closing, EndsBackgroundTasks) {
  options_.model = "exits-calm";
  options_.text = sample_text(20);
  write_file(folder_.path() / "long.txt", sample_text(20000));
  close_while_running(
      "a measurement and a calibration",
      [this](Rehearsal& window) {
        State& s = window.state();
        start_salient_pair_search(s, false);
        s.dialogs.calibration.open = true;
        s.dialogs.calibration.text_file = (folder_.path() / "long.txt").string();
        start_calibration(s);
        s.dialogs.cost.open = true;
        s.dialogs.cost.variants = {"gmlp", "bigbird", "full"};
        s.dialogs.cost.first = 8192;
        s.dialogs.cost.last = Index{1} << 17;
        start_cost_measurement(s.dialogs.cost);
      },
      [](Rehearsal& window) {
        const auto& calibration = window.state().dialogs.calibration.task;
        const auto& cost = window.state().dialogs.cost.task;
        return calibration != nullptr && !calibration->is_finished() && cost != nullptr &&
               !cost->is_finished();
      });
}

TEST_F(Closing, EndsExperimentAndKeepsFinishedPoints) {
  const Study study = study_from_json(Json::parse(R"({
    "title": "Steps", "claim": "", "source": "", "minutes": 0,
    "base": {
      "train": {"task": "recall", "batch": 2, "warm_up": 0, "evaluate_every": 0,
                "model": {"vocabulary": 256, "context": 24, "width": 16, "layers": 1, "heads": 1,
                          "hidden": 16}},
      "measure": {"type": "score"}
    },
    "vary": [{"name": "steps", "set": "/train/steps", "values": [2, 1000000]}],
    "figure": {"x": "steps", "y": "loss"}
  })"),
                                      "steps.json");
  const std::filesystem::path results = folder_.path() / "steps";
  close_while_running(
      "an experiment",
      [&](Rehearsal& window) {
        StudyDialog& dialog = window.state().dialogs.study;
        dialog.study = std::make_shared<const Study>(study);
        dialog.folder = results.string();
        start_study(dialog);
      },
      [](Rehearsal& window) {
        const StudyDialog& dialog = window.state().dialogs.study;
        return dialog.run.finished == 1 && dialog.task != nullptr && dialog.task->fraction() > 0.5;
      });
  EXPECT_EQ(finished_points(study, results).count, 1u);
  EXPECT_TRUE(file_exists(results / "models/1-1000000/training.safetensors"));
}

// Work that cannot be cancelled is terminated; an unwritten file is reported.
TEST(ShutdownWatchdogDeathTest, ReportsUnwrittenFile) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run_watchdog = [](const char* unfinished_file) {
    ShutdownWatchdog watchdog;
    watchdog.begin(unfinished_file);
    std::this_thread::sleep_for(std::chrono::seconds(60));
  };
  EXPECT_EXIT(run_watchdog("moving.gif"), ::testing::ExitedWithCode(1),
              "moving.gif: not written: the window was closed");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
