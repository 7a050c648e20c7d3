// What a model writes from a source, by beam search.
#include "core/experiment/written.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/experiment/chosen.h"
#include "core/experiment/continuation.h"
#include "core/experiment/finding.h"
#include "core/experiment/runner.h"
#include "core/model/architecture.h"
#include "core/model/id_label.h"
#include "core/text/utf8_stream.h"

namespace attnscope {

Index beams_wished(const Experiment& experiment) {
  if (experiment.view.id != "alignment") return 0;
  const auto options = experiment.view.options.find("alignment");
  const bool named = options != experiment.view.options.end() && options->second.has("beams");
  return named ? options->second.integer("beams") : 1;
}

namespace {

std::string bytes_of(const WrittenTarget& written, std::int32_t id) {
  const Tokenizer* tokenizer = written.trace ? written.trace->tokenizer.get() : nullptr;
  const bool known = tokenizer != nullptr && id >= 0 && id < tokenizer->vocabulary_size();
  return known && !tokenizer->is_special(id) ? tokenizer->bytes(id) : "";
}

bool is_end(const WrittenTarget& written, std::size_t n) {
  return written.ended && n + 1 == written.ids.size();
}

std::string small_digit(std::size_t number) {
  constexpr const char* kDigits[] = {"₀", "₁", "₂", "₃", "₄"};
  return kDigits[std::min<std::size_t>(number, 4)];
}

// The interventions of a run speak of the target as it was given: not of one that is to come.
WrittenTarget write(Experiment experiment, ExperimentRun& run, const FindingProgress& progress,
                    const Stop& stop) {
  experiment.others.clear();
  const Index beams = beams_wished(experiment);
  WrittenTarget written;
  const std::shared_ptr<const Checkpoint> checkpoint = model_store()->checkpoint(experiment.model);
  const Model model = chosen_model(checkpoint->model, experiment);
  if (architecture(model.config.architecture.id).reads != Reads::SourceAndTarget) {
    written.problem = "the chosen model reads no source";  // another one than the shown run's
    return written;
  }
  try {
    if (!experiment.interventions.empty()) {
      throw InputError(
          "a model that a person intervenes in is not let write by itself: "
          "take back the interventions, or look at its maps");
    }
    const Continuation from = continuation(*checkpoint, model.config, experiment, -1);
    BeamOptions options;
    options.width = std::max<Index>(1, beams);
    options.most = from.room;
    options.ends = from.ends;
    options.source = from.source;
    options.exit = experiment.exit;
    const auto most = static_cast<std::size_t>(from.room);
    written.search = beam_search(model, from.prompt, options, stop, [&](Index n) {
      if (progress) progress(static_cast<std::size_t>(n), most + 1);
    });
    const Beam& best = written.search.best();
    written.ids.assign(from.prompt.begin() + 1, from.prompt.end());
    written.given = written.rows();
    written.ids.insert(written.ids.end(), best.ids.begin(), best.ids.end());
    written.ended = best.ended;
    Experiment whole = experiment;
    whole.target.clear();
    whole.target_ids = {from.prompt.front()};
    whole.target_ids.insert(whole.target_ids.end(), written.ids.begin(), written.ids.end() - 1);
    written.trace = run.run(whole, stop);
  } catch (const InputError& e) {
    written = {};
    written.problem = e.what();
  }
  if (progress) progress(1, 1);
  return written;
}

}  // namespace

std::vector<std::string> written_labels(const WrittenTarget& written) {
  std::vector<std::string> labels;
  Utf8Stream characters;
  std::size_t waiting = 0;  // tokens that begin a character
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

std::string written_text(const WrittenTarget& written) {
  std::string text;
  for (std::size_t n = 0; n < written.ids.size(); ++n) {
    if (!is_end(written, n)) text += bytes_of(written, written.ids[n]);
  }
  return text;
}

std::string beam_text(const WrittenTarget& written, const Beam& beam) {
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
  return {.id = Findings::written.id,
          .summary = "What the model writes from the source alone.",
          .exists =
              [](const Experiment& e) {
                return beams_wished(e) > 0 && e.tensors.file.empty() && e.has_input();
              },
          .holds =
              [](const Experiment& before, const Experiment& now) {
                Experiment other = before;
                other.others = now.others;
                return same_run(other, now) && beams_wished(before) == beams_wished(now);
              },
          .beside_runs =
              [](const Experiment& experiment, ExperimentRun& run, const FindingProgress& progress,
                 const Stop& stop, Findings& results) {
                results.set(Findings::written, std::make_shared<const WrittenTarget>(
                                                   write(experiment, run, progress, stop)));
              }};
}

}  // namespace attnscope
