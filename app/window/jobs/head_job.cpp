#include "app/window/jobs/head_job.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>

#include "core/base/file.h"
#include "core/experiment/runner.h"

namespace attnscope::window {

namespace {

// The same heads over the same texts.
bool same_measuring(const Experiment& a, const Experiment& b) {
  Experiment other = a;
  other.text = b.text;
  other.ids = b.ids;
  other.overlong = b.overlong;
  other.others = b.others;
  other.backend = b.backend;  // the CPU measures in any case
  return same_run(other, b) && a.view.statistics_file == b.view.statistics_file;
}

}  // namespace

bool sorts_heads(const ViewSettings& settings) {
  const std::vector<Parameter>& parameters = view(settings.id).parameters;
  return std::ranges::find(parameters, "sort", &Parameter::key) != parameters.end();
}

HeadJob::~HeadJob() {
  cancel();
}

void HeadJob::cancel() {
  stop_.request();
  if (worker_.joinable()) worker_.join();
  shared_.reset();
}

void HeadJob::start(const Experiment& experiment) {
  cancel();
  stop_ = Stop();
  shared_ = std::make_shared<Shared>();
  asked_ = experiment;
  worker_ = std::thread([shared = shared_, stop = stop_, experiment] {
    try {
      ExperimentRun run(cpu_only());
      Experiment one = experiment;
      one.backend = BackendChoice::Auto;
      const auto progress = [&](std::size_t done, std::size_t all) {
        shared->share = all > 0 ? static_cast<double>(done) / static_cast<double>(all) : 1;
        glfwPostEmptyEvent();
      };
      const HeadTable table =
          head_table(one, read_file(one.view.statistics_file), run, progress, stop);
      const std::scoped_lock lock(shared->mutex);
      shared->table = std::make_shared<const HeadTable>(table);
    } catch (const Stopped&) {
    } catch (const std::exception& e) {
      const std::scoped_lock lock(shared->mutex);
      shared->problem = e.what();
    }
    shared->done = true;
    glfwPostEmptyEvent();
  });
}

bool HeadJob::update(State& state) {
  const Experiment& now = state.experiment;
  const HeadMeasuring before = state.measuring;
  const std::shared_ptr<const HeadTable> table_before = state.measured;
  if (now.view.statistics_file.empty() || !now.tensors.file.empty()) {
    if (asked_) cancel();
    asked_.reset();
    state.measured = nullptr;
    state.measuring = {};
  } else if (sorts_heads(now.view) && (!asked_ || !same_measuring(*asked_, now))) {
    state.measured = nullptr;
    start(now);
  }
  if (shared_) {
    state.measuring.running = !shared_->done;
    state.measuring.share = shared_->share;
    if (shared_->done) {
      const std::scoped_lock lock(shared_->mutex);
      state.measured = shared_->table;
      state.measuring.problem = shared_->problem;
    }
  }
  constexpr double kVisible = 0.01;  // of the progress bar
  return state.measured != table_before || state.measuring.running != before.running ||
         state.measuring.problem != before.problem ||
         std::abs(state.measuring.share - before.share) >= kVisible;
}

}  // namespace attnscope::window
