// The window program: waits for events, draws the panels, and carries out their pending requests.
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
#include "app/window/main_window.h"
#include "app/window/memory_trim.h"
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
  // Alternative to run(): prints frame times of every view, or of the opened session only.
  void measure(bool session_only);
  const State& state() const { return state_; }

 private:
  friend class Rehearsal;  // test driver with access to the window's members
  void start_loading_fonts();
  ImFontAtlas& loaded_fonts();
  void start_session(const WindowOptions& options);
  void wait();
  void run_once();  // applies results, draws if something changed, carries out requests
  bool take_outcome();
  void frame();
  void lay_out_frame();  // builds ImGui's draw data
  void update_scale();
  void update_fade();
  void update_speaker();  // opens or closes the window of the speaker's notes on demand
  void draw_speaker(bool redraws);
  void swap_screens();
  void update_presentation();  // enters or leaves full screen
  void show_frame();
  void try_to_show_frame();  // reports OpenGL errors; throws WorkError if they persist
  void save_and_throw(const std::string& reason);  // autosaves; throws WorkError
  void cancel_run();
  void after_frame();  // carries out requests, records history, requests runs
  // True if the session has changed and needs another run.
  bool waits_for_run() const;
  bool needs_run();
  void request_run();
  // For measure(). finish_run() draws until the requested run is shown. frame_times() calls
  // `change` before each timed frame and summarises the times in milliseconds.
  void finish_run();
  std::string frame_times(const std::function<void(int)>& change, bool with_maximum = false);
  void measure_session();
  // Milliseconds from a change of the text to the frame with its run, summarised.
  std::string typing_times();
  void measure_training();    // both with and without a training in the background
  double next_timer() const;  // seconds until the next deadline; negative: none
  void write_report();
  void close();

  WindowOptions options_;
  std::filesystem::path folder_;  // settings and autosaves
  State state_;
  std::shared_ptr<const Trace> trace_before_preview_;  // pins refer to this trace in previews
  Settings saved_;                                     // settings on disk
  Autosave autosave_;
  MemoryTrim memory_trim_;
  ImFontAtlas atlas_;
  Ui ui_;
  std::future<void> font_loading_;  // font rasterisation, concurrent with creating the window
  Platform platform_;
  InputQueue input_;
  ImGuiSession imgui_;
  Painter painter_;
  Screen screen_;
  Fade fade_;
  ScreenBox window_box_;  // box of the window in the last frame
  std::unique_ptr<SpeakerWindow> speaker_;
  double speaker_drawn_at_ = 0;  // seconds of the speaker's clock
  std::string last_view_;        // id of the view in the last frame
  Panels panels_;
  Stop backend_stop_;  // cancels the calibration of the backends
  std::unique_ptr<Runner> runner_;
  SharedSession requested_session_;                     // last request to the runner; null: none
  SharedSession compared_session_;                      // last session compared with that request
  double applied_memory_ = 0;                           // Settings::memory as last applied
  const std::size_t default_memory_ = memory_budget();  // bytes; the budget at the start
  std::uint64_t publications_ = 0;           // model_store()->publications() at the last request
  bool is_presenting_ = false;               // presentation mode in the last frame
  bool presentation_filled_screen_ = false;  // presenting made the window full screen
  bool presentation_opened_notes_ = false;
  // ImGui answers an event one frame later, and its layout needs one more frame to settle.
  static constexpr int kSettleFrames = 3;
  int frames_left_ = 0;  // frames still to draw until ImGui has settled
  std::uint64_t frames_ = 0;
  double frame_start_ = 0;  // start of the last frame, seconds of the window's clock
  int failed_frames_ = 0;   // consecutive frames that OpenGL failed to draw
  int stale_pixels_ = 0;    // pixels that partial redraws left wrong; for tests
  bool is_report_due_ = true;
};

}  // namespace attnscope::window
