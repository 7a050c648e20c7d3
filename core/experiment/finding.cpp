#include "core/experiment/finding.h"

#include <algorithm>

#include "core/base/find_by_id.h"

namespace attnscope {

void Findings::add(const Findings& others) {
  for (const auto& [id, known] : others.known_) known_.insert_or_assign(id, known);
}

Findings Findings::with(const Findings& others) const {
  Findings all = *this;
  all.add(others);
  return all;
}

void Findings::remove(std::string_view id) {
  if (const auto known = known_.find(id); known != known_.end()) known_.erase(known);
}

Findings Findings::only(std::string_view id) const {
  Findings one;
  if (const auto known = known_.find(id); known != known_.end()) one.known_.insert(*known);
  return one;
}

Traces::Traces(std::shared_ptr<const Trace> of, std::shared_ptr<const Trace> beside_it)
    : trace(std::move(of)) {
  if (beside_it != nullptr) findings = reference_findings(std::move(beside_it));
}

std::shared_ptr<const Trace> Traces::reference() const {
  return findings.get(Findings::reference);
}

Findings reference_findings(std::shared_ptr<const Trace> reference) {
  Findings found;
  found.set(Findings::reference, std::move(reference));
  return found;
}

Findings findings_of_reference(const Findings& findings) {
  Findings own;
  if (const auto lens = findings.get(Findings::reference_lens)) own.set(Findings::lens, lens);
  return own;
}

const std::vector<Finding>& findings() {
  static const std::vector<Finding> list{
      lens_finding(),       reference_finding(), heads_finding(),     maps_finding(),
      errors_finding(),     replaced_finding(),  written_finding(),   rollouts_finding(),
      completion_finding(), exits_finding(),     exit_work_finding(), contexts_finding()};
  return list;
}

const Finding& finding(std::string_view id) {
  return find_by_id(findings(), id, "finding");
}

Findings compute_background_findings(const Session& session,
                                     const std::vector<FindingRequest>& requests,
                                     ExperimentRun& run, const FindingProgress& progress) {
  Findings found;
  for (const Finding& one : findings()) {
    const auto request = std::ranges::find(requests, one.id, &FindingRequest::id);
    if (request == requests.end() || !one.in_background || !one.exists(session)) continue;
    one.in_background(session.run, request->settings, run, progress, found);
  }
  return found;
}

Findings live_findings(const std::function<void()>& wake) {
  Findings found;
  for (const Finding& one : findings()) {
    if (one.live) one.live(wake, found);
  }
  return found;
}

}  // namespace attnscope
