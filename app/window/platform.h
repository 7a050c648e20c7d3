// The desktop window and two OpenGL contexts that share objects: the window's, and a hidden one for
// the compute backend.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gpu/context.h"
#include "app/window/presentation.h"
#include "app/window/settings.h"

struct GLFWwindow;

namespace attnscope::window {

class Platform {
 public:
  // Throws NoDisplay without a display or OpenGL 3.3.
  explicit Platform(const Settings& settings);
  ~Platform();
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  GLFWwindow* window() const { return window_; }
  // Returns a context that shares textures with the window's context, for use on any thread.
  // Destroy the context before the platform. Throws WorkError without OpenGL 4.3.
  std::unique_ptr<GlContext> compute_context() const;
  bool can_compute() const { return compute_window_ != nullptr; }
  std::string describe() const;  // renderer name: "llvmpipe (LLVM 15.0.6, 256 bits)"

  double monitor_scale() const;  // pixels per unit that the monitor requests
  bool is_full_screen() const;
  void toggle_full_screen();  // on the monitor that shows most of the window
  void fill_monitor(std::optional<std::size_t> monitor);  // fills the monitor; nullopt: no effect
  ScreenBox window_box() const;                           // position and size
  std::vector<ScreenBox> monitors() const;                // work area of each monitor
  // Opens a window that shares OpenGL objects with the first; the caller destroys it before the
  // platform. Throws WorkError on failure.
  GLFWwindow* open_second_window(const char* title, const ScreenBox& box) const;
  void store_window_box(Settings& settings) const;  // stores the window's position and size

 private:
  GLFWwindow* window_ = nullptr;
  GLFWwindow* compute_window_ = nullptr;
  std::string compute_error_;  // reason why there is no compute context
  ScreenBox windowed_;         // box of the window before it became full screen
};

}  // namespace attnscope::window
