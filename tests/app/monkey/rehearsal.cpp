#include "tests/app/monkey/rehearsal.h"

#include <GLFW/glfw3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "app/window/actions/actions.h"
#include "app/window/files.h"
#include "app/window/hash.h"
#include "app/window/jobs/task_kinds.h"
#include "app/window/model_selection.h"
#include "core/base/file.h"
#include "core/figure/png.h"
#include "core/view/session_file.h"
#include "tests/support/places.h"

namespace attnscope::window {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMaxFrameSeconds = 20;  // sanitizers make frames ten times slower
#else
constexpr double kMaxFrameSeconds = 2;
#endif

// Seconds for which a thread of this process was ready but not scheduled.
double waiting_seconds(const std::filesystem::path& task) {
  std::ifstream file(task / "schedstat");
  double ran = 0, waited = 0;  // nanoseconds
  file >> ran >> waited;
  return waited * 1e-9;
}

// Seconds for which a busy machine delayed this thread, plus the maximum delay of the drawing
// threads of software OpenGL.
double preempted_seconds() {
  double drawing = 0;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    std::getline(file, name);
    if (name.starts_with("llvmpipe")) drawing = std::max(drawing, waiting_seconds(task.path()));
  }
  return waiting_seconds("/proc/thread-self") + drawing;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Random integer in [0, count). Standard distributions differ between libraries.
int random_below(std::mt19937_64& random, std::size_t count) {
  return static_cast<int>(random() % std::max<std::size_t>(count, 1));
}

constexpr int kKeys[] = {GLFW_KEY_LEFT,    GLFW_KEY_RIGHT,     GLFW_KEY_UP,        GLFW_KEY_DOWN,
                         GLFW_KEY_HOME,    GLFW_KEY_END,       GLFW_KEY_ENTER,     GLFW_KEY_TAB,
                         GLFW_KEY_SPACE,   GLFW_KEY_ESCAPE,    GLFW_KEY_BACKSPACE, GLFW_KEY_DELETE,
                         GLFW_KEY_PAGE_UP, GLFW_KEY_PAGE_DOWN, GLFW_KEY_F5,        GLFW_KEY_F1,
                         GLFW_KEY_A,       GLFW_KEY_C,         GLFW_KEY_E,         GLFW_KEY_L,
                         GLFW_KEY_N,       GLFW_KEY_P,         GLFW_KEY_T,         GLFW_KEY_V,
                         GLFW_KEY_X,       GLFW_KEY_Y,         GLFW_KEY_Z,         GLFW_KEY_0};
constexpr char32_t kCharacters[] = U"abc FGNRSB[],.123456789+-/?äß漢🙂\u0301\u200d\\\"";

void add(Hash& hash, const ImDrawList& list) {
  for (const ImDrawVert& v : list.VtxBuffer) hash.add(v);
  for (const ImDrawIdx i : list.IdxBuffer) hash.add(i);
  for (const ImDrawCmd& command : list.CmdBuffer) {
    hash.add(command.ClipRect).add(command.ElemCount).add(command.UserCallback);
  }
}

void add(Hash& hash, const Tensor& numbers) {
  for (Index n = 0; n < numbers.size(); ++n) hash.add(numbers.data()[n]);
}

// Adds the numbers of heat maps and images. ImGui's draw data contains only pointers to them.
void add(Hash& hash, const DisplayList& list) {
  for (const Item& item : list.items) {
    if (const auto* image = std::get_if<ColourImage>(&item)) {
      hash.add(image->box);
      add(hash, image->colours);
    }
    const auto* map = std::get_if<HeatMap>(&item);
    if (map == nullptr) continue;
    hash.add(map->row).add(map->column).add(map->height).add(map->width);
    hash.add(map->least).add(map->most).add(map->plane).add(map->max_pooled).add(map->hollow);
    hash.add(map->box).add(map->missing).add(std::hash<std::string>()(map->colour_map));
    if (map->values.defined()) add(hash, map->values);
  }
}

bool looks_same(const Session& a, const Session& b) {
  return changed_pointers(a, b).empty();
}

std::string difference(const Session& a, const Session& b) {
  std::string text;
  for (const std::string& pointer : changed_pointers(a, b)) text += " " + pointer;
  return text;
}

std::string changed_parts(const Rehearsal::Fingerprint& a, const Rehearsal::Fingerprint& b) {
  std::string text;
  for (const auto& [name, hash] : b) {
    if (std::ranges::find(a, std::pair(name, hash)) == a.end()) text += " " + name;
  }
  return text.empty() ? " parts that are no longer drawn" : text;
}

}  // namespace

