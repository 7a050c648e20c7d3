// The window worked from within, much faster than by a display's events: what a person does goes
// through the same queue that GLFW's callbacks fill, and every frame is drawn. Needs a display.
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
  // What ImGui's windows and heat maps of a frame are made of: name and hash of each.
  using Fingerprint = std::vector<std::pair<std::string, std::uint64_t>>;

  // `folder`: with files to open, and where all is written.
  Rehearsal(const WindowOptions& options, std::filesystem::path folder);

  // One thing that a person may do, as a line of text that do_it() understands: "key 90 2",
  // "press 0 301 77", "drop broken.json".
  std::string random_action(std::mt19937_64& random) const;
  // Throws std::runtime_error where the window fails: it took too long, for one.
  void do_it(const std::string& action);

  // Frames until the window has come to rest, for so long at most; whether it has.
  bool rest(double seconds);
  // Frames until it holds, for a minute at most; whether it does.
  bool turn_until(const std::function<bool()>& holds);
  void linger(double seconds);            // frames for so long, whatever is done
  void click(const std::string& widget);  // that must be there
  // What is drawn, with all that is kept from frame to frame and without: throws where they differ.
  void compare_with_drawn_anew();
  // From here on steps are counted; and back over all of them, and forth again: throws where that
  // leads elsewhere.
  void begin_chain();
  void go_back_and_forth();

  double longest_turn() const { return longest_; }  // seconds
  double in_turns() const { return in_turns_; }     // all of them
  int frames() const { return static_cast<int>(app_.frames_); }
  State& state() { return app_.state_; }
  ImVec2 size() const { return ImGui::GetIO().DisplaySize; }
  Report::Box box(const std::string& widget) const;  // throws where it is not in the last frame
  double lecture_text() const;                       // height of the smallest letters on stage
  bool runs() const { return app_.runner_->busy(); }
  void close() { app_.close(); }
  void run() { app_.run(); }  // as the program does, until it is closed
  void turn();                // throws as do_it()

 private:
  void key(int key, int modifiers);
  void button(int button, double x, double y);
  void guard();  // stays in its folder and open
  Fingerprint fingerprint();
  std::string random_place(std::mt19937_64& random) const;

  App app_;
  std::filesystem::path folder_;
  Experiment chain_start_;
  double longest_ = 0, in_turns_ = 0;
};

}  // namespace attnscope::window
