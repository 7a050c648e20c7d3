#include "app/window/jobs/step_pictures.h"

#include <chrono>

#include "app/window/jobs/task_kinds.h"
#include "app/window/state.h"
#include "core/base/json.h"
#include "core/base/stop.h"
#include "core/experiment/run.h"
#include "core/view/export/thumbnail.h"
#include "core/view/session_file.h"

namespace attnscope::window {
namespace {

// Delay in seconds after a step or a run, so that quick navigation is not slowed down.
constexpr double kIdleSeconds = 0.7;
constexpr auto kPauseTick = std::chrono::milliseconds(30);

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string make_key(const LessonStep& step, bool dark) {
  return to_json(step.session).dump() + (dark ? "dark" : "light");
}

// Thumbnail of a step; an empty image if its view has no content.
Image make_picture(const LessonStep& step, bool dark, ExperimentRun& runner) {
  try {
    Session session = step.session;
    session.run.backend = BackendChoice::Auto;
    const std::vector<FindingRequest> requests = required_findings(session);
    Traces traces = runner.observe(session, requests);
    traces.findings.add(
        compute_background_findings(session, requests, runner, [](std::size_t, std::size_t) {}));
    ThumbnailOptions options;
    options.dark = dark;
    return thumbnail(traces, session, options);
  } catch (const Stopped&) {
    throw;
  } catch (const std::exception&) {
    return {};  // the step reports the error when shown
  }
}

// Starts a task for the missing pictures, beginning with the next step.
void start_missing_pictures(StepPictures& pictures) {
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i <= pictures.keys.size(); ++i) {
    const std::size_t step = (pictures.step + i) % pictures.keys.size();
    if (!pictures.images.contains(pictures.keys[step])) order.push_back(step);
  }
  if (order.empty()) return;
  using Images = StepPictures::Images;
  pictures.task = std::make_unique<BackgroundTask<Images>>(
      [order, lesson = pictures.lesson, keys = pictures.keys, dark = pictures.dark,
       resume_time = pictures.resume_time](BackgroundTask<Images>& task) {
        ExperimentRun runner(cpu_only());  // the graphics context is reserved for the window's runs
        Images finished;
        for (const std::size_t step : order) {
          while (steady_seconds() < *resume_time) {
            check_stop();
            std::this_thread::sleep_for(kPauseTick);
          }
          finished[keys[step]] =
              std::make_shared<const Image>(make_picture(lesson->steps[step], dark, runner));
          task.publish(finished,
                       static_cast<double>(finished.size()) / static_cast<double>(order.size()));
        }
        return finished;
      });
}

bool update_step_pictures(State& state) {
  StepPictures& pictures = state.step_pictures;
  const LessonState& lessons = state.lesson;
  const bool changed = pictures.task != nullptr && pictures.task->take_change() != TaskChange::None;
  if (changed) {
    if (auto finished = pictures.task->result()) pictures.images.merge(*std::move(finished));
  }
  const bool has_new_keys =
      pictures.lesson != lessons.lesson || pictures.dark != state.settings.dark;
  if (has_new_keys || pictures.step != lessons.step || state.run.busy_seconds > 0) {
    *pictures.resume_time = steady_seconds() + kIdleSeconds;
  }
  pictures.step = lessons.step;
  if (!has_new_keys) return changed;
  pictures.task.reset();
  pictures.lesson = lessons.lesson;
  pictures.dark = state.settings.dark;
  pictures.keys.clear();
  if (lessons.lesson == nullptr) return changed;
  for (const LessonStep& step : lessons.lesson->steps) {
    pictures.keys.push_back(make_key(step, pictures.dark));
  }
  start_missing_pictures(pictures);
  return changed;
}

}  // namespace

TaskKind step_picture_tasks() {
  return {.update = update_step_pictures,
          .tasks = [](State& state) { return std::vector<Task*>{state.step_pictures.task.get()}; }};
}

}  // namespace attnscope::window
