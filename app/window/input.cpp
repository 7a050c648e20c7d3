#include "app/window/input.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include <cfloat>
#include <string_view>
#include <utility>

namespace attnscope::window {
namespace {

struct NamedKey {
  int key;
  std::string_view name;
};

constexpr NamedKey kNamedKeys[] = {
    {GLFW_KEY_LEFT, "Left"},
    {GLFW_KEY_RIGHT, "Right"},
    {GLFW_KEY_UP, "Up"},
    {GLFW_KEY_DOWN, "Down"},
    {GLFW_KEY_HOME, "Home"},
    {GLFW_KEY_END, "End"},
    {GLFW_KEY_PAGE_UP, "Page Up"},
    {GLFW_KEY_PAGE_DOWN, "Page Down"},
    {GLFW_KEY_BACKSPACE, "Backspace"},
    {GLFW_KEY_DELETE, "Delete"},
    {GLFW_KEY_ENTER, "Enter"},
    {GLFW_KEY_KP_ENTER, "Enter"},
    {GLFW_KEY_ESCAPE, "Escape"},
    {GLFW_KEY_TAB, "Tab"},
    {GLFW_KEY_SPACE, "Space"},
    {GLFW_KEY_F1, "F1"},
    {GLFW_KEY_F5, "F5"},
    {GLFW_KEY_F11, "F11"},
};

// A key's name, or the character it types on this keyboard without modifiers.
std::string key_name(int key, int scancode) {
  for (const NamedKey& named : kNamedKeys) {
    if (named.key == key) return std::string(named.name);
  }
  // Keys of the numeric pad are treated as the digit keys.
  const char* typed = glfwGetKeyName(key, scancode);
  return typed != nullptr ? typed : "";
}

bool is_modifier(int key) {
  return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER;
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

InputQueue* queue_of(GLFWwindow* window);

}  // namespace

// Events of the current frame, up to an event that ImGui could not distinguish from earlier ones.
class InputQueue::Frame {
 public:
  bool accepts(const Event& event) const {
    return std::visit(
        Overloaded{
            // Modifiers must not change in the frame of a key press.
            [&](const Key& e) {
              return !keys_.contains(e.key) && !has_text_ && !(has_command_ && is_modifier(e.key));
            },
            [&](const Character&) { return !has_command_; },
            // A drag ends at its last position: the last move needs a frame before the release.
            [&](const Button& e) {
              const bool is_release = e.action == GLFW_RELEASE;
              return !buttons_.contains(e.button) && !(is_release && has_move_);
            },
            [&](const PointerMove&) { return buttons_.empty(); },
            [](const auto&) { return true; },
        },
        event);
  }
  void record(const Event& event) {
    std::visit(Overloaded{
                   [&](const Key& e) {
                     const bool is_typed = e.key < GLFW_KEY_ESCAPE && e.modifiers <= GLFW_MOD_SHIFT;
                     if (is_typed) return;  // its Character event follows
                     keys_.insert(e.key);
                     if (e.action != GLFW_RELEASE && !is_modifier(e.key)) has_command_ = true;
                   },
                   [&](const Character&) { has_text_ = true; },
                   [&](const Button& e) { buttons_.insert(e.button); },
                   [&](const PointerMove&) { has_move_ = true; },
                   [](const auto&) {},
               },
               event);
  }

 private:
  std::set<int> keys_, buttons_;
  bool has_text_ = false, has_command_ = false, has_move_ = false;
};

namespace {

InputQueue* queue_of(GLFWwindow* window) {
  return static_cast<InputQueue*>(glfwGetWindowUserPointer(window));
}

}  // namespace

InputQueue::InputQueue(GLFWwindow* window) : window_(window) {
  glfwSetWindowUserPointer(window, this);
  install();
}

void InputQueue::install() {
  glfwSetKeyCallback(window_, [](GLFWwindow* w, int key, int scancode, int action, int modifiers) {
    queue_of(w)->push(Key{key, scancode, action, modifiers});
  });
  glfwSetCharCallback(window_,
                      [](GLFWwindow* w, unsigned int c) { queue_of(w)->push(Character{c}); });
  glfwSetMouseButtonCallback(window_, [](GLFWwindow* w, int button, int action, int modifiers) {
    queue_of(w)->push(Button{button, action, modifiers});
  });
  glfwSetCursorPosCallback(window_, [](GLFWwindow* w, double x, double y) {
    queue_of(w)->push(PointerMove{x, y});
  });
  glfwSetScrollCallback(window_, [](GLFWwindow* w, double x, double y) {
    queue_of(w)->push(Scroll{x, y});
  });
  glfwSetWindowFocusCallback(
      window_, [](GLFWwindow* w, int has_focus) { queue_of(w)->push(FocusChange{has_focus}); });
  glfwSetCursorEnterCallback(
      window_, [](GLFWwindow* w, int is_inside) { queue_of(w)->push(PointerEnter{is_inside}); });
  glfwSetWindowRefreshCallback(window_, [](GLFWwindow* w) { queue_of(w)->redraw(); });
  glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* w, int, int) { queue_of(w)->redraw(); });
  glfwSetWindowCloseCallback(window_, [](GLFWwindow* w) { queue_of(w)->redraw(); });
  glfwSetDropCallback(window_, [](GLFWwindow* w, int count, const char** paths) {
    queue_of(w)->drop({paths, paths + count});
  });
}