Rehearsal::Rehearsal(const WindowOptions& options, std::filesystem::path folder)
    : app_(options), folder_(std::move(folder)) {
  glfwSwapInterval(0);
  app_.ui_.report.keep_boxes();
  app_.frames_left_ = 3;
  app_.state_.settings.folder = folder_.string();
  chain_start_ = *app_.state_.session;
}

void Rehearsal::draw_frame() {
  glfwPollEvents();
  const double start = steady_seconds(), preempted = preempted_seconds();
  app_.run_once();
  const double seconds = steady_seconds() - start - (preempted_seconds() - preempted);
  longest_frame_ = std::max(longest_frame_, seconds);
  frame_seconds_ += seconds;
  guard();
  if (seconds > kMaxFrameSeconds) {
    throw std::runtime_error("a frame took " + std::to_string(seconds) + " seconds");
  }
}

void Rehearsal::guard() {
  State& state = app_.state_;
  glfwSetWindowShouldClose(app_.platform_.window(), GLFW_FALSE);
  const auto is_inside = [&](const std::filesystem::path& path) {
    return std::filesystem::weakly_canonical(path).string().starts_with(folder_.string());
  };
  if (state.dialogs.browser.open && !is_inside(state.dialogs.browser.folder)) {
    enter_folder(state.dialogs.browser, folder_);
  }
  if (state.dialogs.browser.name.find('/') != std::string::npos)
    state.dialogs.browser.name = "name";
  if (!is_inside(state.dialogs.exporting.path)) state.dialogs.exporting.path = "attention.png";
  if (!state.files.session.empty() && !is_inside(state.files.session)) state.files.session.clear();
}

void Rehearsal::key(int key, int modifiers) {
  const auto modifier = [&](int bit, int code, int action) {
    if (modifiers & bit) app_.input_.push(InputQueue::Key{code, 0, action, modifiers});
  };
  modifier(GLFW_MOD_CONTROL, GLFW_KEY_LEFT_CONTROL, GLFW_PRESS);
  modifier(GLFW_MOD_SHIFT, GLFW_KEY_LEFT_SHIFT, GLFW_PRESS);
  app_.input_.push(InputQueue::Key{key, 0, GLFW_PRESS, modifiers});
  app_.input_.push(InputQueue::Key{key, 0, GLFW_RELEASE, modifiers});
  modifier(GLFW_MOD_SHIFT, GLFW_KEY_LEFT_SHIFT, GLFW_RELEASE);
  modifier(GLFW_MOD_CONTROL, GLFW_KEY_LEFT_CONTROL, GLFW_RELEASE);
}

void Rehearsal::button(int button, double x, double y) {
  app_.input_.push(InputQueue::PointerMove{x, y});
  app_.input_.push(InputQueue::Button{button, GLFW_PRESS, 0});
  app_.input_.push(InputQueue::Button{button, GLFW_RELEASE, 0});
}

// Random point in the window, mostly on a widget.
std::string Rehearsal::random_place(std::mt19937_64& random) const {
  const auto& boxes = app_.ui_.report.boxes();
  int width = 0, height = 0;
  glfwGetWindowSize(app_.platform_.window(), &width, &height);
  double x = random_below(random, static_cast<std::size_t>(width));
  double y = random_below(random, static_cast<std::size_t>(height));
  if (!boxes.empty() && random() % 8 != 0) {
    const Report::Box box = std::next(boxes.begin(), random_below(random, boxes.size()))->second;
    x = box.x + box.width * random_below(random, 100) / 100;
    y = box.y + box.height * random_below(random, 100) / 100;
  }
  std::ostringstream text;
  text << static_cast<int>(x) << " " << static_cast<int>(y);
  return text.str();
}

