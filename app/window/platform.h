// The window of the desktop with its OpenGL contexts: one that draws, and a hidden one for the
// compute backend that shares its objects.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gpu/context.h"
#include "app/window/settings.h"
#include "app/window/stage.h"

struct GLFWwindow;

namespace attnscope::window {

class Platform {
 public:
  // NoDisplay when there is none, or no OpenGL 3.3.
  explicit Platform(const Settings& settings);
  ~Platform();
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  GLFWwindow* window() const { return window_; }
  // A context that shares textures with the window's; WorkError where OpenGL 4.3 is not to be had.
  // For any thread; must be gone before the platform goes.
  std::unique_ptr<GlContext> compute_context() const;
  bool can_compute() const { return compute_ != nullptr; }
  std::string describe() const;  // what draws: "llvmpipe (LLVM 15.0.6, 256 bits)"

  double monitor_scale() const;  // pixels per unit that the monitor asks for
  bool is_full_screen() const;
  void toggle_full_screen();                      // of the monitor that shows most of the window
  void fill(std::optional<std::size_t> monitor);  // also from another; without one, nothing
  ScreenBox place() const;                        // of the window
  std::vector<ScreenBox> monitors() const;        // what windows may cover of each
  // A window that shares the first one's OpenGL objects; destroyed by the caller, before this.
  // WorkError when there is none to be had.
  GLFWwindow* open_second(const char* title, const ScreenBox& box) const;
  void remember(Settings& settings) const;  // where the window is

 private:
  GLFWwindow* window_ = nullptr;
  GLFWwindow* compute_ = nullptr;
  std::string no_compute_;  // why there is no compute context
  ScreenBox windowed_;      // before full screen
};

}  // namespace attnscope::window
