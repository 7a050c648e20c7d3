// App::measure(): a scripted session that prints frame times.
#include <GLFW/glfw3.h>
#include <epoxy/gl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "app/window/app.h"
#include "app/window/dialogs/training_dialog.h"
#include "app/window/files.h"
#include "app/window/jobs/task_kinds.h"
#include "core/tensor/npy.h"

namespace attnscope::window {
namespace {

constexpr int kFrames = 120;              // frames per measurement
constexpr Index kLength = 256;            // tokens of the text
constexpr Index kLargeMap = 4096;         // rows and columns
constexpr double kMaxWait = 60;           // seconds to wait for a run
constexpr std::size_t kTextBytes = 4096;  // bytes of the text, which has more than kLength tokens

// Median and 99th percentile, optionally the maximum.
std::string summary(std::vector<double> milliseconds, bool with_maximum = false) {
  std::sort(milliseconds.begin(), milliseconds.end());
  const auto percentile = [&](double fraction) {
    const auto last = static_cast<double>(milliseconds.size() - 1);
    return milliseconds[static_cast<std::size_t>(std::lround(fraction * last))];
  };
  char line[64];
  std::snprintf(line, sizeof line, "%7.1f %7.1f", percentile(0.5), percentile(0.99));
  if (!with_maximum) return line;
  std::snprintf(line, sizeof line, "%7.1f %7.1f %7.1f", percentile(0.5), percentile(0.99),
                milliseconds.back());
  return line;
}

void move_pointer(GLFWwindow* window, int frame) {
  int width = 0, height = 0;
  glfwGetWindowSize(window, &width, &height);
  const double fraction = static_cast<double>(frame) / kFrames;
  glfwSetCursorPos(window, (0.35 + 0.3 * fraction) * width, (0.4 + 0.3 * fraction) * height);
}

// Moves the visible range of a map of `cells` rows and columns in a circle, and zooms in and out.
void pan_and_zoom(ViewSettings& view, Index cells, int frame) {
  const auto total = static_cast<double>(cells);
  const double angle = 2 * M_PI * frame / kFrames;
  view.height = view.width = total * (0.55 - 0.4 * std::cos(angle));
  view.row = view.column = (total - view.height) * (0.5 + 0.4 * std::sin(angle));
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("attnscope-" + std::to_string(getpid()) + "-" + name)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Causal attention with a diagonal and columns that all queries attend to.
void write_large_map(const std::filesystem::path& path) {
  constexpr Index kColumnStep = 512;
  constexpr float kReach = 40, kColumn = 0.2F;
  Tensor weights = Tensor::zeros({kLargeMap, kLargeMap});
  for (Index i = 0; i < kLargeMap; ++i) {
    float sum = 0;
    for (Index j = 0; j <= i; ++j) {
      const float decay = std::exp(static_cast<float>(j - i) / kReach);
      sum += weights(i, j) = decay + (j % kColumnStep == 0 ? kColumn : 0);
    }
    for (Index j = 0; j <= i; ++j) weights(i, j) /= sum;
  }
  write_npy(path, stored(weights));
}

}  // namespace

void App::finish_run() {
  const double start = glfwGetTime();
  while (runner_->busy() || state_.run.trace == nullptr || !state_.is_current()) {
    glfwWaitEventsTimeout(0.01);
    take_outcome();
    frame();
    after_frame();
    if (!state_.run.error.empty()) throw WorkError("measuring: " + state_.run.error);
    if (glfwGetTime() - start > kMaxWait)
      throw WorkError("measuring: a run exceeds the time limit");
  }
}

std::string App::frame_times(const std::function<void(int)>& change, bool with_maximum) {
  std::vector<double> milliseconds;
  for (int n = 0; n < kFrames; ++n) {
    change(n);
    glfwPollEvents();
    const auto start = std::chrono::steady_clock::now();
    take_outcome();
    frame();
    after_frame();
    glFinish();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    milliseconds.push_back(time.count());
  }
  return summary(std::move(milliseconds), with_maximum);
}

std::string App::typing_times() {
  constexpr int kKeys = 40;
  std::vector<double> milliseconds;
  for (int n = 0; n < kKeys; ++n) {
    state_.session.edit().run.text += static_cast<char>('a' + n % 26);
    const auto start = std::chrono::steady_clock::now();
    finish_run();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    milliseconds.push_back(time.count());
  }
  return summary(std::move(milliseconds), true);
}

void App::measure_training() {
  constexpr Index kEndlessSteps = 1000000;
  TrainingDialog& dialog = state_.dialogs.training;
  dialog.settings = settings_for_task("induction");
  dialog.settings.steps = kEndlessSteps;
  const auto measure = [&](const char* condition) {
    state_.session = Session();
    state_.session.edit().run.text = "Once upon a time ";
    finish_run();
    const std::string typing = typing_times();
    const std::string frames =
        frame_times([&](int n) { move_pointer(platform_.window(), n); }, true);
    std::printf("%-18s %23s %23s\n", condition, frames.c_str(), typing.c_str());
    std::fflush(stdout);
  };
  std::printf("%-18s %23s %23s (median, 99th percentile, maximum)\n", "", "pointer moves",
              "typing");
  measure("no training");
  start_training(state_, false);
  const double start = glfwGetTime();
  while (dialog.curve.rows.empty()) {
    if (!dialog.problem.empty()) throw WorkError("measuring: " + dialog.problem);
    if (glfwGetTime() - start > kMaxWait) throw WorkError("measuring: a training does not start");
    glfwWaitEventsTimeout(0.01);
    update_tasks(state_);
  }
  const Index first_step = dialog.curve.rows.back().step;
  const double first_second = glfwGetTime();
  measure("during a training");
  const double seconds = glfwGetTime() - first_second;
  update_tasks(state_);
  std::printf("steps per second meanwhile: %.1f\n",
              static_cast<double>(dialog.curve.rows.back().step - first_step) / seconds);
  dialog.task.reset();
  measure("no training");
  std::error_code ignored;
  std::filesystem::remove_all(dialog.folder, ignored);
}

void App::measure_session() {
  finish_run();
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const Trace& trace = *state_.run.trace;
  std::printf("%.0fx%.0f, %s, %s, %zu tokens, %zu heads\n", static_cast<double>(size.x),
              static_cast<double>(size.y), state_.gpu.c_str(), state_.session->view.id.c_str(),
              trace.tokens.size(), trace.heads(trace.part({})).size());
  const std::clock_t start = std::clock();  // processor time of all threads
  const std::string times = frame_times([&](int n) { move_pointer(platform_.window(), n); }, true);
  const double processor = 1000.0 * static_cast<double>(std::clock() - start) /
                           static_cast<double>(CLOCKS_PER_SEC) / kFrames;
  std::printf(
      "pointer moves, milliseconds per frame, median, 99th percentile and maximum: %s; processor "
      "time %.1f\n",
      times.c_str(), processor);
}

void App::measure(bool session_only) {
  glfwSwapInterval(0);
  end_tour(state_);
  state_.settings.reduced_motion = true;
  if (session_only) return measure_session();
  std::string text;
  const auto story = std::ranges::find(samples(), true, &Sample::is_long);
  while (text.size() < kTextBytes) text += story == samples().end() ? "words " : story->text + " ";
  const auto move = [&](int n) { move_pointer(platform_.window(), n); };
  const auto pan = [&](Index cells) {
    return [&, cells](int n) { pan_and_zoom(state_.session.edit().view, cells, n); };
  };

  state_.session = Session();
  state_.session.edit().run.text = text;
  finish_run();
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  std::printf("%.0fx%.0f, %s, %zu tokens; milliseconds per frame, median and 99th percentile\n",
              static_cast<double>(size.x), static_cast<double>(size.y), state_.gpu.c_str(),
              state_.run.trace->tokens.size());
  std::printf("%-12s %15s %15s %15s\n", "view", "pointer moves", "during runs", "pan and zoom");
  for (const View& shown_view : views()) {
    state_.session = Session();
    state_.session.edit().run.text = text;
    if (shown_view.content.example) shown_view.content.example(state_.session.edit());
    state_.session.edit().view.id = shown_view.id;
    finish_run();
    const std::string idle_times = frame_times(move);
    const std::string run_times = frame_times([&](int n) {
      move(n);
      if (!runner_->busy()) state_.session.edit().run.text = (n % 2 == 0 ? "A " : "The ") + text;
    });
    finish_run();
    std::printf("%-12s %15s %15s", shown_view.id.c_str(), idle_times.c_str(), run_times.c_str());
    if (shown_view.cells.zoom) std::printf(" %15s", frame_times(pan(kLength)).c_str());
    std::printf("\n");
    std::fflush(stdout);
  }
  const TemporaryFile large("map.npy");
  write_large_map(large.path());
  state_.session = with_opened_file(large.path(), Session());
  finish_run();
  std::printf("%-12s %15s %15s %15s\n", "map 4096²", frame_times(move).c_str(), "",
              frame_times(pan(kLargeMap)).c_str());
  measure_training();
}

}  // namespace attnscope::window