std::string Rehearsal::random_action(std::mt19937_64& random) const {
  const int kind = random_below(random, 100);
  std::ostringstream text;
  if (kind < 32) {
    text << "click " << (random() % 10 == 0 ? 1 : 0) << " " << random_place(random);
  } else if (kind < 42) {
    const std::string from = random_place(random);  // evaluated before the second place
    text << "drag " << from << " " << random_place(random);
  } else if (kind < 50) {
    text << "move " << random_place(random);
  } else if (kind < 56) {
    text << "wheel " << random_below(random, 7) - 3;
  } else if (kind < 68) {
    const int modifiers[] = {0,
                             0,
                             GLFW_MOD_CONTROL,
                             GLFW_MOD_CONTROL,
                             GLFW_MOD_SHIFT,
                             GLFW_MOD_CONTROL | GLFW_MOD_SHIFT};
    text << "key " << kKeys[random_below(random, std::size(kKeys))] << " "
         << modifiers[random_below(random, std::size(modifiers))];
  } else if (kind < 76) {
    text << "type "
         << static_cast<std::uint32_t>(
                kCharacters[random_below(random, std::size(kCharacters) - 1)]);
  } else if (kind < 88) {
    text << "do " << actions()[static_cast<std::size_t>(random_below(random, actions().size()))].id;
  } else if (kind < 91) {
    std::vector<std::string> files;
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "files")) {
      files.push_back(file.path().filename().string());
    }
    std::ranges::sort(files);
    text << "drop " << files[static_cast<std::size_t>(random_below(random, files.size()))];
  } else if (kind < 93) {
    text << "resize " << 480 + random_below(random, 500) << " " << 320 + random_below(random, 350);
  } else if (kind < 96) {
    text << "escape";
  } else {
    text << "rest " << random_below(random, 50);
  }
  return text.str();
}

void Rehearsal::perform(const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  words >> verb;
  const auto number = [&] {
    double value = 0;
    words >> value;
    return value;
  };
  const auto integer = [&] { return static_cast<int>(number()); };
  if (verb == "click") {
    const int mouse_button = integer();
    const double x = number();
    button(mouse_button, x, number());
  } else if (verb == "drag") {
    const double x = number(), y = number(), to_x = number(), to_y = number();
    app_.input_.push(InputQueue::PointerMove{x, y});
    app_.input_.push(InputQueue::Button{0, GLFW_PRESS, 0});
    app_.input_.push(InputQueue::PointerMove{(x + to_x) / 2, (y + to_y) / 2});
    app_.input_.push(InputQueue::PointerMove{to_x, to_y});
    app_.input_.push(InputQueue::Button{0, GLFW_RELEASE, 0});
  } else if (verb == "move") {
    const double x = number();
    app_.input_.push(InputQueue::PointerMove{x, number()});
  } else if (verb == "wheel") {
    app_.input_.push(InputQueue::Scroll{0, number()});
  } else if (verb == "key") {
    const int code = integer();
    key(code, integer());
  } else if (verb == "type") {
    app_.input_.push(InputQueue::Character{static_cast<unsigned int>(number())});
  } else if (verb == "escape") {
    key(GLFW_KEY_ESCAPE, 0);
  } else if (verb == "do") {
    std::string id;
    words >> id;
    const Action& command = action(id);
    if (!app_.state_.dialogs.open() && command.enabled(app_.state_)) command.run(app_.state_);
    app_.input_.redraw();
  } else if (verb == "drop") {
    std::string name;
    words >> name;
    app_.input_.drop({(folder_ / "files" / name).string()});
  } else if (verb == "resize") {
    const int width = integer();
    glfwSetWindowSize(app_.platform_.window(), width, integer());
  } else if (verb == "rest") {
    rest(number() / 1000);
  } else {
    throw std::runtime_error("no such action: " + line);
  }
  do {
    draw_frame();
  } while (app_.input_.pending());
}

