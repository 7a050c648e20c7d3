// ImGui with its backends for GLFW and OpenGL on one window, for as long as this lives. Each has a
// context of its own; the newest is current until another is used.
#pragma once

#include <imgui.h>

struct GLFWwindow;

namespace attnscope::window {

class ImGuiSession {
 public:
  // The window's OpenGL context must be current, also at the end.
  ImGuiSession(GLFWwindow* window, ImFontAtlas& fonts);
  ~ImGuiSession();
  ImGuiSession(const ImGuiSession&) = delete;
  ImGuiSession& operator=(const ImGuiSession&) = delete;

  void use() const { ImGui::SetCurrentContext(context_); }

 private:
  ImGuiContext* before_;
  ImGuiContext* context_;
};

// Whether the current context goes on changing by itself: behind a dialog that has opened, what is
// not it darkens over a sixth of a second.
bool is_dimming();

}  // namespace attnscope::window
