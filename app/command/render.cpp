// attnscope render: a view of a run as a picture.
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "app/command/view_options.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/run.h"
#include "core/experiment/salient_pairs.h"
#include "core/tensor/storage.h"
#include "core/view/export/export_format.h"
#include "core/view/export/frames.h"
#include "core/view/opening.h"
#include "core/view/parts/describe.h"

namespace attnscope::command {
namespace {

struct RenderOptions {
  ExperimentOptions experiment;
  CompareOptions compare;
  ViewOptions view;
  PictureSizeOptions size;
  std::filesystem::path output;
  std::string animate;  // "query=0:64"; empty: no animation
  std::optional<int> frames;
  std::optional<double> seconds;
  Index salient = 0;  // rank of the salient pair to show, from 1; 0: none
};

// Output file and format, checked before the run.
struct Target {
  std::filesystem::path output;
  PictureOptions picture;
  std::optional<FrameOptions> frames;  // for animations
};

Target target(const RenderOptions& options) {
  Target target{options.output, options.size.options(), std::nullopt};
  if (options.animate.empty()) {
    check_export_name(options.output);
    return target;
  }
  check_frames_name(options.output);
  target.frames = frames_from_text(options.animate);
  target.frames->count = options.frames;
  target.frames->seconds = options.seconds;
  return target;
}

void write(const Target& target, const Session& session, const Traces& traces,
           ExperimentRun& runner) {
  if (!target.frames) {
    const ProgressLine line("drawing");
    write_view(target.output, *traces.trace, session, target.picture, traces.findings);
    return;
  }
  FrameSequence frames(session, traces, *target.frames, runner);
  write_frames(target.output, frames, target.picture, print_fraction("frames"));
}

// Selects the head of the pair with this rank, pins its words and reports the pair on stderr.
void select_salient_pair(Index rank, ExperimentRun& runner, Session& session) {
  std::optional<ProgressLine> line(runner);
  const auto trace = runner.run(session.run);
  const std::vector<SalientPair> pairs =
      find_salient_pairs(*trace, static_cast<std::size_t>(rank), &line->progress());
  line.reset();
  if (pairs.empty()) {
    throw InputError("--salient: expected a run with a salient pair, found a run without one");
  }
  if (pairs.size() < static_cast<std::size_t>(rank)) {
    throw InputError("--salient: expected at most " + std::to_string(pairs.size()) +
                     ", the number of salient pairs in the run, found " + std::to_string(rank));
  }
  point_at(pairs.back(), trace->parts, session.view);
  print_note(sentence(pairs.back()));
}

void run(const RenderOptions& options) {
  const Target output_target = target(options);
  std::vector<std::string> notes;  // printed at the end, after all errors
  Session session = options.experiment.compatible_session(notes);
  const bool has_default_view =
      !options.view.selects_view() && options.salient == 0 && options.animate.empty();
  if (options.experiment.opens_model() && has_default_view) {
    const auto checkpoint = model_store()->checkpoint(session.run.model);
    session.view.id = initial_view(checkpoint->model.config, session.run);
  }
  if (options.experiment.intervenes()) session.view.id = "intervene";
  if (options.compare.is_given()) session.view.id = "compare";
  options.view.apply(session.view);
  options.compare.apply(session, options.experiment.compatible(), notes);
  check_writable(options.output);
  ExperimentRun runner(backends());
  if (options.salient > 0) select_salient_pair(options.salient, runner, session);
  const std::vector<FindingRequest> requests = required_findings(session);
  Traces traces;
  with_offer(session, [&] {
    const ProgressLine line(runner);
    traces = runner.observe(session, requests);
  });
  options.experiment.check_trace(*traces.trace);
  options.view.check_trace(*traces.trace, session.view);
  // The sample selects a part of the trace that may not exist with the given options.
  if (options.experiment.uses_sample() && find_missing_part(*traces.trace, session.view.part)) {
    session.view.part = {};
  }
  traces.findings.add(
      compute_background_findings(session, requests, runner, print_progress("measuring")));
  release_cached_storage();  // the run's freed blocks; drawing needs blocks of other sizes
  write(output_target, session, traces, runner);
  options.experiment.report_sample(session.run);
  for (const std::string& note : notes) print_note(note);
  for (const std::string& note : traces.trace->notes) {
    print_note(note);
  }
  if (traces.reference() == nullptr || !session.b) return;
  for (const std::string& note : traces.reference()->notes) {
    print_note("B: " + note);
  }
}

}  // namespace

void add_render(Command program) {
  Command command = program.subcommand("render", "Draw a view of a run as a PNG, SVG or PDF");
  const auto options = std::make_shared<RenderOptions>();
  options->experiment.offer_samples();
  options->experiment.add_to(command);
  options->experiment.offer_compatible(command);
  options->view.add_to(command);
  options->compare.add_to(command);
  options->size.add_to(command);
  options->size.add_parts_to(command);
  command
      .add("-o,--output", options->output,
           "Output file for the picture or its numbers, with the extension " + still_endings() +
               ". Contains the session, unless --no-session")
      .required();
  command
      .add("--salient,--striking", options->salient,
           "Select the head and pin the words of a salient pair, by its rank in the list of "
           "'attnscope pairs': 1 is the most salient")
      .from_to(Index{1}, Index{1000});
  command.add(
      "--animate", options->animate,
      "Animate KEY=FROM:TO in FILE.gif, or in single frames FILE-%03d.png. KEY is layer, "
      "head, step, segment, a parameter of the view, of the variant (variant.window=1:16) or "
      "of the encoding (position.base=100:10000), training_step (snapshots of the model's "
      "training, which 'attnscope train --snapshot-every' keeps), or tokens (tokens=0:10 generates "
      "10 tokens with the settings of the view next). The model runs again if a "
      "frame changes the model, the variant, the encoding or the text");
  command.add("--frames", options->frames,
              "Number of frames of an animation; default: one per integer, 60 for real numbers");
  command.add("--seconds", options->seconds,
              "Seconds per frame of a GIF; default: 0.4 for integers, otherwise 0.05");
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
