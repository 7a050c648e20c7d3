// attnscope render: a view of a run as a picture.
#include <unistd.h>

#include <cmath>
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
#include "app/command/interrupt.h"
#include "app/command/text_progress.h"
#include "app/command/view_options.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stop_scope.h"
#include "core/experiment/runner.h"
#include "core/experiment/striking.h"
#include "core/view/export/export_format.h"
#include "core/view/export/frames.h"
#include "core/view/parts/describe.h"

namespace attnscope::command {
namespace {

struct RenderOptions {
  ExperimentOptions experiment;
  CompareOptions compare;
  ViewOptions view;
  PictureSizeOptions size;
  std::filesystem::path output;
  std::string animate;  // "query=0:64"; empty: one picture
  std::optional<int> frames;
  std::optional<double> seconds;
  Index striking = 0;  // which of the striking pairs is looked at, counted from 1; 0: as they say
};

// What can be said about the files before anything runs.
struct Target {
  std::filesystem::path output;
  PictureOptions picture;
  std::optional<FrameOptions> frames;  // of a moving picture
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

void write(const Target& target, const Experiment& experiment, const Traces& traces,
           ExperimentRun& runner, const Stop& stop) {
  if (!target.frames) {
    const ProgressLine line("drawing");
    write_view(target.output, *traces.trace, experiment, target.picture, traces.findings, stop);
    return;
  }
  FrameSequence frames(experiment, traces, *target.frames, runner);
  constexpr std::size_t kSteps = 1000;
  std::function<void(double)> progress;
  // Elsewhere what is refused in the midst of it has the one line to itself.
  if (isatty(STDERR_FILENO) != 0) {
    progress = [print = print_progress("frames")](double share) {
      print(static_cast<std::size_t>(std::lround(share * kSteps)), kSteps);
    };
  }
  write_frames(target.output, frames, target.picture, progress, stop);
}

// Says which pair it is on stderr, as the window says it in its status line.
void look_at_striking(Index which, ExperimentRun& runner, const Stop& stop,
                      Experiment& experiment) {
  std::optional<ProgressLine> line(runner);
  const auto trace = runner.run(experiment, stop);
  const std::vector<StrikingPair> pairs =
      striking_pairs(*trace, static_cast<std::size_t>(which), stop, &line->progress());
  line.reset();
  if (pairs.size() < static_cast<std::size_t>(which)) {
    throw InputError("--striking: expected one of the run's " + std::to_string(pairs.size()) +
                     " pairs, found " + std::to_string(which));
  }
  point_at(pairs.back(), trace->parts, experiment.view);
  std::fprintf(stderr, "note: %s\n", sentence(pairs.back()).c_str());
}

void run(const RenderOptions& options) {
  const Target to_write = target(options);
  Experiment experiment = options.experiment.experiment();
  if (options.experiment.intervenes()) experiment.view.id = "intervene";
  if (options.compare.given()) experiment.view.id = "compare";
  options.view.apply(experiment.view);
  options.compare.apply(experiment);
  check_writable(options.output);
  ExperimentRun runner(backends());
  const Stop stop = stop_on_interrupt();
  const StopScope scope(stop);  // of drawing and writing, too
  if (options.striking > 0) look_at_striking(options.striking, runner, stop, experiment);
  const std::vector<std::string> names = findings_read(experiment);
  Traces traces = [&] {
    const ProgressLine line(runner);
    return runner.observe(experiment, names, stop);
  }();
  options.experiment.check_trace(*traces.trace);
  options.view.check_trace(*traces.trace, experiment.view);
  // A sample of a bundled model may have fewer segments in another.
  if (options.experiment.reads_sample() && no_part(*traces.trace, experiment.view.part)) {
    experiment.view.part = {};
  }
  traces.findings.add(find_beside(experiment, names, runner, print_progress("measuring"), stop));
  write(to_write, experiment, traces, runner, stop);
  options.experiment.say_sample(experiment);
  for (const std::string& note : traces.trace->notes) {
    std::fprintf(stderr, "note: %s\n", note.c_str());
  }
  if (traces.reference() == nullptr || experiment.others.empty()) return;
  for (const std::string& note : traces.reference()->notes) {
    std::fprintf(stderr, "note: B: %s\n", note.c_str());
  }
}

}  // namespace

void add_render(Command program) {
  Command command = program.subcommand("render", "Draw a view of a run into a PNG, SVG or PDF");
  const auto options = std::make_shared<RenderOptions>();
  options->experiment.offer_samples();
  options->experiment.add_to(command);
  options->view.add_to(command);
  options->compare.add_to(command);
  options->size.add_to(command);
  options->size.add_parts_to(command);
  command
      .add("-o,--output", options->output,
           "File of the picture or of its numbers, which ends in " + still_endings())
      .required();
  command
      .add(
          "--striking", options->striking,
          "Look at the head and pin the pair of words that is the most striking of the run (1), or "
          "the next (2, ...): those that 'attnscope pairs' lists")
      .from_to(Index{1}, Index{1000});
  command.add(
      "--animate", options->animate,
      "KEY=FROM:TO: a moving picture (FILE.gif, or FILE-%03d.png for a picture of "
      "each frame) in which a number runs from here to there: one of the view's, "
      "layer, head, step, segment, one of the variant's or the encoding's (variant.window=1:16, "
      "position.base=100:10000), or tokens=0:10, the text as the model goes on "
      "with it by the settings of the view next. The model runs for each frame");
  command.add("--frames", options->frames,
              "How many frames a moving picture has; default: one for each whole number, "
              "60 for what is no integer");
  command.add("--seconds", options->seconds,
              "How long each frame of a GIF stays; default: 0.4 for integers, else 0.05");
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
