#include "app/window/imgui_session.h"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui_internal.h>

namespace attnscope::window {

ImGuiSession::ImGuiSession(GLFWwindow* window, ImFontAtlas& fonts)
    : before_(ImGui::GetCurrentContext()), context_(ImGui::CreateContext(&fonts)) {
  IMGUI_CHECKVERSION();
  use();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;               // our own settings remember what is worth it
  io.ConfigInputTextCursorBlink = false;  // a blinking caret would keep the processor awake
  io.ConfigWindowsMoveFromTitleBarOnly = true;
#if IMGUI_VERSION_NUM >= 18700
  io.ConfigInputTrickleEventQueue =
      false;  // the InputQueue gives each frame what it can tell apart
#endif
  ImGui_ImplGlfw_InitForOpenGL(window, false);  // events come through the InputQueue
  ImGui_ImplOpenGL3_Init("#version 330");
}

ImGuiSession::~ImGuiSession() {
  use();
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext(context_);
  ImGui::SetCurrentContext(before_);
}

bool is_dimming() {
  const float share = ImGui::GetCurrentContext()->DimBgRatio;
  return share > 0 && share < 1;
}

}  // namespace attnscope::window
