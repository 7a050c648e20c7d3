#include "tests/app/events/desktop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/support/places.h"

namespace attnscope::window {
namespace {

using namespace std::chrono_literals;
constexpr auto kTimeout = 120s;
constexpr auto kPause = 20ms;

std::vector<char*> c_strings(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Returns true and sets `status` to the wait status if the process has ended.
bool has_ended(pid_t process, int& status) {
  return waitpid(process, &status, WNOHANG) == process;
}

}  // namespace

Display::Display(int width, int height) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) throw std::runtime_error("no pipe");
  server_ = fork();
  if (server_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // ends the server even if the test crashes
    const int null_file = open("/dev/null", O_WRONLY);
    dup2(null_file, 1);
    dup2(null_file, 2);
    close(pipe_ends[0]);
    const std::string screen = std::to_string(width) + "x" + std::to_string(height) + "x24";
    execlp("Xvfb", "Xvfb", "-displayfd", std::to_string(pipe_ends[1]).c_str(), "-screen", "0",
           screen.c_str(), "-nolisten", "tcp", "-noreset", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(pipe_ends[1]);
  // Xvfb writes its display number when ready; the pipe closes if it fails.
  std::string number;
  for (char c = 0; read(pipe_ends[0], &c, 1) == 1 && c != '\n';) number += c;
  close(pipe_ends[0]);
  if (number.empty()) throw std::runtime_error("Xvfb does not start");
  name_ = ":" + number;
  // Settings are separate for each program; compiled shaders of software OpenGL are shared.
  setenv("MESA_SHADER_CACHE_DIR", (testing::build_folder() / "shader-cache").c_str(), 1);
}

Display::~Display() {
  kill(server_, SIGTERM);
  waitpid(server_, nullptr, 0);
}

void Display::use(const std::filesystem::path& folder) const {
  setenv("DISPLAY", name_.c_str(), 1);
  for (const char* name : {"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"}) {
    setenv(name, folder.c_str(), 1);
  }
  setenv("ATTNSCOPE_MODEL", "none", 1);  // fetches no models
}

Program::Program(const Display& display, const std::filesystem::path& folder,
                 const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& environment, Start start)
    : display_(display.name()), report_(folder / "report.json") {
  std::filesystem::remove(report_);
  std::vector<std::string> command = {testing::program_path(), "--report", report_.string()};
  const auto has = [&](const char* option) { return std::ranges::count(arguments, option) > 0; };
  if (start == Start::Plain && !has("--tour")) command.push_back("--no-tour");
  if (start == Start::Plain && !has("--controls")) {
    command.insert(command.end(), {"--controls", "full"});
  }
  command.insert(command.end(), arguments.begin(), arguments.end());
  process_ = fork();
  if (process_ == 0) {
    setenv("DISPLAY", display_.c_str(), 1);
    setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
    setenv("XDG_DATA_HOME", folder.c_str(), 1);
    setenv("ATTNSCOPE_MODEL", "none", 1);  // fetches no models
    // All tests share one calibration of the backends, which costs seconds.
    setenv("XDG_CACHE_HOME", (testing::build_folder() / "window-cache").c_str(), 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> pointers = c_strings(command);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
}

Program::~Program() {
  if (process_ != 0) kill_hard();
}

Program::Report Program::read_report(const std::filesystem::path& path) {
  std::ifstream file(path);
  return Report::parse_or_null(std::string(std::istreambuf_iterator<char>(file), {}));
}

Program::Report Program::wait_for(const std::string& expected, const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  Report report;
  while (std::chrono::steady_clock::now() < deadline) {
    report = read_report(report_);
    const bool is_idle = report.is_object() && !report["busy"].get<bool>() &&
                         (pointer_.empty() || report["pointer"] == Report(pointer_));
    if (report.is_object() && report["stale_pixels"] != 0) {
      throw std::runtime_error("pixels that should have changed did not: " +
                               report["stale_pixels"].dump());
    }
    if (is_idle && (!condition || condition(report))) return report;
    int status = 0;
    if (has_ended(process_, status)) {
      process_ = 0;
      throw std::runtime_error("the program ended while waiting for " + expected);
    }
    std::this_thread::sleep_for(kPause);
  }
  keep_screenshot("failure");
  throw std::runtime_error("no " + expected + "; the last report: " + report.dump());
}

Program::Report Program::wait_for_speaker(const std::string& expected,
                                          const Condition& condition) const {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  Report report;
  while (std::chrono::steady_clock::now() < deadline) {
    report = read_report(report_.string() + ".speaker");
    if (report.is_object() && (!condition || condition(report))) return report;
    std::this_thread::sleep_for(kPause);
  }
  keep_screenshot("failure", true);
  throw std::runtime_error("no " + expected + "; the last report: " + report.dump());
}

void Program::xdotool(const std::string& arguments) const {
  const std::string command = "DISPLAY=" + display_ + " xdotool " + arguments;
  if (std::system(command.c_str()) != 0) throw std::runtime_error(command + " failed");
}

std::string Program::move_to(double x, double y) {
  pointer_ = {std::floor(x), std::floor(y)};
  std::ostringstream command;
  command << "mousemove " << pointer_[0] << " " << pointer_[1] << " ";
  return command.str();
}

void Program::click(const std::string& widget) {
  const Report report =
      wait_for("widget " + widget, [&](const Report& r) { return r["widgets"].contains(widget); });
  const auto box = report["widgets"][widget].get<std::vector<double>>();
  xdotool(move_to(box[0] + box[2] / 2, box[1] + box[3] / 2) + "click 1");
}

void Program::command(const std::string& id) {
  const Report report = wait_for("command " + id, [&](const Report& r) {
    return r["widgets"].contains(id) || r["widgets"].contains("more");
  });
  if (!report["widgets"].contains(id)) click("more");
  click(id);
}

void Program::open_view(const std::string& id) {
  const Report report = wait_for("the bar of views");
  if (!report["widgets"].contains("view." + id)) return open_view_by_menu(id);
  click("view." + id);
}

void Program::open_view_by_menu(const std::string& id) {
  click("menu.View");
  click("menu.view." + id);
}

void Program::drag(const std::string& widget, double from, double to) {
  const Report report =
      wait_for("widget " + widget, [&](const Report& r) { return r["widgets"].contains(widget); });
  const auto box = report["widgets"][widget].get<std::vector<double>>();
  const auto move = [&](double fraction) {
    return move_to(box[0] + box[2] * fraction, box[1] + box[3] / 2);
  };
  const std::string begin = move(from), middle = move((from + to) / 2), end = move(to);
  xdotool(begin + "mousedown 1 " + middle + end + "mouseup 1");
}

void Program::type(const std::string& text) const {
  xdotool("type --delay 5 '" + text + "'");
}

void Program::press(const std::string& key) const {
  xdotool("key " + key);
}

void Program::point_at(double x, double y) {
  xdotool(move_to(x, y));
}

void Program::keep_screenshot(const std::string& name, bool is_speaker) const {
  const std::filesystem::path folder = testing::build_folder() / "screenshots";
  std::filesystem::create_directories(folder);
  std::error_code ignored;
  const std::string screenshot = report_.string() + (is_speaker ? ".speaker" : "") + ".png";
  std::filesystem::copy_file(screenshot, folder / (name + ".png"),
                             std::filesystem::copy_options::overwrite_existing, ignored);
}

double Program::processor_seconds() const {
  std::ifstream file("/proc/" + std::to_string(process_) + "/stat");
  std::string line;
  std::getline(file, line);
  // Fields after the name in parentheses; utime and stime are fields 14 and 15.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string field;
  double ticks = 0;
  for (int i = 3; i <= 15 && fields >> field; ++i) {
    if (i >= 14) ticks += std::stod(field);
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int Program::wait_for_still_frames(std::chrono::steady_clock::duration duration) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + kTimeout;
  int frames = -1;
  for (auto last_change = Clock::now(); Clock::now() < deadline;) {
    const int count = wait_for("rest")["frames"].get<int>();
    if (count != frames) {
      frames = count;
      last_change = Clock::now();
    }
    if (Clock::now() - last_change >= duration) return frames;
    std::this_thread::sleep_for(kPause);
  }
  ADD_FAILURE() << "frames are drawn although nothing changes";
  return frames;
}

int Program::wait_for_end() {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  while (std::chrono::steady_clock::now() < deadline) {
    int status = 0;
    if (has_ended(process_, status)) {
      process_ = 0;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::this_thread::sleep_for(kPause);
  }
  return -1;
}

void Program::kill_hard() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = 0;
}

}  // namespace attnscope::window
