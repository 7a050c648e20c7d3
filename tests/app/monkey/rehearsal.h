// Drives a window in this process, much faster than by display events: actions are put into the
// queue that GLFW callbacks fill, and every frame is drawn. Needs a display.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "app/window/app.h"

namespace attnscope::window {

class Rehearsal {
 public:
  // Name and hash of each ImGui window and heat map of a frame.
  using Fingerprint = std::vector<std::pair<std::string, std::uint64_t>>;

  // `folder`: contains the files to open; receives the output.
  Rehearsal(const WindowOptions& options, std::filesystem::path folder);

  // A random user action, as a line of text for perform(): "key 90 2", "click 0 301 77", "drop
  // broken.json".
  std::string random_action(std::mt19937_64& random) const;
  // Throws std::runtime_error if the window fails, for example by a slow frame.
  void perform(const std::string& action);

  // Draws frames until the window is idle, up to `seconds`; true if it became idle.
  bool rest(double seconds);
  // Draws frames until the condition holds, up to a minute; true if the condition held in this
  // time.
  bool draw_until(const std::function<bool()>& condition);
  void linger(double seconds);            // draws frames for this duration
  void click(const std::string& widget);  // throws if the widget is missing
  // Compares a frame drawn with cached state to a frame drawn from scratch; throws if they differ.
  void compare_with_fresh_frame();
  // begin_chain() starts a chain of undo steps. undo_and_redo_chain() undoes and redoes the chain,
  // and throws if this does not restore its start and its end.
  void begin_chain();
  void undo_and_redo_chain();

  double longest_frame() const { return longest_frame_; }  // seconds
  double frame_seconds() const { return frame_seconds_; }  // sum of all frames
  int frames() const { return static_cast<int>(app_.frames_); }
  State& state() { return app_.state_; }
  ImVec2 size() const { return ImGui::GetIO().DisplaySize; }
  // Throws if the widget is not in the last frame.
  Report::Box box(const std::string& widget) const;
  double lecture_text_height() const;  // pixels: height of the smallest letters on stage
  bool is_running() const { return app_.runner_->busy(); }
  void close() { app_.close(); }
  void run() { app_.run(); }  // the main loop, until the window is closed
  void draw_frame();          // throws like perform()

 private:
  void key(int key, int modifiers);
  void button(int button, double x, double y);
  void guard();  // restricts dialogs to the folder and prevents closing
  Fingerprint fingerprint();
  std::string random_place(std::mt19937_64& random) const;

  App app_;
  std::filesystem::path folder_;
  Session chain_start_;
  double longest_frame_ = 0, frame_seconds_ = 0;
};

}  // namespace attnscope::window
