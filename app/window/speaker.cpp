#include "app/window/speaker.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>

#include <algorithm>
#include <cmath>

#include "app/gpu/context.h"
#include "app/gpu/heat_map_painter.h"
#include "app/window/actions/actions.h"
#include "app/window/font_texture.h"
#include "app/window/panels/speaker_panel.h"
#include "core/base/json.h"

namespace attnscope::window {
namespace {

constexpr int kSpeakerSettleFrames = 3;                // frames, as for the first window
constexpr double kFullWidth = 880, kFullHeight = 600;  // size of the contents, in units
constexpr double kMinReadingScale = 0.8, kScaleStepsPerUnit = 20;  // scale is rounded to 1/20

// Makes a window and its ImGui session current; restores the previous ones on destruction.
class CurrentContextScope {
 public:
  CurrentContextScope(GLFWwindow* window, const ImGuiSession* session)
      : previous_window_(glfwGetCurrentContext()), previous_context_(ImGui::GetCurrentContext()) {
    glfwMakeContextCurrent(window);
    if (session != nullptr) session->use();
  }
  ~CurrentContextScope() {
    ImGui::SetCurrentContext(previous_context_);
    glfwMakeContextCurrent(previous_window_);
  }
  CurrentContextScope(const CurrentContextScope&) = delete;
  CurrentContextScope& operator=(const CurrentContextScope&) = delete;

 private:
  GLFWwindow* previous_window_;
  ImGuiContext* previous_context_;
};

}  // namespace

void SpeakerWindow::Closer::operator()(GLFWwindow* window) const {
  glfwDestroyWindow(window);
}

SpeakerWindow::SpeakerWindow(const Platform& platform, const std::filesystem::path& report)
    : platform_(platform) {
  const SpeakerPlace place = speaker_place(platform.window_box(), platform.monitors());
  has_own_monitor_ = place.has_own_monitor;
  window_.reset(platform.open_second_window("Speaker's notes – attnscope", place.box));
  if (has_own_monitor_) glfwMaximizeWindow(window_.get());
  if (!report.empty()) ui_.report = Report(report.string() + ".speaker");
  const CurrentContextScope scope(window_.get(), nullptr);
  glfwSwapInterval(0);  // the first window already waits for its screen
  input_ = std::make_unique<InputQueue>(window_.get());
  ui_.fonts.load(atlas_, 1, true);
  imgui_ = std::make_unique<ImGuiSession>(window_.get(), atlas_);
  ui_.fonts.track_missing_glyphs();
  frames_left_ = kSpeakerSettleFrames;
}

SpeakerWindow::~SpeakerWindow() {
  const CurrentContextScope scope(window_.get(), imgui_.get());
  imgui_.reset();
}

bool SpeakerWindow::is_closed() const {
  return glfwWindowShouldClose(window_.get()) != 0;
}

void SpeakerWindow::update_look(const State& state) {
  int width = 0, height = 0;
  glfwGetWindowSize(window_.get(), &width, &height);
  const double fitting_scale = std::min(width / kFullWidth, height / kFullHeight);
  const double scale =
      std::clamp(std::round(fitting_scale * kScaleStepsPerUnit) / kScaleStepsPerUnit,
                 kMinReadingScale, kMaxScale);
  const Look& look = state.settings.dark ? Look::dark_look() : Look::light();
  const bool fonts_changed = scale != ui_.fonts.scale() || ui_.fonts.lacks_glyphs();
  if (fonts_changed) {
    ui_.fonts.load(atlas_, scale, true);
#if IMGUI_VERSION_NUM < 19200
    if (ui_.look != nullptr) {  // the first frame creates the first texture
      ImGui_ImplOpenGL3_DestroyFontsTexture();
      ImGui_ImplOpenGL3_CreateFontsTexture();
    }
#endif
  }
  ui_.scale = scale;
  if (fonts_changed || ui_.look != &look) {
    ui_.look = &look;
    apply(look, scale);
  }
}

void SpeakerWindow::draw_frame(State& state, const StepTextures& pictures) {
  const CurrentContextScope scope(window_.get(), imgui_.get());
  frames_left_ = input_->pending() ? kSpeakerSettleFrames : std::max(frames_left_ - 1, 0);
  update_look(state);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ui_.strokes = input_->feed();
  ImGui::NewFrame();
  ui_.report.begin_frame();
  ImGui::PushFont(ui_.fonts.body);
  draw_speaker_panel(ui_, state, pictures, has_own_monitor_);
  ImGui::PopFont();
  if (!state.dialogs.open()) run_shortcuts(state, ui_.strokes, false);
  ImGui::Render();
  if (ui_.fonts.rasterise_missing(*ImGui::GetDrawData())) {
    frames_left_ = kSpeakerSettleFrames;
    update_font_texture(atlas_, ui_.fonts.shaped().take_changes());
  } else {
    show(state);
  }
}

void SpeakerWindow::show(const State& state) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_.get(), &width, &height);
  if (width <= 0 || height <= 0) return;  // the window is minimised
  glViewport(0, 0, width, height);
  const ImVec4& background = ui_.look->panel;
  glClearColor(background.x, background.y, background.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  check_gl("drawing the speaker's window");
  if (ui_.report.is_on()) {
    ui_.report.screenshot(read_framebuffer(width, height));
    write_report(state);
  }
  glfwSwapBuffers(window_.get());
}

void SpeakerWindow::write_report(const State& state) {
  int x = 0, y = 0;
  glfwGetWindowPos(window_.get(), &x, &y);
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  Json facts = {{"place", {x, y}},
                {"window", {size.x, size.y}},
                {"scale", ui_.scale},
                {"black", state.presentation.is_black},
                {"elapsed", std::floor(state.seconds - state.lesson.clock_start)}};
  const LessonState& lessons = state.lesson;
  if (lessons.lesson != nullptr) facts["says"] = lessons.lesson->steps[lessons.step].notes;
  ui_.report.write(std::move(facts));
}

}  // namespace attnscope::window
