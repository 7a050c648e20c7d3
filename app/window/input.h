// Queue of GLFW's input events between frames, in order of occurrence.
//
// After a busy period of the window, GLFW delivers all waiting events together. ImGui before 1.87
// sees only the state at the start of a frame, so a click or drag between two frames would be lost.
// The queue gives each frame only as many events as ImGui can distinguish.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <variant>
#include <vector>

struct GLFWwindow;

namespace attnscope::window {

// A key press (or repeat), or a typed character.
struct KeyStroke {
  std::string key;         // "Left", "F11", or the key's letter "z"; empty for a typed character
  char32_t character = 0;  // 0 for a key
  bool control = false, shift = false, alt = false;
  bool is_handled = false;  // an earlier receiver has used the key
};

class InputQueue {
 public:
  explicit InputQueue(GLFWwindow* window);  // installs the window's callbacks and user pointer
  InputQueue(const InputQueue&) = delete;
  InputQueue& operator=(const InputQueue&) = delete;

  // True if a frame has to be drawn.
  bool pending() const { return redraw_ || !events_.empty(); }
  void redraw() { redraw_ = true; }

  // Passes events on to ImGui, whose GLFW backend must exist, and returns the key strokes. Call
  // between ImGui_ImplGlfw_NewFrame() and ImGui::NewFrame().
  std::vector<KeyStroke> feed();
  std::vector<std::string> take_dropped_files();

  // Arguments of GLFW's callbacks.
  struct Key {
    int key, scancode, action, modifiers;
  };
  struct Character {
    unsigned int value;
  };
  struct Button {
    int button, action, modifiers;
  };
  struct PointerMove {
    double x, y;
  };
  struct Scroll {
    double x, y;
  };
  struct FocusChange {
    int has_focus;
  };
  struct PointerEnter {
    int is_inside;
  };
  using Event =
      std::variant<Key, Character, Button, PointerMove, Scroll, FocusChange, PointerEnter>;
  void push(Event event) { events_.push_back(event); }
  void drop(std::vector<std::string> files);

 private:
  class Frame;

  void install();
  void record_stroke(const Event& event, std::vector<KeyStroke>& strokes) const;
  void record_modifier(const Key& key);
  void set_state() const;

  GLFWwindow* window_;
  std::deque<Event> events_;
  std::vector<std::string> dropped_files_;
  bool redraw_ = true;
  double x_ = -1, y_ = -1;                        // pointer position as passed to ImGui
  bool buttons_down_[3] = {false, false, false};  // mouse buttons as passed to ImGui
  std::set<int> modifiers_;                       // pressed modifier keys as passed to ImGui
};

}  // namespace attnscope::window
