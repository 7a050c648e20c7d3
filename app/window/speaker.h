// The speaker's window: a second one beside the stage, on another monitor where there is one.
#pragma once

#include <filesystem>
#include <memory>

#include "app/window/imgui_session.h"
#include "app/window/input.h"
#include "app/window/jobs/step_pictures.h"
#include "app/window/platform.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

class SpeakerWindow {
 public:
  // `report`: as the program's, beside which this window's stands with ".speaker" added; or empty.
  // WorkError when there is no second window to be had.
  SpeakerWindow(const Platform& platform, const std::filesystem::path& report);
  ~SpeakerWindow();
  SpeakerWindow(const SpeakerWindow&) = delete;
  SpeakerWindow& operator=(const SpeakerWindow&) = delete;

  // Whether something happened in it, or it has not come to rest since.
  bool pending() const { return input_->pending() || settle_ > 0; }
  bool closed() const;  // by its own button
  // Draws it and carries out what was done in it, keys among them. Afterwards the first window and
  // its ImGui context are current as before.
  void frame(State& state, const StepPictures& pictures);

 private:
  struct Closer {
    void operator()(GLFWwindow* window) const;
  };
  void update_look(const State& state);
  void show(const State& state);
  void write_report(const State& state);

  const Platform& platform_;
  bool own_monitor_ = false;
  std::unique_ptr<GLFWwindow, Closer> window_;
  ImFontAtlas atlas_;
  Ui ui_;
  std::unique_ptr<InputQueue> input_;
  std::unique_ptr<ImGuiSession> imgui_;
  int settle_ = 0;
};

}  // namespace attnscope::window
