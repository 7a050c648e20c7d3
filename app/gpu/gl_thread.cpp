#include "app/gpu/gl_thread.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace attnscope {

struct GlThread::State {
  std::mutex mutex;
  std::condition_variable job_condition;
  std::deque<std::function<void()>> urgent, queue;  // jobs never throw: see submit()
  bool is_ending = false;
  std::unique_ptr<GlContext> context;
  std::string description;
  std::thread thread;

  // Removes and returns the first urgent job. Without urgent jobs, uses the queue unless
  // `only_urgent` is set. Returns an empty function if there is no job.
  std::function<void()> pop_job(bool only_urgent) {
    auto& jobs = !urgent.empty() || only_urgent ? urgent : queue;
    if (jobs.empty()) return {};
    std::function<void()> job = std::move(jobs.front());
    jobs.pop_front();
    return job;
  }

  void loop() {
    std::unique_lock lock(mutex);
    for (;;) {
      job_condition.wait(lock, [&] { return is_ending || !urgent.empty() || !queue.empty(); });
      std::function<void()> job = pop_job(false);
      if (!job) return;  // shutting down, and all jobs are done
      lock.unlock();
      job();
      job = nullptr;  // destroys the job's captures before the lock is taken
      lock.lock();
    }
  }

  std::future<void> submit(std::deque<std::function<void()>>& jobs, std::function<void()> work) {
    const auto promise = std::make_shared<std::promise<void>>();
    std::future<void> result = promise->get_future();
    std::function<void()> job = [work = std::move(work), promise] {
      try {
        work();
        promise->set_value();
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    };
    if (std::this_thread::get_id() == thread.get_id()) {  // waiting would deadlock
      job();
      return result;
    }
    {
      const std::lock_guard lock(mutex);
      jobs.push_back(std::move(job));
    }
    job_condition.notify_one();
    return result;
  }
};

GlThread::GlThread(std::unique_ptr<GlContext> context) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.context = std::move(context);
  std::promise<void> ready;
  state.thread = std::thread([&state, &ready] {
    try {
      state.context->make_current();
      state.context->require_compute();
      state.description = state.context->describe();
      ready.set_value();
    } catch (...) {
      state.context->release();
      ready.set_exception(std::current_exception());
      return;
    }
    state.loop();
    state.context->release();
  });
  try {
    ready.get_future().get();
  } catch (...) {
    state.thread.join();
    throw;
  }
}

GlThread::~GlThread() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
  }
  state_->job_condition.notify_one();
  state_->thread.join();
}

const std::string& GlThread::description() const {
  return state_->description;
}

std::future<void> GlThread::start(std::function<void()> work) {
  return state_->submit(state_->queue, std::move(work));
}

void GlThread::run_urgent(std::function<void()> work) {
  state_->submit(state_->urgent, std::move(work)).get();
}

void GlThread::post(std::function<void()> work) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->queue.push_back(std::move(work));
  }
  state_->job_condition.notify_one();
}

void GlThread::serve() {
  for (;;) {
    std::function<void()> job;
    {
      const std::lock_guard lock(state_->mutex);
      job = state_->pop_job(true);
    }
    if (!job) return;
    job();
  }
}

}  // namespace attnscope
