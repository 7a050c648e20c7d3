#include "app/window/jobs/export_job.h"

#include <GLFW/glfw3.h>

namespace attnscope::window {

ExportJob::ExportJob(std::filesystem::path path, Write write) : path_(std::move(path)) {
  thread_ = std::thread([this, write = std::move(write)] {
    try {
      write([this](double share) { share_ = share; }, stop_);
    } catch (const Stopped&) {
      cancelled_ = true;
    } catch (const std::exception& e) {
      problem_ = e.what();
    }
    over_ = true;
    glfwPostEmptyEvent();
  });
}

ExportJob::~ExportJob() {
  cancel();
  thread_.join();
}

}  // namespace attnscope::window