void InputQueue::record_stroke(const Event& event, std::vector<KeyStroke>& strokes) const {
  if (const auto* e = std::get_if<Key>(&event); e != nullptr && e->action != GLFW_RELEASE) {
    const bool control = (e->modifiers & (GLFW_MOD_CONTROL | GLFW_MOD_SUPER)) != 0;
    strokes.push_back({key_name(e->key, e->scancode), 0, control,
                       (e->modifiers & GLFW_MOD_SHIFT) != 0, (e->modifiers & GLFW_MOD_ALT) != 0});
  } else if (const auto* c = std::get_if<Character>(&event)) {
    strokes.push_back({"", c->value});
  }
}

void InputQueue::record_modifier(const Key& e) {
  if (!is_modifier(e.key)) return;
  if (e.action == GLFW_RELEASE) {
    modifiers_.erase(e.key);
  } else {
    modifiers_.insert(e.key);
  }
}

// Overwrites the state of pointer and modifiers that ImGui's backend has queried from the system:
// that state may be newer than the events of this frame.
void InputQueue::set_state() const {
  ImGuiIO& io = ImGui::GetIO();
  const auto is_held = [&](int left, int right) {
    return modifiers_.contains(left) || modifiers_.contains(right);
  };
  const bool control = is_held(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
  const bool shift = is_held(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
  const bool alt = is_held(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
  const bool super = is_held(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER);
#if IMGUI_VERSION_NUM < 18700
  io.MousePos = ImVec2(static_cast<float>(x_), static_cast<float>(y_));
  for (int button = 0; button < 3; ++button) io.MouseDown[button] = buttons_down_[button];
  io.KeyCtrl = control;
  io.KeyShift = shift;
  io.KeyAlt = alt;
  io.KeySuper = super;
#elif IMGUI_VERSION_NUM >= 18900
  io.AddKeyEvent(ImGuiMod_Ctrl, control);
  io.AddKeyEvent(ImGuiMod_Shift, shift);
  io.AddKeyEvent(ImGuiMod_Alt, alt);
  io.AddKeyEvent(ImGuiMod_Super, super);
#endif
}

std::vector<KeyStroke> InputQueue::feed() {
  std::vector<KeyStroke> strokes;
  Frame frame;
  redraw_ = false;
  while (!events_.empty() && frame.accepts(events_.front())) {
    const Event event = events_.front();
    events_.pop_front();
    frame.record(event);
    record_stroke(event, strokes);
    std::visit(Overloaded{
                   [&](const Key& e) {
                     record_modifier(e);
                     if (e.key == GLFW_KEY_TAB) return;  // text_field.h moves the focus
                     ImGui_ImplGlfw_KeyCallback(window_, e.key, e.scancode, e.action, e.modifiers);
                   },
                   [&](const Character& e) { ImGui_ImplGlfw_CharCallback(window_, e.value); },
                   [&](const Button& e) {
                     if (e.button < 3) buttons_down_[e.button] = e.action == GLFW_PRESS;
                     ImGui_ImplGlfw_MouseButtonCallback(window_, e.button, e.action, e.modifiers);
                   },
                   [&](const PointerMove& e) {
                     x_ = e.x;
                     y_ = e.y;
#if IMGUI_VERSION_NUM >= 18700
                     ImGui_ImplGlfw_CursorPosCallback(window_, e.x, e.y);
#endif
                   },
                   [&](const Scroll& e) { ImGui_ImplGlfw_ScrollCallback(window_, e.x, e.y); },
                   [&](const FocusChange& e) {
                     if (!e.has_focus) modifiers_.clear();  // another window receives their release
                     ImGui_ImplGlfw_WindowFocusCallback(window_, e.has_focus);
                   },
                   [&](const PointerEnter& e) {
                     ImGui_ImplGlfw_CursorEnterCallback(window_, e.is_inside);
                     if (!e.is_inside) x_ = y_ = -FLT_MAX;
                   },
               },
               event);
  }
  set_state();
  return strokes;
}

void InputQueue::drop(std::vector<std::string> files) {
  dropped_files_.insert(dropped_files_.end(), files.begin(), files.end());
  redraw();
}

std::vector<std::string> InputQueue::take_dropped_files() {
  return std::exchange(dropped_files_, {});
}

}  // namespace attnscope::window
