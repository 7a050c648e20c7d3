// Finding "written": target generated from a source by beam search.
#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/continuation.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/finding.h"
#include "core/experiment/generated_target.h"
#include "core/experiment/run.h"
#include "core/model/architecture.h"
#include "core/model/id_label.h"
#include "core/text/utf8_stream.h"

namespace attnscope {
namespace {

std::string token_bytes(const GeneratedTarget& target, std::int32_t id) {
  const Tokenizer* tokenizer = target.trace ? target.trace->tokenizer.get() : nullptr;
  const bool has_bytes = tokenizer != nullptr && id >= 0 && id < tokenizer->vocabulary_size();
  return has_bytes && !tokenizer->is_special(id) ? tokenizer->bytes(id) : "";
}

bool is_end(const GeneratedTarget& target, std::size_t n) {
  return target.ended && n + 1 == target.ids.size();
}

std::string subscript(std::size_t number) {
  constexpr const char* kDigits[] = {"₀", "₁", "₂", "₃", "₄"};
  return kDigits[std::min<std::size_t>(number, 4)];
}

// Rejects interventions: they refer to positions in a known target.
GeneratedTarget generate_target(const RunSpec& spec, const TargetSettings& settings,
                                ExperimentRun& run, const FindingProgress& progress) {
  GeneratedTarget target;
  const std::shared_ptr<const Checkpoint> checkpoint = model_store()->checkpoint(spec.model);
  const Model model = effective_model(checkpoint->model, spec);
  if (architecture(model.config.architecture.id).reads != Reads::SourceAndTarget) {
    target.problem = "the selected model reads no source";  // may differ from the run's model
    return target;
  }
  try {
    if (!spec.interventions.empty()) {
      throw InputError(
          "generation of a target is not available with interventions; "
          "remove the interventions, or select a map");
    }
    const Continuation start = continuation(*checkpoint, model.config, spec, -1);
    BeamOptions options;
    options.width = settings.beams;
    options.max_tokens = start.room;
    options.end_ids = start.ends;
    options.source = start.source;
    options.exit = spec.exit;
    const auto max_ids = static_cast<std::size_t>(start.room);
    target.search = beam_search(model, start.prompt, options, [&](Index n) {
      if (progress) progress(static_cast<std::size_t>(n), max_ids + 1);
    });
    const Beam& best = target.search.best();
    target.ids.assign(start.prompt.begin() + 1, start.prompt.end());
    target.given = target.rows();
    target.ids.insert(target.ids.end(), best.ids.begin(), best.ids.end());
    target.ended = best.ended;
    RunSpec run_spec = spec;
    run_spec.target.clear();
    run_spec.target_ids = {start.prompt.front()};
    run_spec.target_ids.insert(run_spec.target_ids.end(), target.ids.begin(), target.ids.end() - 1);
    target.trace = run.run(run_spec);
  } catch (const InputError& e) {
    target = {};
    target.problem = e.what();
  }
  if (progress) progress(1, 1);
  return target;
}

}  // namespace

std::vector<std::string> generated_labels(const GeneratedTarget& target) {
  std::vector<std::string> labels;
  Utf8Stream characters;
  std::size_t pending = 0;  // tokens of an incomplete character
  for (std::size_t n = 0; n < target.ids.size(); ++n) {
    const std::int32_t id = target.ids[n];
    if (is_end(target, n)) {
      labels.push_back(kBoundary);
      continue;
    }
    const std::string bytes = token_bytes(target, id);
    if (bytes.empty()) {
      labels.push_back(id_label(target.trace ? target.trace->config.get() : nullptr, id));
      continue;
    }
    const std::string text = characters.push(bytes);
    labels.push_back(visible(text.empty() ? bytes : text));
    ++pending;
    if (text.empty()) continue;
    for (std::size_t index = 0; pending > 1 && index < pending; ++index) {
      labels[labels.size() - pending + index] = visible(text) + subscript(index + 1);
    }
    pending = 0;
  }
  return labels;
}

std::string generated_text(const GeneratedTarget& target) {
  std::string text;
  for (std::size_t n = 0; n < target.ids.size(); ++n) {
    if (!is_end(target, n)) text += token_bytes(target, target.ids[n]);
  }
  return text;
}

std::string beam_text(const GeneratedTarget& target, const Beam& beam) {
  std::string text;
  for (Index n = 0; n < target.given; ++n) {
    text += token_bytes(target, target.ids[static_cast<std::size_t>(n)]);
  }
  for (std::size_t n = 0; n < beam.ids.size(); ++n) {
    const bool is_end_id = beam.ended && n + 1 == beam.ids.size();
    text += is_end_id ? kBoundary : token_bytes(target, beam.ids[n]);
  }
  return text;
}

Finding written_finding() {
  return {.id = Findings::written.id,
          .summary = "The target that the model generates from the source.",
          .exists =
              [](const Session& session) {
                return session.run.tensors.file.empty() && session.run.has_input();
              },
          .in_background =
              [](const RunSpec& spec, const FindingSettings& settings, ExperimentRun& run,
                 const FindingProgress& progress, Findings& results) {
                results.set(Findings::written,
                            std::make_shared<const GeneratedTarget>(generate_target(
                                spec, std::get<TargetSettings>(settings), run, progress)));
              }};
}

}  // namespace attnscope
