// A display of its own for a test, and the program on it, worked by real X events (xdotool).
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

// An X server without a screen.
class Display {
 public:
  Display(int width, int height);
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;
  const std::string& name() const { return name_; }  // ":3"
  // For this process from now on, with settings and caches in the folder.
  void use(const std::filesystem::path& folder) const;

 private:
  pid_t server_ = 0;
  std::string name_;
};

// The program under test. It says in a file what it shows whenever it comes to rest; all waiting
// here is for such reports, with a generous limit for slow machines.
class Program {
 public:
  // `folder` is its configuration folder and where its reports go.
  Program(const Display& display, const std::filesystem::path& folder,
          const std::vector<std::string>& arguments,
          const std::map<std::string, std::string>& environment = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  using Report = Json;
  using Condition = std::function<bool(const Report&)>;
  // The newest report once the condition holds, nothing is computed and the pointer is known to be
  // where it was put last; fails the test, naming `what`, when that does not come.
  Report wait_for(const std::string& what, const Condition& condition = {});

  // The same for the speaker's window, whose widgets are at places of its own; at rest or not.
  Report wait_for_speaker(const std::string& what, const Condition& condition = {}) const;

  // The number of frames drawn, once none was drawn for this long; fails the test when the program
  // never comes to rest.
  int wait_for_still_frames(std::chrono::steady_clock::duration rest);

  void xdotool(const std::string& arguments) const;
  void click(const std::string& widget);  // once it is there, in its middle
  // A view's command, by its button or, where the toolbar has no room, in the list of the others.
  void command(const std::string& id);
  // By its tab, or where the bar of views leaves it out, from the menu.
  void open_view(const std::string& id);
  // Presses at one share of the widget's width, drags to another, and lets go.
  void drag(const std::string& widget, double from, double to);
  void type(const std::string& text) const;
  void press(const std::string& key) const;  // "ctrl+e"
  void point_at(double x, double y);         // in pixels of the window
  void rest_pointer() { point_at(2, 2); }    // where it points at nothing

  // A copy of what the window, or the speaker's, shows, in the build folder under screenshots/.
  void keep_screenshot(const std::string& name, bool of_speaker = false) const;

  pid_t process() const { return process_; }
  double processor_seconds() const;  // used so far
  int wait_for_end();                // the exit status; -1 when it does not end
  void kill_hard();

 private:
  static Report read_report(const std::filesystem::path& file);
  std::string move_to(double x, double y);  // the words for xdotool, and what reports must say
  std::string display_;
  std::filesystem::path report_;
  pid_t process_ = 0;
  std::vector<double> pointer_;  // where it was put last; empty while it was not moved
};

}  // namespace attnscope::window
