// The session that the user edits. Runs, undo, autosave and pictures share immutable snapshots of
// it, which are compared by pointer.
#pragma once

#include <memory>
#include <utility>

#include "core/experiment/session.h"

namespace attnscope::window {

using SharedSession = std::shared_ptr<const Session>;

inline SharedSession share(Session session) {
  return std::make_shared<const Session>(std::move(session));
}

// True if the sessions are equal; fast if they are one snapshot.
inline bool same_session(const SharedSession& a, const SharedSession& b) {
  return a == b || *a == *b;
}

class EditedSession {
 public:
  explicit EditedSession(Session start) : value_(std::move(start)) {}

  const Session& operator*() const { return value_; }
  const Session* operator->() const { return &value_; }
  // Returns the session for changes until end_edits().
  Session& edit() {
    is_edited_ = true;
    return value_;
  }
  // Call once per frame, when no reference from edit() is in use.
  void end_edits() {
    snapshot();
    is_edited_ = false;
  }
  EditedSession& operator=(Session next) {
    edit() = std::move(next);
    return *this;
  }
  EditedSession& operator=(SharedSession next) {
    value_ = *next;
    published_ = std::move(next);
    return *this;
  }
  // Snapshot of the current value, never null; the pointer changes only if the value does.
  const SharedSession& snapshot() const {
    if (published_ == nullptr || (is_edited_ && *published_ != value_)) published_ = share(value_);
    return published_;
  }

 private:
  Session value_;
  bool is_edited_ = false;  // edit() was called after end_edits()
  mutable SharedSession published_;
};

}  // namespace attnscope::window
