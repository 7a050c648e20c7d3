#include "tests/app/events/drop.h"

// Xlib defines Display, Window and macros. Only this file includes it.
#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

namespace attnscope::window {
namespace {

using namespace std::chrono_literals;
constexpr auto kDropTimeout = 20s;
constexpr long kXdndVersion = 5;

struct CloseDisplay {
  void operator()(::Display* display) const { XCloseDisplay(display); }
};

// Finds the visible window of this class among `window` and its descendants.
std::optional<Window> find_window(::Display* display, Window window, const std::string& name) {
  XClassHint hint{};
  if (XGetClassHint(display, window, &hint) != 0) {
    const bool has_class = hint.res_class != nullptr && name == hint.res_class;
    XWindowAttributes attributes{};
    XGetWindowAttributes(display, window, &attributes);
    XFree(hint.res_name);
    XFree(hint.res_class);
    if (has_class && attributes.map_state == IsViewable) return window;
  }
  Window root = 0, parent = 0, *children = nullptr;
  unsigned int count = 0;
  std::optional<Window> result;
  if (XQueryTree(display, window, &root, &parent, &children, &count) != 0) {
    for (unsigned int n = 0; n < count && !result; ++n) {
      result = find_window(display, children[n], name);
    }
    if (children != nullptr) XFree(children);
  }
  return result;
}

// Source of a drag of one file.
class Drag {
 public:
  Drag(const std::string& name, const std::filesystem::path& file)
      : display_(XOpenDisplay(name.c_str())), data_("file://" + file.string() + "\r\n") {
    if (display_ == nullptr) throw std::runtime_error("no display " + name);
    const Window root = DefaultRootWindow(display_.get());
    source_ = XCreateSimpleWindow(display_.get(), root, 0, 0, 1, 1, 0, 0, 0);
    const std::optional<Window> target = find_window(display_.get(), root, "attnscope");
    if (!target) throw std::runtime_error("no window to drop a file on");
    target_ = *target;
    XSetSelectionOwner(display_.get(), atom("XdndSelection"), source_, CurrentTime);
  }

  void drop() {
    XWindowAttributes window{};
    XGetWindowAttributes(display_.get(), target_, &window);
    send("XdndEnter", kXdndVersion << 24, static_cast<long>(atom("text/uri-list")), 0, 0);
    const long position = static_cast<long>(window.x + window.width / 2) << 16 |
                          static_cast<long>(window.y + window.height / 2);
    send("XdndPosition", 0, position, CurrentTime, static_cast<long>(atom("XdndActionCopy")));
    wait_for("XdndStatus");
    send("XdndDrop", 0, CurrentTime, 0, 0);
    wait_for("XdndFinished");
  }

 private:
  Atom atom(const char* name) { return XInternAtom(display_.get(), name, False); }

  void send(const char* type, long a, long b, long c, long d) {
    XEvent event{};
    event.xclient.type = ClientMessage;
    event.xclient.window = target_;
    event.xclient.message_type = atom(type);
    event.xclient.format = 32;
    event.xclient.data.l[0] = static_cast<long>(source_);
    event.xclient.data.l[1] = a;
    event.xclient.data.l[2] = b;
    event.xclient.data.l[3] = c;
    event.xclient.data.l[4] = d;
    XSendEvent(display_.get(), target_, False, NoEventMask, &event);
    XFlush(display_.get());
  }

  // Sends the file address to the requester of the selection.
  void answer(const XSelectionRequestEvent& request) {
    XChangeProperty(display_.get(), request.requestor, request.property, request.target, 8,
                    PropModeReplace, reinterpret_cast<const unsigned char*>(data_.data()),
                    static_cast<int>(data_.size()));
    XEvent event{};
    event.xselection.type = SelectionNotify;
    event.xselection.requestor = request.requestor;
    event.xselection.selection = request.selection;
    event.xselection.target = request.target;
    event.xselection.property = request.property;
    event.xselection.time = request.time;
    XSendEvent(display_.get(), request.requestor, False, NoEventMask, &event);
    XFlush(display_.get());
  }

  void wait_for(const char* message) {
    const auto deadline = std::chrono::steady_clock::now() + kDropTimeout;
    while (std::chrono::steady_clock::now() < deadline) {
      while (XPending(display_.get()) > 0) {
        XEvent event{};
        XNextEvent(display_.get(), &event);
        if (event.type == SelectionRequest) answer(event.xselectionrequest);
        if (event.type == ClientMessage && event.xclient.message_type == atom(message)) return;
      }
      std::this_thread::sleep_for(5ms);
    }
    throw std::runtime_error(std::string("the window sends no ") + message);
  }

  std::unique_ptr<::Display, CloseDisplay> display_;
  std::string data_;
  Window source_ = 0, target_ = 0;
};

}  // namespace

void drop_file(const std::string& display, const std::filesystem::path& file) {
  Drag(display, file).drop();
}

}  // namespace attnscope::window
