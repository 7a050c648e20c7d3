// Virtual display, and the program on it, operated by real X events (xdotool).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace attnscope::window {

// X server with a virtual screen (Xvfb).
class Display {
 public:
  Display(int width, int height);
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;
  const std::string& name() const { return name_; }  // ":3"
  // Makes this process use the display, with settings and caches in the folder.
  void use(const std::filesystem::path& folder) const;

 private:
  pid_t server_ = 0;
  std::string name_;
};

// The program under test. It reports its state to a file whenever it is idle; all waits use these
// reports, with a generous limit for slow machines.
class Program {
 public:
  // Plain: without opening moves, with full controls, unless the arguments say otherwise. First: as
  // at a user's first start.
  enum class Start { Plain, First };
  // `folder`: folder of the program's configuration and reports.
  Program(const Display& display, const std::filesystem::path& folder,
          const std::vector<std::string>& arguments,
          const std::map<std::string, std::string>& environment = {}, Start start = Start::Plain);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  using Report = Json;
  using Condition = std::function<bool(const Report&)>;
  // Waits until the program is idle, has noticed the last pointer position, and reports a state
  // that satisfies the condition; returns the report. Throws an error that names `expected` on
  // timeout.
  Report wait_for(const std::string& expected, const Condition& condition = {});

  // Waits for a report of the speaker window, idle or not, that satisfies the condition.
  Report wait_for_speaker(const std::string& expected, const Condition& condition = {}) const;

  // Waits until no frame was drawn for `duration`, and returns the total number of frames. Fails
  // the test if the program never becomes idle.
  int wait_for_still_frames(std::chrono::steady_clock::duration duration);

  void xdotool(const std::string& arguments) const;
  void click(const std::string& widget);  // waits for the widget and clicks its centre
  // Runs a view command by its button or, in the toolbar's overflow list, by its row.
  void command(const std::string& id);
  // Opens a view by its tab, or by the menu if it has no tab.
  void open_view(const std::string& id);
  void open_view_by_menu(const std::string& id);  // also without content for the view
  // Presses at the fraction `from` of the widget's width, drags to `to`, and releases.
  void drag(const std::string& widget, double from, double to);
  void type(const std::string& text) const;
  void press(const std::string& key) const;  // "ctrl+e"
  void point_at(double x, double y);         // in window pixels
  void rest_pointer() { point_at(2, 2); }    // outside all content

  // Saves a screenshot of the window, or of the speaker window, in the build folder, screenshots/.
  void keep_screenshot(const std::string& name, bool is_speaker = false) const;

  pid_t process() const { return process_; }
  double processor_seconds() const;  // total CPU time
  int wait_for_end();                // exit status; -1 on timeout or signal
  void kill_hard();

 private:
  static Report read_report(const std::filesystem::path& file);
  std::string move_to(double x, double y);  // returns xdotool arguments; sets `pointer_`
  std::string display_;
  std::filesystem::path report_;
  pid_t process_ = 0;
  std::vector<double> pointer_;  // last position; empty before the first move
};

}  // namespace attnscope::window
