// Part of the window's state: the newest run, its results and the progress of the next run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/window/jobs/finding_tasks.h"
#include "core/base/progress.h"
#include "core/experiment/compatible_choice.h"
#include "core/experiment/finding.h"
#include "core/experiment/salient_pairs.h"
#include "core/trace/trace.h"

namespace attnscope::window {

// Results of "Show a strong pair" for a run.
struct SalientPairSearch {
  std::weak_ptr<const Trace> trace{};
  std::vector<SalientPair> pairs{};
  std::size_t next = 0;  // index of the pair to show next
  std::optional<SalientPair> last_shown{};
  // Running search; null: none.
  std::unique_ptr<BackgroundTask<std::vector<SalientPair>>> task{};
  std::shared_ptr<Progress> progress{};  // progress of the search
  bool opens_session = false;            // a new session opens on the first pair
};

struct RunState {
  std::shared_ptr<const Trace> trace;  // newest trace; null before the first run
  Findings findings;                   // findings of the newest run, including run B
  // Session of the newest run; never null.
  std::shared_ptr<const Session> session = std::make_shared<const Session>();
  Findings background_findings;                      // computed in the background
  std::map<std::string, FindingTask> finding_tasks;  // by id of the finding
  SalientPairSearch salient_pairs;
  std::string error;  // reason why the newest run failed; empty: it succeeded
  // Settings that resolve the error; only if the settings do not combine.
  std::optional<CompatibleChoice> offer{};
  double busy_seconds = 0;      // duration of the current run so far; 0: no run
  Progress::Snapshot progress;  // progress of the current run
  Index preview_of_tokens = 0;  // number of all tokens if the trace has only the first ones; else 0
  Index preview_of_layers = 0;  // number of all layers if the trace has only the first ones; else 0
  bool awaits_findings = false;  // the trace is complete, but its findings are being computed
  bool is_generating = false;    // samples another token after each run
  // The next token is the first one of this generation: an end token would be replaced.
  bool is_first_token = true;

  void clear_error() {
    error.clear();
    offer.reset();
  }
  bool is_preview() const {
    return preview_of_tokens > 0 || preview_of_layers > 0 || awaits_findings;
  }
  std::shared_ptr<const Trace> reference() const { return findings.get(Findings::reference); }
  Findings all_findings() const { return findings.with(background_findings); }
};

}  // namespace attnscope::window
