#include "app/window/jobs/open_job.h"

#include <GLFW/glfw3.h>

#include "app/window/error_text.h"

namespace attnscope::window {

OpenJob::OpenJob(std::filesystem::path path) : path_(std::move(path)) {
  thread_ = std::thread([this] {
    try {
      file_ = read_to_open(path_);
    } catch (const std::exception& e) {
      problem_ = error_text(e);
    }
    finished_ = true;
    glfwPostEmptyEvent();
  });
}

OpenJob::~OpenJob() {
  thread_.join();
}

}  // namespace attnscope::window
