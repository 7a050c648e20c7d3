#include "app/window/imgui_session.h"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui_internal.h>

namespace attnscope::window {

ImGuiSession::ImGuiSession(GLFWwindow* window, ImFontAtlas& fonts)
    : previous_context_(ImGui::GetCurrentContext()), context_(ImGui::CreateContext(&fonts)) {
  IMGUI_CHECKVERSION();
  use();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // the program has its own settings
  io.ConfigWindowsMoveFromTitleBarOnly = true;
#if IMGUI_VERSION_NUM >= 18700
  io.ConfigInputTrickleEventQueue = false;  // the InputQueue splits events into frames
#endif
  ImGui_ImplGlfw_InitForOpenGL(window, false);  // events come through the InputQueue
  ImGui_ImplOpenGL3_Init("#version 330");
}

ImGuiSession::~ImGuiSession() {
  use();
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext(context_);
  ImGui::SetCurrentContext(previous_context_);
}

bool is_dimming() {
  const float ratio = ImGui::GetCurrentContext()->DimBgRatio;
  return ratio > 0 && ratio < 1;
}

}  // namespace attnscope::window
