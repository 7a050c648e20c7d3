#include "core/experiment/finding.h"

#include <algorithm>

#include "core/base/find_by_id.h"

namespace attnscope {

void Findings::add(const Findings& others) {
  for (const auto& [id, entry] : others.entries_) entries_.insert_or_assign(id, entry);
}

Findings Findings::with(const Findings& others) const {
  Findings result = *this;
  result.add(others);
  return result;
}

void Findings::remove(std::string_view id) {
  if (const auto entry = entries_.find(id); entry != entries_.end()) entries_.erase(entry);
}

Findings Findings::only(std::string_view id) const {
  Findings result;
  if (const auto entry = entries_.find(id); entry != entries_.end()) result.entries_.insert(*entry);
  return result;
}

Traces::Traces(std::shared_ptr<const Trace> run, std::shared_ptr<const Trace> reference_run)
    : trace(std::move(run)) {
  if (reference_run != nullptr) findings = reference_findings(std::move(reference_run));
}

std::shared_ptr<const Trace> Traces::reference() const {
  return findings.get(Findings::reference);
}

Findings reference_findings(std::shared_ptr<const Trace> reference) {
  Findings result;
  result.set(Findings::reference, std::move(reference));
  return result;
}

Findings findings_of_reference(const Findings& findings) {
  Findings result;
  if (const auto lens = findings.get(Findings::reference_lens)) result.set(Findings::lens, lens);
  if (const auto lens = findings.get(Findings::reference_token_lens)) {
    result.set(Findings::token_lens, lens);
  }
  if (const auto study = findings.get(Findings::reference_training)) {
    result.set(Findings::training, study);
  }
  return result;
}

const std::vector<Finding>& findings() {
  static const std::vector<Finding> list{
      lens_finding(),     token_lens_finding(), reference_finding(), heads_finding(),
      maps_finding(),     errors_finding(),     replaced_finding(),  written_finding(),
      rollouts_finding(), completion_finding(), exits_finding(),     exit_work_finding(),
      contexts_finding(), block_finding(),      gradients_finding(), inverse_finding(),
      training_finding()};
  return list;
}

const Finding& finding(std::string_view id) {
  return find_by_id(findings(), id, "finding");
}

Findings compute_background_findings(const Session& session,
                                     const std::vector<FindingRequest>& requests,
                                     ExperimentRun& run, const FindingProgress& progress) {
  Findings result;
  for (const Finding& finding : findings()) {
    const auto request = std::ranges::find(requests, finding.id, &FindingRequest::id);
    if (request == requests.end() || !finding.in_background || !finding.exists(session)) continue;
    finding.in_background(session.run, request->settings, run, progress, result);
  }
  return result;
}

Findings live_findings(const std::function<void()>& wake) {
  Findings result;
  for (const Finding& finding : findings()) {
    if (finding.live) finding.live(wake, result);
  }
  return result;
}

}  // namespace attnscope
