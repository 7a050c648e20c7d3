// Small models of every family (tests/model-cases) and their inputs, for tests of views.
#pragma once

#include <memory>
#include <vector>

#include "core/experiment/run.h"
#include "core/view/view.h"
#include "tests/core/experiment/models.h"
#include "tests/core/experiment/tasks.h"
#include "tests/support/compare.h"

namespace attnscope::testing {

struct Family {
  const char* model;
  std::vector<std::int32_t> ids, target_ids{};
};

inline const std::vector<Family>& families() {
  static const std::vector<Family> list{
      {"memory-segment", {5, 14, 12, 2, 9, 15, 4, 9, 16, 14, 14}},
      {"memory-memorizing", {5, 14, 12, 2, 9, 15, 4, 9, 16, 14, 14}},
      {"memory-compressive-most_used", {5, 14, 12, 2, 9, 15, 4, 9, 16, 14, 14}},
      {"exits-geometric", {1, 7, 4, 9, 2, 6, 13}},
      {"exits-classifier", {1, 7, 4, 9, 2, 6, 13}},
      {"universal-act", {16, 4, 0, 13, 2, 3, 12, 6}},
      {"join-gru", {1, 7, 4, 9, 2, 6, 13}},
      {"more-dynamic-span", {1, 12, 12, 6, 14, 0, 6, 14, 8}},
      {"more-gated-rfa", {1, 12, 12, 6, 14, 0, 6, 14, 8}},
      {"decoder-masked", {1, 7, 4, 9, 2, 6, 13}},
      {"encoder_decoder-sinusoidal", {7, 0, 9, 7, 0, 16, 8}, {1, 5, 2, 4, 3}},
      {"rnn_attention-additive", {5, 14, 12, 2, 9}},
      {"universal_encoder_decoder-act", {7, 0, 9, 7, 0, 16, 8}, {1, 5, 2, 4, 3}},
      {"recurrent-act", {16, 4, 0, 13, 2, 3, 12, 6}},
      {"image", {2, 2, 2, 5, 0, 1, 4, 1, 1, 2, 3, 1}},
  };
  return list;
}

inline Session family_session(const Family& family) {
  Session session;
  session.run.model = model_case(family.model);
  session.run.ids = family.ids;
  session.run.target_ids = family.target_ids;
  return session;
}

// Runs a session, and computes findings for its views.
class ViewRun {
 public:
  explicit ViewRun(const Session& session) : session_(session), run_(cpu_only()) {
    trace_ = run_.run(session_.run);
  }
  const Session& session() const { return session_; }
  const Trace& trace() const { return *trace_; }
  // Findings that the session's view reads.
  Findings findings(const Session& view_session) {
    const std::vector<FindingRequest> requests = required_findings(view_session);
    Findings found = run_.observe(view_session, requests).findings;
    found.add(compute_background_findings(view_session, requests, run_, {}));
    return found;
  }

 private:
  Session session_;
  ExperimentRun run_;
  std::shared_ptr<const Trace> trace_;
};

}  // namespace attnscope::testing
