#include "app/window/jobs/step_pictures.h"

#include <GLFW/glfw3.h>
#include <epoxy/gl.h>

#include <algorithm>
#include <chrono>

#include "core/base/json.h"
#include "core/base/stop_scope.h"
#include "core/experiment/run.h"
#include "core/view/export/thumbnail.h"
#include "core/view/session_file.h"

namespace attnscope::window {

namespace {

constexpr auto kPauseTick = std::chrono::milliseconds(30);

std::string key_of(const LessonStep& step, bool dark) {
  return to_json(step.experiment).dump() + (dark ? "dark" : "light");
}

// An empty image if there is nothing to show.
Image picture_of(const LessonStep& step, bool dark, ExperimentRun& runner) {
  try {
    Session experiment = step.experiment;
    experiment.run.backend = BackendChoice::Auto;
    const std::vector<FindingRequest> requests = required_findings(experiment);
    Traces traces = runner.observe(experiment, requests);
    traces.findings.add(
        compute_background_findings(experiment, requests, runner, [](std::size_t, std::size_t) {}));
    ThumbnailOptions options;
    options.dark = dark;
    return thumbnail(traces, experiment, options);
  } catch (const Stopped&) {
    throw;
  } catch (const std::exception&) {
    return {};  // the step reports the error when shown
  }
}

unsigned int texture_of(const Image& image) {
  if (image.width == 0) return 0;
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, image.width, image.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
               image.rgba.data());
  glGenerateMipmap(GL_TEXTURE_2D);
  glBindTexture(GL_TEXTURE_2D, 0);
  return name;
}

}  // namespace

StepPictures::~StepPictures() {
  cancel();
  for (const auto& [key, texture] : textures_) glDeleteTextures(1, &texture);
}

void StepPictures::cancel() {
  stop_.request();
  if (worker_.joinable()) worker_.join();
  shared_.reset();
}

bool StepPictures::is_complete() const {
  return std::ranges::all_of(keys_,
                             [&](const std::string& key) { return textures_.contains(key); });
}

void StepPictures::start(const State& state) {
  cancel();
  stop_ = Stop();
  shared_ = std::make_shared<Shared>();
  // Missing thumbnails, beginning with the next step.
  std::vector<std::size_t> order;
  const std::shared_ptr<const Lesson> lesson = state.lesson.lesson;
  const std::size_t count = lesson->steps.size();
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t step = (state.lesson.step + i) % count;
    if (!textures_.contains(keys_[step])) order.push_back(step);
  }
  worker_ = std::thread([lesson, order, keys = keys_, dark = dark_, shared = shared_,
                         stop = stop_] {
    try {
      const StopScope scope(stop);
      ExperimentRun runner(cpu_only());  // the graphics context is reserved for the window's runs
      for (const std::size_t step : order) {
        while (shared->paused) {
          check_stop();
          std::this_thread::sleep_for(kPauseTick);
        }
        Image image = picture_of(lesson->steps[step], dark, runner);
        const std::scoped_lock lock(shared->mutex);
        shared->made.emplace_back(keys[step], std::move(image));
        glfwPostEmptyEvent();
      }
    } catch (const Stopped&) {
    } catch (const std::exception&) {  // the lesson works without thumbnails
    }
    glfwPostEmptyEvent();
  });
}

bool StepPictures::take() {
  if (shared_ == nullptr) return false;
  std::deque<Made> made;
  {
    const std::scoped_lock lock(shared_->mutex);
    made.swap(shared_->made);
  }
  for (const auto& [key, image] : made) {
    if (!textures_.contains(key)) textures_[key] = texture_of(image);
  }
  return !made.empty();
}

bool StepPictures::update(const State& state) {
  const LessonState& now = state.lesson;
  const bool news = take();
  if (now.lesson == nullptr) {
    if (lesson_ != nullptr) cancel();
    lesson_ = nullptr;
    keys_.clear();
    return news;
  }
  const bool other = lesson_ != now.lesson.get() || dark_ != state.settings.dark;
  if (other) {
    cancel();
    keys_.clear();
    for (const LessonStep& step : now.lesson->steps) {
      keys_.push_back(key_of(step, state.settings.dark));
    }
  }
  if (other || step_ != now.step || state.busy_seconds > 0) stepped_at_ = state.seconds;
  lesson_ = now.lesson.get();
  step_ = now.step;
  dark_ = state.settings.dark;
  if (shared_ != nullptr) {
    shared_->paused = state.busy_seconds > 0;
  } else if (state.seconds - stepped_at_ >= kRestSeconds && !is_complete()) {
    start(state);
  }
  return news;
}

double StepPictures::due(const State& state) const {
  if (state.lesson.lesson == nullptr || shared_ != nullptr || is_complete()) return -1;
  return std::max(0.0, stepped_at_ + kRestSeconds - state.seconds);
}

unsigned int StepPictures::texture(std::size_t step) const {
  if (step >= keys_.size()) return 0;
  const auto found = textures_.find(keys_[step]);
  return found != textures_.end() ? found->second : 0;
}

}  // namespace attnscope::window
