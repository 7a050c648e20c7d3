// What a person did since the last frame, from GLFW, in the order in which it happened.
//
// GLFW hands over everything that came in while the window was busy at once. ImGui (before 1.87)
// only sees the state at the start of a frame, so that a click or a drag between two frames would
// be lost; the queue gives each frame as much as ImGui can tell apart.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <variant>
#include <vector>

struct GLFWwindow;

namespace attnscope::window {

// A key that went down (or repeats), or a character that was typed.
struct Stroke {
  std::string key;         // "Left", "F11", or what the key types: "z"; empty for a character
  char32_t character = 0;  // 0 for a key
  bool control = false, shift = false, alt = false;
  bool taken = false;  // by somebody; others leave it alone
};

class InputQueue {
 public:
  explicit InputQueue(GLFWwindow* window);  // takes the window's callbacks and user pointer
  InputQueue(const InputQueue&) = delete;
  InputQueue& operator=(const InputQueue&) = delete;

  // Whether something waits to be shown by a frame.
  bool pending() const { return redraw_ || !events_.empty(); }
  void redraw() { redraw_ = true; }

  // Passes events on to ImGui, whose GLFW backend must be there, and returns the key strokes.
  // Call between ImGui_ImplGlfw_NewFrame() and ImGui::NewFrame().
  std::vector<Stroke> feed();
  std::vector<std::string> take_dropped_files();

  // What GLFW's callbacks say.
  struct Key {
    int key, scancode, action, modifiers;
  };
  struct Character {
    unsigned int value;
  };
  struct Button {
    int button, action, modifiers;
  };
  struct Moved {
    double x, y;
  };
  struct Scrolled {
    double x, y;
  };
  struct Focused {
    int yes;
  };
  struct Entered {
    int yes;
  };
  using Event = std::variant<Key, Character, Button, Moved, Scrolled, Focused, Entered>;
  void push(Event event) { events_.push_back(event); }
  void drop(std::vector<std::string> files);

 private:
  class Frame;

  void install();
  void note_stroke(const Event& event, std::vector<Stroke>& strokes) const;
  void note_modifier(const Key& key);
  void set_state() const;

  GLFWwindow* window_;
  std::deque<Event> events_;
  std::vector<std::string> dropped_;
  bool redraw_ = true;
  double x_ = -1, y_ = -1;                // the pointer as the frames have seen it
  bool down_[3] = {false, false, false};  // the mouse buttons likewise
  std::set<int> modifiers_;               // keys of modifiers that are held, likewise
};

}  // namespace attnscope::window
