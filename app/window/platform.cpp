#include "app/window/platform.h"

#include <GLFW/glfw3.h>
#include <epoxy/gl.h>

#include <algorithm>

#include "app/window/display_loss.h"
#include "app/window/window.h"
#include "core/base/error.h"

namespace attnscope::window {
namespace {

constexpr int kDefaultWidth = 1440, kDefaultHeight = 900;

// Last GLFW error; errors are delivered by callback.
std::string& last_error() {
  static std::string text;
  return text;
}

class WindowContext : public GlContext {
 public:
  explicit WindowContext(GLFWwindow* window) : window_(window) {}
  void make_current() override {
    glfwMakeContextCurrent(window_);
    if (glfwGetCurrentContext() != window_) {
      throw WorkError("GPU: no context from the window system (" + last_error() + ")");
    }
  }
  void release() override { glfwMakeContextCurrent(nullptr); }

 private:
  GLFWwindow* window_;
};

GLFWwindow* create_window(int major, int minor, int width, int height, bool visible,
                          GLFWwindow* shared) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, major);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, minor);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  // A reset by the driver causes, where supported, an OpenGL error instead of ending the program.
  glfwWindowHint(GLFW_CONTEXT_ROBUSTNESS, GLFW_LOSE_CONTEXT_ON_RESET);
  glfwWindowHint(GLFW_VISIBLE, visible ? GLFW_TRUE : GLFW_FALSE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_FALSE);
  // A click on the speaker's window must not minimise the presentation.
  glfwWindowHint(GLFW_AUTO_ICONIFY, GLFW_FALSE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "attnscope");
  return glfwCreateWindow(width, height, "attnscope", nullptr, shared);
}

// Initial size: the last one or the default, at most the monitor's.
void choose_size(const Settings& settings, int& width, int& height) {
  width = settings.width > 0 ? settings.width : kDefaultWidth;
  height = settings.height > 0 ? settings.height : kDefaultHeight;
  if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) {
    int x = 0, y = 0, max_width = width, max_height = height;
    glfwGetMonitorWorkarea(monitor, &x, &y, &max_width, &max_height);
    if (max_width > 0) width = std::min(width, max_width);
    if (max_height > 0) height = std::min(height, max_height);
  }
}

}  // namespace

Platform::Platform(const Settings& settings) {
  glfwSetErrorCallback([](int, const char* text) { last_error() = text; });
  if (!glfwInit()) throw NoDisplay("cannot open a window: " + last_error());
  end_on_display_loss();
  int width = 0, height = 0;
  choose_size(settings, width, height);
  window_ = create_window(4, 3, width, height, true, nullptr);
  if (window_ != nullptr) {
    // Windows can only be created on the main thread, so the hidden one is created in advance.
    compute_window_ = create_window(4, 3, 16, 16, false, window_);
    if (compute_window_ == nullptr)
      compute_error_ = "GPU: no second context (" + last_error() + ")";
  } else {
    compute_error_ = "GPU: the driver has no OpenGL 4.3";
    window_ = create_window(3, 3, width, height, true, nullptr);
  }
  if (window_ == nullptr) {
    glfwTerminate();
    throw NoDisplay("cannot open a window: OpenGL 3.3 is required (" + last_error() + ")");
  }
  glfwSetWindowSizeLimits(window_, 480, 320, GLFW_DONT_CARE, GLFW_DONT_CARE);
  if (settings.width > 0 && !settings.maximised) glfwSetWindowPos(window_, settings.x, settings.y);
  if (settings.maximised) glfwMaximizeWindow(window_);
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
}

Platform::~Platform() {
  if (compute_window_ != nullptr) glfwDestroyWindow(compute_window_);
  glfwDestroyWindow(window_);
  glfwTerminate();
}

std::unique_ptr<GlContext> Platform::compute_context() const {
  if (compute_window_ == nullptr) throw WorkError(compute_error_);
  return std::make_unique<WindowContext>(compute_window_);
}

std::string Platform::describe() const {
  const auto* name = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  return name != nullptr ? name : "";
}

double Platform::monitor_scale() const {
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  return std::clamp(static_cast<double>(std::max(x, y)), 0.5, 4.0);
}

bool Platform::is_full_screen() const {
  return glfwGetWindowMonitor(window_) != nullptr;
}

void Platform::toggle_full_screen() {
  if (is_full_screen()) {
    glfwSetWindowMonitor(window_, nullptr, windowed_.x, windowed_.y, windowed_.width,
                         windowed_.height, GLFW_DONT_CARE);
    return;
  }
  fill_monitor(monitor_of(window_box(), monitors()));
}

void Platform::fill_monitor(std::optional<std::size_t> monitor) {
  int count = 0;
  GLFWmonitor** handles = glfwGetMonitors(&count);
  if (!monitor || *monitor >= static_cast<std::size_t>(count)) return;
  if (!is_full_screen()) windowed_ = window_box();
  const GLFWvidmode* mode = glfwGetVideoMode(handles[*monitor]);
  glfwSetWindowMonitor(window_, handles[*monitor], 0, 0, mode->width, mode->height,
                       mode->refreshRate);
}

ScreenBox Platform::window_box() const {
  ScreenBox box;
  glfwGetWindowPos(window_, &box.x, &box.y);
  glfwGetWindowSize(window_, &box.width, &box.height);
  return box;
}

std::vector<ScreenBox> Platform::monitors() const {
  int count = 0;
  GLFWmonitor** handles = glfwGetMonitors(&count);
  std::vector<ScreenBox> boxes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    ScreenBox& box = boxes[i];
    glfwGetMonitorWorkarea(handles[i], &box.x, &box.y, &box.width, &box.height);
  }
  return boxes;
}

GLFWwindow* Platform::open_second_window(const char* title, const ScreenBox& box) const {
  glfwWindowHint(GLFW_FOCUS_ON_SHOW, GLFW_FALSE);  // the presentation keeps the keyboard focus
  const bool has_gl43 = compute_window_ != nullptr;
  GLFWwindow* second = create_window(has_gl43 ? 4 : 3, 3, box.width, box.height, false, window_);
  glfwWindowHint(GLFW_FOCUS_ON_SHOW, GLFW_TRUE);
  if (second == nullptr) throw WorkError("cannot open a second window: " + last_error());
  glfwSetWindowTitle(second, title);
  glfwSetWindowPos(second, box.x, box.y);
  glfwSetWindowSizeLimits(second, 320, 240, GLFW_DONT_CARE, GLFW_DONT_CARE);
  glfwShowWindow(second);
  return second;
}

void Platform::store_window_box(Settings& settings) const {
  settings.maximised = glfwGetWindowAttrib(window_, GLFW_MAXIMIZED) == GLFW_TRUE;
  if (settings.maximised || glfwGetWindowMonitor(window_) != nullptr) return;
  glfwGetWindowPos(window_, &settings.x, &settings.y);
  glfwGetWindowSize(window_, &settings.width, &settings.height);
}

}  // namespace attnscope::window
