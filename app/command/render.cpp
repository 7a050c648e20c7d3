// attnscope render: a view of a run as a picture.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/interrupt.h"
#include "app/command/text_progress.h"
#include "app/command/view_options.h"
#include "core/base/file.h"
#include "core/experiment/head_table.h"
#include "core/experiment/runner.h"
#include "core/view/frames.h"

namespace attnscope::command {
namespace {

struct Options {
  ExperimentOptions experiment;
  CompareOptions compare;
  ViewOptions view;
  PictureSizeOptions size;
  std::filesystem::path output;
  std::string animate;  // "query=0:64"; empty: one picture
  int frames = 60;
  double seconds = 0.05;
};

void run(const Options& options) {
  FrameOptions frames;
  if (options.animate.empty()) {
    check_export_name(options.output);
  } else {
    frames = frames_from_text(options.animate);
    frames.count = options.frames;
    frames.seconds = options.seconds;
  }
  const PictureOptions picture = options.size.options();
  Experiment experiment = options.experiment.experiment();
  if (options.experiment.intervenes()) experiment.view.id = "intervene";
  if (options.compare.given()) experiment.view.id = "compare";
  options.view.apply(experiment.view);
  options.compare.apply(experiment);
  if (!options.animate.empty()) check_frames(options.output, experiment, frames);
  check_writable(options.output);
  ExperimentRun runner(backends());
  const Stop stop = stop_on_interrupt();
  const Traces traces = runner.run_both(experiment, stop);
  options.experiment.check_trace(*traces.trace);
  options.view.check_cells(*traces.trace, experiment.view);
  std::optional<HeadTable> measured;
  if (const std::string& file = experiment.view.statistics_file; !file.empty()) {
    measured = head_table(experiment, read_file(file), runner, print_progress("measuring"), stop);
  }
  const HeadTable* heads = measured ? &*measured : nullptr;
  if (!options.animate.empty()) {
    write_frames(options.output, *traces.trace, experiment, picture, frames, traces.reference.get(),
                 {}, stop, heads);
  } else {
    write_view(options.output, *traces.trace, experiment, picture, traces.reference.get(), stop,
               heads);
  }
  for (const std::string& note : traces.trace->notes) {
    std::fprintf(stderr, "note: %s\n", note.c_str());
  }
  if (traces.reference == nullptr || experiment.others.empty()) return;
  for (const std::string& note : traces.reference->notes) {
    std::fprintf(stderr, "note: B: %s\n", note.c_str());
  }
}

}  // namespace

void add_render(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("render", "Draw a view of a run into a PNG, SVG or PDF");
  const auto options = std::make_shared<Options>();
  options->experiment.add_to(command);
  options->view.add_to(command);
  options->compare.add_to(command);
  options->size.add_to(command);
  command
      .add_option("-o,--output", options->output,
                  "The picture to write: FILE.png, FILE.svg or FILE.pdf; or its numbers: FILE.csv, "
                  "FILE.npy or FILE.safetensors")
      ->required();
  command.add_option("--animate", options->animate,
                     "KEY=FROM:TO: a moving picture (FILE.gif, or FILE-%03d.png for a picture of "
                     "each frame) in which a number of the view runs from here to there");
  command.add_option("--frames", options->frames, "How many frames a moving picture has")
      ->capture_default_str();
  command.add_option("--seconds", options->seconds, "How long each frame of a GIF stays")
      ->capture_default_str();
  command.callback([options] { run(*options); });
}

}  // namespace attnscope::command
