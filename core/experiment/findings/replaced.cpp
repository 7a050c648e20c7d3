// Finding "replaced": a run with one token replaced, and the same run without the replacement.
#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/finding.h"
#include "core/experiment/replaced_token.h"
#include "core/experiment/run.h"

namespace attnscope {
namespace {

// Position of the token nearest to the middle that begins a word; the middle if no token does.
Index default_position(const std::vector<TraceToken>& tokens) {
  constexpr std::size_t kMinWordBytes = 4;  // bytes, with the preceding space
  const auto count = static_cast<Index>(tokens.size());
  for (Index step = 0; step < count; ++step) {
    const Index n = count / 2 + (step % 2 == 0 ? step / 2 : -(step + 1) / 2);
    if (n < 0 || n >= count) continue;
    const std::string& bytes = tokens[static_cast<std::size_t>(n)].bytes;
    if (bytes.size() >= kMinWordBytes && bytes.front() == ' ') return n;
  }
  return count / 2;
}

ReplacedToken run_with_replacement(RunSpec spec, const ReplacementSettings& settings,
                                   ExperimentRun& run, const FindingProgress& progress) {
  ReplacedToken result;
  try {
    result.without = run.run(spec);
    if (progress) progress(1, 2);
    const std::vector<TraceToken>& tokens = result.without->tokens;
    if (tokens.empty())
      throw InputError("token: expected a text with a token to replace, found none");
    const auto count = static_cast<Index>(tokens.size());
    result.position =
        std::min(settings.position ? *settings.position : default_position(tokens), count - 1);
    result.before = tokens[static_cast<std::size_t>(result.position)].id;
    const std::int32_t default_id = result.before > 0 ? result.before - 1 : 1;
    result.after = settings.by ? static_cast<std::int32_t>(*settings.by) : default_id;
    Intervention replacement;
    replacement.kind = Intervention::Kind::Replace;
    replacement.position = result.position;
    replacement.token = result.after;
    spec.interventions.push_back(replacement);
    result.with = run.run(spec);
    if (progress) progress(2, 2);
  } catch (const InputError& e) {
    result.problem = e.what();
  }
  return result;
}

}  // namespace

Finding replaced_finding() {
  return {.id = Findings::replaced.id,
          .summary = "The run with one token replaced by another.",
          .exists = [](const Session& session) { return session.run.tensors.file.empty(); },
          .in_background =
              [](const RunSpec& spec, const FindingSettings& settings, ExperimentRun& run,
                 const FindingProgress& progress, Findings& results) {
                results.set(Findings::replaced,
                            std::make_shared<const ReplacedToken>(run_with_replacement(
                                spec, std::get<ReplacementSettings>(settings), run, progress)));
              }};
}

}  // namespace attnscope