bool Rehearsal::rest(double seconds) {
  const double deadline = steady_seconds() + seconds;
  for (;;) {
    draw_frame();
    const State& state = app_.state_;
    const bool has_tasks = has_task_status(state) || state.dialogs.cost.task != nullptr ||
                           state.dialogs.calibration.task != nullptr ||
                           state.dialogs.extrapolation.task != nullptr ||
                           state.dialogs.exporting.task != nullptr;
    const bool is_idle = app_.frames_left_ == 0 && !app_.input_.pending() &&
                         !app_.runner_->busy() && !app_.fade_.is_active() &&
                         !app_.panels_.picture.is_stale() && !has_tasks;
    if (is_idle) return true;
    if (steady_seconds() > deadline) return false;
    if (app_.frames_left_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

bool Rehearsal::draw_until(const std::function<bool()>& condition) {
  for (const double deadline = steady_seconds() + 60; steady_seconds() < deadline;) {
    draw_frame();
    if (condition()) return true;
    if (app_.frames_left_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

void Rehearsal::linger(double seconds) {
  for (const double deadline = steady_seconds() + seconds; steady_seconds() < deadline;) {
    draw_frame();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Report::Box Rehearsal::box(const std::string& widget) const {
  const auto& boxes = app_.ui_.report.boxes();
  const auto it = boxes.find(widget);
  if (it == boxes.end()) throw std::runtime_error("no widget " + widget);
  return it->second;
}

double Rehearsal::lecture_text_height() const {
  return app_.ui_.fonts.has_lecture() ? kMinLectureSize * app_.ui_.scale : 0;
}

void Rehearsal::click(const std::string& widget) {
  const Report::Box widget_box = box(widget);
  button(0, widget_box.x + widget_box.width / 2, widget_box.y + widget_box.height / 2);
  do {
    draw_frame();
  } while (app_.input_.pending());
}

Rehearsal::Fingerprint Rehearsal::fingerprint() {
  app_.lay_out_frame();
  const ImDrawData& data = *ImGui::GetDrawData();
  Fingerprint parts;
  for (int n = 0; n < data.CmdListsCount; ++n) {
    Hash hash;
    add(hash, *data.CmdLists[n]);
    parts.emplace_back(data.CmdLists[n]->_OwnerName, hash.value());
  }
  const auto add_maps = [&](const char* name, const DisplayList& list) {
    Hash hash;
    add(hash, list);
    parts.emplace_back(name, hash.value());
  };
  add_maps("maps of the picture", app_.panels_.picture.layout.list);
  if (app_.state_.dialogs.exporting.open)
    add_maps("maps of the preview", app_.state_.dialogs.exporting.preview.list);
  return parts;
}

void Rehearsal::compare_with_fresh_frame() {
  // Compares only still frames: animations and pending hints change the next frame.
  if (fingerprint() != fingerprint() || app_.ui_.hint_timer.wait > 0) return;
  const Fingerprint cached_frame = fingerprint();
  ImDrawData& data = *ImGui::GetDrawData();
  const ImVec4& background = app_.ui_.look->panel;
  const Image redrawn = app_.screen_.draw_from_scratch(data, background);
  app_.screen_.show(data, background);
  if (const int stale_pixels = count_differing_pixels(app_.screen_.picture(), redrawn);
      stale_pixels > 0) {
    throw std::runtime_error(std::to_string(stale_pixels) + " pixels differ from a redrawn frame");
  }
  Panels& panels = app_.panels_;
  panels.picture.key = {};
  panels.picture.cache = {};
  panels.picture.pairs = {};
  panels.weights = {};
  panels.lesson = {};
  app_.state_.dialogs.exporting.preview.trace.reset();
  app_.state_.dialogs.exporting.single_array = {};
  const Fingerprint fresh_frame = fingerprint(), repeated_frame = fingerprint();
  if (fresh_frame != cached_frame && fresh_frame == repeated_frame) {
    const Image fresh_image = app_.screen_.draw_from_scratch(*ImGui::GetDrawData(), background);
    write_file(testing::build_folder() / "kept.png", encode_png(redrawn, {}));
    write_file(testing::build_folder() / "redrawn.png", encode_png(fresh_image, {}));
    throw std::runtime_error("a frame differs from a redrawn one: " +
                             std::to_string(count_differing_pixels(redrawn, fresh_image)) +
                             " pixels differ in kept.png and redrawn.png, in" +
                             changed_parts(cached_frame, fresh_frame));
  }
}

void Rehearsal::begin_chain() {
  rest(3);
  app_.state_.history = History(app_.state_.session.snapshot());
  chain_start_ = *app_.state_.session;
}

void Rehearsal::undo_and_redo_chain() {
  State& state = app_.state_;
  state.run.is_generating = false;
  do {  // waits for files being opened, which would add a step
    draw_frame();
  } while (has_task_status(state));
  const Session last_session = *state.session;
  if (!looks_same(*state.history.current(), last_session)) {
    throw std::runtime_error("a change was not recorded:" +
                             difference(*state.history.current(), last_session));
  }
  // Draws no frames between the undone steps: a frame would apply implied changes.
  int steps = 0;
  while (state.history.can_undo()) {
    state.session = state.history.undo();
    ++steps;
  }
  if (!looks_same(*state.session, chain_start_)) {
    throw std::runtime_error(
        "undo of " + std::to_string(steps) +
        " steps does not restore the start:" + difference(*state.session, chain_start_));
  }
  state.text.edit.assign(state.edited().run.text);
  const Session first_session = *state.session;
  draw_frame();
  if (steps > 0 && !state.history.can_redo()) {
    throw std::runtime_error("a frame removed the steps to redo: it changed" +
                             difference(*state.session, first_session));
  }
  // Redoes only the steps undone above. Steps undone before this call may follow them.
  for (; steps > 0; --steps) state.session = state.history.redo();
  if (!looks_same(*state.session, last_session)) {
    throw std::runtime_error("redo does not restore the end:" +
                             difference(*state.session, last_session));
  }
  state.text.edit.assign(state.edited().run.text);
  draw_frame();
}

}  // namespace attnscope::window
