// Findings: results derived from a run, in addition to its trace. Each has its own file in
// findings/; findings() lists them in order. A view requests the findings that it reads
// (View::findings). The caller of a run computes each requested finding once, and the view reads it
// by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "core/base/stop.h"
#include "core/experiment/finding_request.h"
#include "core/experiment/session.h"
#include "core/trace/trace.h"

namespace attnscope {

class ExperimentRun;  // core/experiment/run.h
class MapPyramid;     // core/attention/map_pyramid.h
struct BlockStudy;    // core/experiment/block_study.h
struct Checkpoint;    // core/checkpoint/checkpoint.h
struct Completion;    // core/experiment/completion.h
struct ErrorStudy;    // core/analysis/error_study.h
struct ExitStudy;     // core/experiment/exit_study.h
struct ExitWork;
struct GradientStudy;      // core/experiment/gradient_study.h
struct InverseStudy;       // core/experiment/inverse_study.h
struct RetrievedContexts;  // core/experiment/retrieved_contexts.h
struct HeadTable;          // core/experiment/head_table.h
struct LogitLens;          // core/model/logit_lens.h
class TokenLens;
struct ReplacedToken;    // core/experiment/replaced_token.h
struct Rollouts;         // core/experiment/rollouts.h
struct GeneratedTarget;  // core/experiment/generated_target.h
struct TrainingStudy;    // core/experiment/training_study.h

// Id of a finding and type T of its object; T is const except for live findings.
template <class T>
struct FindingName {
  const char* id;
};

// Findings computed so far. Copies share the objects.
class Findings {
 public:
  static constexpr FindingName<const Trace> reference{"reference"};
  static constexpr FindingName<const LogitLens> reference_lens{"reference_lens"};
  static constexpr FindingName<const TokenLens> reference_token_lens{"reference_token_lens"};
  static constexpr FindingName<const LogitLens> lens{"lens"};
  static constexpr FindingName<const TokenLens> token_lens{"token_lens"};
  static constexpr FindingName<const HeadTable> heads{"heads"};
  static constexpr FindingName<MapPyramid> maps{"maps"};
  static constexpr FindingName<const ReplacedToken> replaced{"replaced"};
  static constexpr FindingName<const ErrorStudy> errors{"errors"};
  static constexpr FindingName<const GeneratedTarget> written{"written"};
  static constexpr FindingName<const Rollouts> rollouts{"rollouts"};
  static constexpr FindingName<const Completion> completion{"completion"};
  static constexpr FindingName<const ExitStudy> exits{"exits"};
  static constexpr FindingName<const ExitWork> exit_work{"exit_work"};
  static constexpr FindingName<const RetrievedContexts> contexts{"contexts"};
  static constexpr FindingName<const BlockStudy> block{"block_vectors"};
  static constexpr FindingName<const GradientStudy> gradients{"gradients"};
  static constexpr FindingName<const InverseStudy> inverse{"inverse"};
  static constexpr FindingName<const TrainingStudy> training{"training"};
  static constexpr FindingName<const TrainingStudy> reference_training{"reference_training"};

  // Null if the finding is not computed (yet) or does not exist.
  template <class T>
  std::shared_ptr<T> get(const FindingName<T>& name) const {
    const auto entry = entries_.find(name.id);
    if (entry == entries_.end()) return nullptr;
    if (*entry->second.type != typeid(T*)) {
      throw std::logic_error("finding " + std::string(name.id) + " is of another type");
    }
    return std::static_pointer_cast<T>(entry->second.object);
  }
  template <class T>
  void set(const FindingName<T>& name, std::shared_ptr<T> object) {
    entries_[name.id] = {std::const_pointer_cast<std::remove_const_t<T>>(object), &typeid(T*)};
  }
  bool has(std::string_view id) const { return entries_.contains(id); }
  // Adds findings; replaces those with the same id.
  void add(const Findings& others);
  Findings with(const Findings& others) const;  // copy of this after add(others)
  void remove(std::string_view id);
  // Copy with the finding of this id alone; empty if the finding is missing.
  Findings only(std::string_view id) const;
  bool operator==(const Findings&) const = default;  // compares addresses of objects

 private:
  struct Entry {
    std::shared_ptr<void> object;
    const std::type_info* type = nullptr;
    bool operator==(const Entry&) const = default;
  };
  std::map<std::string, Entry, std::less<>> entries_;
};

// Results of a session: its trace and findings. The reference run (reference_of()) is one of
// the findings.
struct Traces {
  Traces() = default;
  Traces(std::shared_ptr<const Trace> run, std::shared_ptr<const Trace> reference_run = nullptr);

  std::shared_ptr<const Trace> trace;
  Findings findings;
  std::shared_ptr<const Trace> reference() const;  // null without a reference run
};
// Findings that contain this reference run alone.
Findings reference_findings(std::shared_ptr<const Trace> reference);
// Findings about the reference run, under the names of findings about the run.
Findings findings_of_reference(const Findings& findings);

// Completed run from which findings are computed.
struct FinishedRun {
  const Session& session;
  std::shared_ptr<const Trace> trace;
  const Checkpoint* checkpoint = nullptr;  // null for imported tensors
  // Runs another session with the cache of this run, and measures its time if times are compared.
  // with_findings: also computes the requested findings for that session.
  std::function<Traces(const Session&, bool with_findings)> observe;
};

using FindingProgress = std::function<void(std::size_t done, std::size_t total)>;

struct Finding {
  std::string id;       // "lens"; views refer to it
  std::string summary;  // one sentence
  // True if the finding can be computed for a session.
  std::function<bool(const Session&)> exists;
  // True if a finding of run `previous` is valid for run `current`, given equal settings.
  std::function<bool(const RunSpec& previous, const RunSpec& current)> is_reusable =
      std::equal_to<RunSpec>();
  // True if a window that shows another view still computes the finding.
  bool outlives_view = false;

  // Ways of computing a finding; exactly one is set.
  //
  // With the run: computed when the trace is complete, and cached together with the trace.
  std::function<void(const FinishedRun&, Findings&)> with_run{};
  // In the background: for slow findings. The window computes each on a worker thread; commands
  // compute them before drawing. The callee has exclusive use of `run`.
  std::function<void(const RunSpec&, const FindingSettings&, ExperimentRun& run,
                     const FindingProgress&, Findings&)>
      in_background{};
  // Live: one object per window computes visible content of all traces on demand, and calls `wake`
  // from its worker when new content is available. Export to files computes the content without
  // this object.
  std::function<void(std::function<void()> wake, Findings&)> live{};
};

const std::vector<Finding>& findings();       // listed in order of computation
const Finding& finding(std::string_view id);  // throws InputError if unknown

// Computes the requested background findings (Finding::in_background).
Findings compute_background_findings(const Session& session,
                                     const std::vector<FindingRequest>& requests,
                                     ExperimentRun& run, const FindingProgress& progress);

// Creates all live findings for a window.
Findings live_findings(const std::function<void()>& wake);

Finding reference_finding();
Finding lens_finding();
Finding token_lens_finding();
Finding heads_finding();
Finding maps_finding();
Finding replaced_finding();
Finding errors_finding();
Finding written_finding();
Finding rollouts_finding();
Finding completion_finding();
Finding exits_finding();
Finding exit_work_finding();
Finding contexts_finding();
Finding block_finding();
Finding gradients_finding();
Finding inverse_finding();
Finding training_finding();

}  // namespace attnscope
