#include "app/window/jobs/export_job.h"

#include <GLFW/glfw3.h>

#include "app/window/error_text.h"
#include "core/base/stop_scope.h"

namespace attnscope::window {

ExportJob::ExportJob(std::filesystem::path path, Write write) : path_(std::move(path)) {
  thread_ = std::thread([this, write = std::move(write)] {
    try {
      const StopScope scope(stop_);  // a file is written completely or not at all
      write([this](double share) { share_ = share; });
    } catch (const Stopped&) {
      cancelled_ = true;
    } catch (const std::exception& e) {
      problem_ = error_text(e);
    }
    finished_ = true;
    glfwPostEmptyEvent();
  });
}

ExportJob::~ExportJob() {
  cancel();
  thread_.join();
}

}  // namespace attnscope::window
