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

std::string bytes_of(const GeneratedTarget& written, std::int32_t id) {
  const Tokenizer* tokenizer = written.trace ? written.trace->tokenizer.get() : nullptr;
  const bool known = tokenizer != nullptr && id >= 0 && id < tokenizer->vocabulary_size();
  return known && !tokenizer->is_special(id) ? tokenizer->bytes(id) : "";
}

bool is_end(const GeneratedTarget& written, std::size_t n) {
  return written.ended && n + 1 == written.ids.size();
}

std::string small_digit(std::size_t number) {
  constexpr const char* kDigits[] = {"₀", "₁", "₂", "₃", "₄"};
  return kDigits[std::min<std::size_t>(number, 4)];
}

// Interventions refer to positions of the given target and cannot apply to one not yet generated.
GeneratedTarget write(const RunSpec& spec, const TargetSettings& settings, ExperimentRun& run,
                      const FindingProgress& progress) {
  GeneratedTarget written;
  const std::shared_ptr<const Checkpoint> checkpoint = model_store()->checkpoint(spec.model);
  const Model model = effective_model(checkpoint->model, spec);
  if (architecture(model.config.architecture.id).reads != Reads::SourceAndTarget) {
    written.problem =
        "the selected model reads no source";  // may differ from that of the shown run
    return written;
  }
  try {
    if (!spec.interventions.empty()) {
      throw InputError(
          "generation of a target is not available with interventions; "
          "remove the interventions, or select a map");
    }
    const Continuation from = continuation(*checkpoint, model.config, spec, -1);
    BeamOptions options;
    options.width = settings.beams;
    options.max_tokens = from.room;
    options.end_ids = from.ends;
    options.source = from.source;
    options.exit = spec.exit;
    const auto most = static_cast<std::size_t>(from.room);
    written.search = beam_search(model, from.prompt, options, [&](Index n) {
      if (progress) progress(static_cast<std::size_t>(n), most + 1);
    });
    const Beam& best = written.search.best();
    written.ids.assign(from.prompt.begin() + 1, from.prompt.end());
    written.given = written.rows();
    written.ids.insert(written.ids.end(), best.ids.begin(), best.ids.end());
    written.ended = best.ended;
    RunSpec whole = spec;
    whole.target.clear();
    whole.target_ids = {from.prompt.front()};
    whole.target_ids.insert(whole.target_ids.end(), written.ids.begin(), written.ids.end() - 1);
    written.trace = run.run(whole);
  } catch (const InputError& e) {
    written = {};
    written.problem = e.what();
  }
  if (progress) progress(1, 1);
  return written;
}

}  // namespace

std::vector<std::string> generated_labels(const GeneratedTarget& written) {
  std::vector<std::string> labels;
  Utf8Stream characters;
  std::size_t waiting = 0;  // tokens of an incomplete character
  for (std::size_t n = 0; n < written.ids.size(); ++n) {
    const std::int32_t id = written.ids[n];
    if (is_end(written, n)) {
      labels.push_back(kBoundary);
      continue;
    }
    const std::string bytes = bytes_of(written, id);
    if (bytes.empty()) {
      labels.push_back(id_label(written.trace ? written.trace->config.get() : nullptr, id));
      continue;
    }
    const std::string text = characters.push(bytes);
    labels.push_back(visible(text.empty() ? bytes : text));
    ++waiting;
    if (text.empty()) continue;
    for (std::size_t part = 0; waiting > 1 && part < waiting; ++part) {
      labels[labels.size() - waiting + part] = visible(text) + small_digit(part + 1);
    }
    waiting = 0;
  }
  return labels;
}

std::string generated_text(const GeneratedTarget& written) {
  std::string text;
  for (std::size_t n = 0; n < written.ids.size(); ++n) {
    if (!is_end(written, n)) text += bytes_of(written, written.ids[n]);
  }
  return text;
}

std::string beam_text(const GeneratedTarget& written, const Beam& beam) {
  std::string text;
  for (Index n = 0; n < written.given; ++n) {
    text += bytes_of(written, written.ids[static_cast<std::size_t>(n)]);
  }
  for (std::size_t n = 0; n < beam.ids.size(); ++n) {
    const bool end = beam.ended && n + 1 == beam.ids.size();
    text += end ? kBoundary : bytes_of(written, beam.ids[n]);
  }
  return text;
}

Finding written_finding() {
  return {
      .id = Findings::written.id,
      .summary = "The target that the model generates from the source.",
      .exists = [](const Session& e) { return e.run.tensors.file.empty() && e.run.has_input(); },
      .in_background =
          [](const RunSpec& spec, const FindingSettings& settings, ExperimentRun& run,
             const FindingProgress& progress, Findings& results) {
            results.set(Findings::written,
                        std::make_shared<const GeneratedTarget>(
                            write(spec, std::get<TargetSettings>(settings), run, progress)));
          }};
}

}  // namespace attnscope
