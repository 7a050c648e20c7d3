// Dedicated thread of a GL context, which runs all compute work and downloads for other threads.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>

#include "app/gpu/context.h"

namespace attnscope {

class GlThread {
 public:
  // Makes the context current on a new thread, permanently. Throws WorkError if that fails or if
  // the context lacks required features.
  explicit GlThread(std::unique_ptr<GlContext> context);
  // Finishes all work, then destroys the context. Must not be called on the thread itself.
  ~GlThread();
  GlThread(const GlThread&) = delete;
  GlThread& operator=(const GlThread&) = delete;

  const std::string& description() const;  // GlContext::describe()

  // Runs `work` on the thread after earlier work; the future rethrows its exceptions.
  std::future<void> start(std::function<void()> work);
  void run(std::function<void()> work) { start(std::move(work)).get(); }
  // Runs `work` before queued work, or inside running work that calls serve(). Waits until `work`
  // has ended.
  void run_urgent(std::function<void()> work);
  // Queues small work (deleting a texture) without waiting. `work` must not throw.
  void post(std::function<void()> work);

  // Executes waiting urgent work. Long work on the thread calls this every few milliseconds.
  void serve();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
