// Session: a plain value that describes a run and its view, and optionally a second run and view.
// The window edits it, session files store it, the command line builds it, pictures embed it.
#pragma once

#include <memory>
#include <optional>

#include "core/experiment/run_spec.h"
#include "core/experiment/view_settings.h"

namespace attnscope {

// A run and the view of it.
struct RunView {
  RunSpec run;
  ViewSettings view;
  bool operator==(const RunView&) const = default;
};

// Run A, and run B if there is one to compare with.
struct Session : RunView {
  std::optional<RunView> b{};  // only layer, head and part of b's view are used
  bool operator==(const Session&) const = default;
};

// True if two sessions produce the same trace; their views may differ.
bool same_run(const Session& x, const Session& y);

// Reference run: run B or, without run B, the run without its interventions; nullopt if it has no
// interventions.
std::optional<Session> reference_of(const Session& session);

}  // namespace attnscope
