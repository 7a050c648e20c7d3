// ImGui with its GLFW and OpenGL backends for one window, as an RAII object. Each session has a
// separate context. The newest context is current until another session calls use().
#pragma once

#include <imgui.h>

struct GLFWwindow;

namespace attnscope::window {

class ImGuiSession {
 public:
  // Requires the window's OpenGL context to be current here and in the destructor.
  ImGuiSession(GLFWwindow* window, ImFontAtlas& fonts);
  ~ImGuiSession();
  ImGuiSession(const ImGuiSession&) = delete;
  ImGuiSession& operator=(const ImGuiSession&) = delete;

  void use() const { ImGui::SetCurrentContext(context_); }

 private:
  ImGuiContext* previous_context_;
  ImGuiContext* context_;
};

// True while a new dialog dims the background of the current context, which lasts 1/6 s.
bool is_dimming();

}  // namespace attnscope::window
