// The speaker's window, next to the presentation or, if possible, on another monitor.
#pragma once

#include <filesystem>
#include <memory>

#include "app/window/imgui_session.h"
#include "app/window/input.h"
#include "app/window/panels/step_textures.h"
#include "app/window/platform.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

class SpeakerWindow {
 public:
  // `report`: path of the program's report; empty: none. The speaker's window reports to
  // `report`.speaker. Throws WorkError if no second window can be opened.
  SpeakerWindow(const Platform& platform, const std::filesystem::path& report);
  ~SpeakerWindow();
  SpeakerWindow(const SpeakerWindow&) = delete;
  SpeakerWindow& operator=(const SpeakerWindow&) = delete;

  // True if input is unprocessed or the layout has not settled.
  bool pending() const { return input_->pending() || frames_left_ > 0; }
  bool is_closed() const;  // by its close button
  // Draws a frame and handles its input. Restores the previous window and ImGui context.
  void draw_frame(State& state, const StepTextures& pictures);

 private:
  struct Closer {
    void operator()(GLFWwindow* window) const;
  };
  void update_look(const State& state);
  void show(const State& state);
  void write_report(const State& state);

  const Platform& platform_;
  bool has_own_monitor_ = false;
  std::unique_ptr<GLFWwindow, Closer> window_;
  ImFontAtlas atlas_;
  Ui ui_;
  std::unique_ptr<InputQueue> input_;
  std::unique_ptr<ImGuiSession> imgui_;
  int frames_left_ = 0;
};

}  // namespace attnscope::window
