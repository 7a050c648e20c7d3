// A thread of its own for a GL context: all compute work and every download happens there, so
// that callers on any thread need no context and contexts are never handed around.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/gpu/context.h"

namespace attnscope {

class GlThread {
 public:
  // Makes the context current on the new thread, where it stays. WorkError when it cannot be or is
  // not good enough.
  explicit GlThread(std::unique_ptr<GlContext> context);
  ~GlThread();  // finishes what was posted, then destroys the context; not from the thread itself
  GlThread(const GlThread&) = delete;
  GlThread& operator=(const GlThread&) = delete;

  const std::string& description() const;  // GlContext::describe()

  // Runs `work` on the thread and waits; what it throws is thrown here.
  void run(const std::function<void()>& work);
  // Like run(), but before whatever waits and in the middle of long work that calls serve().
  void run_soon(const std::function<void()>& work);
  // Leaves small work (deleting a texture) for later; never waits. `work` must not throw.
  void post(std::function<void()> work);

  // Called on the thread by long work, every few milliseconds: does what run_soon() asked for.
  void serve();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
