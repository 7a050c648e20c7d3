// The program behind the window: waits for something to happen, has the panels drawn, carries out
// what they wish for.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "app/window/fade.h"
#include "app/window/imgui_session.h"
#include "app/window/input.h"
#include "app/window/jobs/autosave.h"
#include "app/window/jobs/finding_job.h"
#include "app/window/main_window.h"
#include "app/window/platform.h"
#include "app/window/screen.h"
#include "app/window/speaker.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"
#include "app/window/window.h"
#include "core/base/memory_budget.h"
#include "core/experiment/runner.h"

namespace attnscope::window {

class App {
 public:
  explicit App(const WindowOptions& options);
  ~App();
  void run();
  // Instead of run(): prints how long frames take, in each view or (`shown`) of what is opened.
  void measure(bool shown);
  // A file that is being written and will not be when the window closes now; empty: none.
  std::string unwritten() const;

 private:
  friend class Rehearsal;  // of tests: works the window from within
  void stop_jobs();
  void begin_baking();
  ImFontAtlas& baked();
  void start_experiment(const WindowOptions& options);
  void wait();
  void turn();  // takes what is new, draws where something is to be seen, does what is wished for
  bool take_outcome();
  void frame();
  void lay_out_frame();  // ImGui's side of it: what is to be drawn
  void update_scale();
  void update_fade();
  void update_speaker();  // the window for notes: there while they are asked for
  void draw_speaker(bool anew);
  void swap_screens();
  void update_stage();  // full screen with it
  void show_frame();
  void try_to_show_frame();  // what OpenGL fails at is said; WorkError where it goes on failing
  void keep_safe(const char* reason);  // the window cannot go on: the session on disk
  void cancel_run();
  void after_frame();  // wishes, history, requests
  void request_run();
  // For measure(): draws until what is asked for is shown; times frames after a change each.
  void finish_run();
  std::string frame_times(const std::function<void(int)>& change, bool largest = false);
  void measure_shown();
  double next_timer() const;  // seconds until something is due; negative: nothing is
  void write_report();
  void close();

  WindowOptions options_;
  std::filesystem::path folder_;  // of settings and autosaves
  State state_;
  std::shared_ptr<const Trace> before_preview_;  // what pins were set in
  Settings saved_;                               // as on disk
  Autosave autosave_;
  ImFontAtlas atlas_;
  Ui ui_;
  std::future<void> baking_;  // of the fonts, while the window is made
  Platform platform_;
  InputQueue input_;
  ImGuiSession imgui_;
  Painter painter_;
  Screen screen_;
  Fade fade_;
  ScreenBox screen_size_;  // where the window was in the last frame
  std::unique_ptr<SpeakerWindow> speaker_;
  double speaker_drawn_ = 0;  // when: seconds of its clock
  std::string view_shown_;    // by the last frame
  Panels panels_;
  Stop ending_;  // of what belongs to no run: how fast the backends are
  std::unique_ptr<Runner> runner_;
  FindingJobs finding_jobs_;
  Experiment requested_;                              // what the runner was last asked for
  double memory_ = 0;                                 // Settings::memory as it was applied
  const std::size_t usual_memory_ = memory_budget();  // what the command line says, or the machine
  bool has_requested_ = false;
  bool on_stage_ = false, stage_filled_ = false;  // entered; it made the window fill the screen
  bool stage_opened_notes_ = false;
  // ImGui answers an event in the frame after it, and its layout takes one more to come to rest.
  static constexpr int kSettleFrames = 3;
  int settle_ = 0;  // frames still to draw until ImGui has come to rest
  std::uint64_t frames_ = 0;
  double drawn_at_ = 0;    // seconds of the window's clock when the last frame began
  int failed_frames_ = 0;  // one after the other, that OpenGL did not draw
  int stale_pixels_ = 0;   // that drawing only what changed left wrong; counted for tests
  bool report_due_ = true;
};

}  // namespace attnscope::window
