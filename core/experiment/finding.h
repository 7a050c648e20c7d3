// Findings: what is derived from a run, beside its trace. One file each in findings/; findings() is
// their ordered list. A view names those that it reads (View::findings). Whoever runs for it has
// them worked out, each once, and hands them on; the view asks for them by name.
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
#include "core/experiment/experiment.h"
#include "core/trace/trace.h"

namespace attnscope {

class ExperimentRun;  // core/experiment/runner.h
class MapPyramid;     // core/attention/map_pyramid.h
struct Checkpoint;    // core/checkpoint/checkpoint.h
struct Completion;    // core/experiment/completion.h
struct ErrorStudy;    // core/analysis/error_study.h
struct ExitStudy;     // core/experiment/exit_study.h
struct ExitWork;
struct FoundContexts;  // core/experiment/found_contexts.h
struct HeadTable;      // core/experiment/head_table.h
struct LogitLens;      // core/model/logit_lens.h
struct ReplacedToken;  // core/experiment/replaced_token.h
struct Rollouts;       // core/experiment/rollouts.h
struct Traces;
struct WrittenTarget;  // core/experiment/written.h

// A finding's id and its type: const, but for what is live.
template <class T>
struct FindingName {
  const char* id;
};

// What is known by now. A copy shares what it holds.
class Findings {
 public:
  static constexpr FindingName<const Traces> reference{"reference"};
  static constexpr FindingName<const LogitLens> lens{"lens"};
  static constexpr FindingName<const HeadTable> heads{"heads"};
  static constexpr FindingName<MapPyramid> maps{"maps"};
  static constexpr FindingName<const ReplacedToken> replaced{"replaced"};
  static constexpr FindingName<const ErrorStudy> errors{"errors"};
  static constexpr FindingName<const WrittenTarget> written{"written"};
  static constexpr FindingName<const Rollouts> rollouts{"rollouts"};
  static constexpr FindingName<const Completion> completion{"completion"};
  static constexpr FindingName<const ExitStudy> exits{"exits"};
  static constexpr FindingName<const ExitWork> exit_work{"exit_work"};
  static constexpr FindingName<const FoundContexts> contexts{"contexts"};

  // Null: not known (yet), or there is none.
  template <class T>
  std::shared_ptr<T> get(const FindingName<T>& name) const {
    const auto known = known_.find(name.id);
    if (known == known_.end()) return nullptr;
    if (*known->second.type != typeid(T*)) {
      throw std::logic_error("finding " + std::string(name.id) + " is of another type");
    }
    return std::static_pointer_cast<T>(known->second.object);
  }
  template <class T>
  void set(const FindingName<T>& name, std::shared_ptr<T> object) {
    known_[name.id] = {std::const_pointer_cast<std::remove_const_t<T>>(object), &typeid(T*)};
  }
  bool has(std::string_view id) const { return known_.contains(id); }
  // The other's, in the place of what has the same name.
  void add(const Findings& others);
  Findings with(const Findings& others) const;
  void remove(std::string_view id);
  // Only what has this name.
  Findings only(std::string_view id) const;
  bool operator==(const Findings&) const = default;  // the same objects

 private:
  struct Known {
    std::shared_ptr<void> object;
    const std::type_info* type = nullptr;
    bool operator==(const Known&) const = default;
  };
  std::map<std::string, Known, std::less<>> known_;
};

// What an experiment gives: its trace, and what was found in it. The run beside it, which
// reference_of() asks for, is one of the findings.
struct Traces {
  Traces() = default;
  Traces(std::shared_ptr<const Trace> of, std::shared_ptr<const Trace> beside = nullptr);

  std::shared_ptr<const Trace> trace;
  Findings findings;
  std::shared_ptr<const Trace> reference() const;  // null: there is none
};
// The trace of the run beside it; null: there is none.
std::shared_ptr<const Trace> reference_trace(const Findings& findings);
// The same for a run that is there already.
Findings reference_findings(std::shared_ptr<const Trace> reference);

// A run that has just been, for what is worked out with it.
struct RunToRead {
  const Experiment& experiment;
  std::shared_ptr<const Trace> trace;
  const Checkpoint* checkpoint = nullptr;  // null: the attention came from a file
  // Another run in the same manner: kept, and its time measured where times are compared.
  // `alone`: with what the view reads of a run, since it may be looked at alone.
  std::function<Traces(const Experiment&, bool alone)> observe;
  Stop stop;
};

using FindingProgress = std::function<void(std::size_t done, std::size_t all)>;

struct Finding {
  std::string id;       // "lens": by which views name it
  std::string summary;  // what it is, in one sentence
  // Whether this experiment has one.
  std::function<bool(const Experiment&)> exists;
  // Whether what one experiment gave is what another one asks for: for findings of a run two that
  // make the same run. Not called for what is live.
  std::function<bool(const Experiment& before, const Experiment& now)> holds;

  // How it comes into being; each finding has one of these.
  //
  // With the run: whoever gets the trace gets this, too. Kept as long as the run is.
  std::function<void(const RunToRead&, Findings&)> with_run{};
  // Beside runs, which must not wait for it: it takes long and is the same for many of them. The
  // window has a worker for each; commands make it before they draw. `run` is the maker's own.
  std::function<void(const Experiment&, ExperimentRun& run, const FindingProgress&, const Stop&,
                     Findings&)>
      beside_runs{};
  // Live: an object that computes what is looked at while somebody looks, for all traces of a
  // window. Files are drawn without and compute what they show. `wake` is called from its worker
  // when there is more to see.
  std::function<void(std::function<void()> wake, Findings&)> live{};
};

const std::vector<Finding>& findings();       // in the order in which they are made
const Finding& finding(std::string_view id);  // InputError

// All that an experiment has of what is made beside runs, of those with these names.
Findings find_beside(const Experiment& experiment, const std::vector<std::string>& names,
                     ExperimentRun& run, const FindingProgress& progress, const Stop& stop);

// All live ones, for a window.
Findings live_findings(const std::function<void()>& wake);

Finding reference_finding();
Finding lens_finding();
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

// Of the view "mechanism": the picture that reads the errors.
inline constexpr const char* kErrorsPicture = "errors";

}  // namespace attnscope
