// A thread of its own for a GL context: all compute work and every download happens there, so
// that callers on any thread need no context and contexts are never handed around.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>

#include "app/gpu/context.h"

namespace attnscope {

class GlThread {
 public:
  // Makes the context current on the new thread, where it stays. WorkError when it cannot be or is
  // not good enough.
  explicit GlThread(std::unique_ptr<GlContext> context);
  // Finishes what was given, then destroys the context. Not from the thread itself.
  ~GlThread();
  GlThread(const GlThread&) = delete;
  GlThread& operator=(const GlThread&) = delete;

  const std::string& description() const;  // GlContext::describe()

  // Runs `work` on the thread after what was given before; the future waits for it and throws what
  // it threw.
  std::future<void> start(std::function<void()> work);
  void run(std::function<void()> work) { start(std::move(work)).get(); }
  // Runs `work` before whatever waits, and in the middle of long work that calls serve(); returns
  // when it is done.
  void run_soon(std::function<void()> work);
  // Leaves small work (deleting a texture) for later; never waits. `work` must not throw.
  void post(std::function<void()> work);

  // Called on the thread by long work, every few milliseconds: does what run_soon() asked for.
  void serve();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
