// attnscope calibrate: calibrates the early-exit threshold of a model.
#include "core/training/calibrate.h"

#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "app/command/view_options.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/model_store.h"
#include "core/figure/render.h"
#include "core/model/structure.h"
#include "core/training/calibration_picture.h"

namespace attnscope::command {
namespace {

struct CalibrateOptions {
  std::string model = "default", exits, method, output;
  std::vector<std::string> files, held_out;
  double tolerance = 0.1, level = 0.05;
  Index length = 0, windows = 200, steps = 20;
  PictureSizeOptions size;
};

std::string read_texts(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) {
    text += read_file(file);
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

bool is_csv(const std::string& path) {
  return std::filesystem::path(path).extension() == ".csv";
}

void write(const CalibrateOptions& options, const Calibration& calibration) {
  if (is_csv(options.output)) {
    write_file(options.output, to_csv(calibration));
    return;
  }
  const PictureOptions size = options.size.options();
  const double height = size.height > 0 ? size.height : size.width * 0.6;
  const Theme& theme = size.dark ? Theme::dark() : Theme::light();
  DisplayList list =
      calibration_picture(calibration, size.width, height, theme, file_text_measure());
  if (size.transparent) list.background.a = 0;
  write_picture(options.output, list, size.scale, {{"Title", "calibrated exit threshold"}});
}

void print_table(const Calibration& calibration) {
  const bool has_p_values = calibration.request.method == CalibrationMethod::LearnThenTest;
  std::printf("threshold  differs  %sloss    layers\n", has_p_values ? "p-value   " : "");
  for (const CalibrationPoint& point : calibration.points) {
    const ExitEffect& effect = point.effect;
    std::printf("%9.3f  %6.2f%%  ", effect.threshold, 100 * effect.changed_fraction);
    if (has_p_values) std::printf("%-8.2g  ", point.p);
    std::printf("%.4f  %.2f%s\n", effect.loss, effect.layers, point.accepted ? "  accepted" : "");
  }
}

void run(const CalibrateOptions& options) {
  std::vector<std::string> files = options.files;
  if (files.empty()) {
    files.push_back(sample_calibration_text().string());
    print_note("no text given; calibrating on the sample " + files.front());
  }
  if (!options.output.empty()) {
    if (!is_csv(options.output)) check_picture_name(options.output);
    check_writable(options.output);
  }
  Checkpoint checkpoint = *model_store()->checkpoint(options.model);
  if (!options.exits.empty()) {
    Structure structure;
    structure.exits = exits_from_text(options.exits);
    checkpoint.model = with_structure(checkpoint.model, structure);
  }
  CalibrationRequest request;
  request.method = options.method.empty() ? default_method(checkpoint.model.config)
                                          : calibration_method(options.method);
  request.tolerance = options.tolerance;
  request.level = options.level;
  request.length = options.length;
  request.max_windows = options.windows;
  request.thresholds = CalibrationRequest::descending_thresholds(options.steps);
  const auto print_step = print_fraction("calibrating");
  const Calibration calibration =
      calibrate(checkpoint, read_texts(files), read_texts(options.held_out), request,
                [&](const Calibration&, double fraction) { print_step(fraction); });
  if (!options.output.empty()) write(options, calibration);
  for (const std::string& name : checkpoint.model.untrained) {
    print_note("untrained: " + name);
  }
  print_table(calibration);
  std::printf("%s\n", summary(calibration).c_str());
}

}  // namespace

void add_calibrate(Command program) {
  Command command = program.subcommand(
      "calibrate",
      "Calibrate the early-exit threshold of a model with exits: find the lowest "
      "threshold at which predictions stay within the tolerance");
  const auto options = std::make_shared<CalibrateOptions>();
  command.add("files", options->files, "Text files for calibration; default: a bundled story");
  command.add("-m,--model", options->model, "Model: bundled name, folder or GGUF file");
  command.add(
      "--exits", options->exits,
      "Exit rule, such as saturation,decay=2 ('attnscope list exits'); default: the model's rule");
  command
      .add("--check", options->held_out,
           "Held-out text file on which the threshold is evaluated; repeatable")
      .one_each();
  command.add("--method", options->method,
              "Calibration method: test (learn then test, with a statistical guarantee) or grid "
              "(fewest layers within the tolerance, without a guarantee); default: the method "
              "published for the exit rule");
  command
      .add("--tolerance", options->tolerance,
           "Tolerance. Method test: maximum share of tokens whose prediction differs from the full "
           "model's; method grid: maximum increase of the loss in nats per token")
      .show_default();
  command
      .add("--risk", options->level, "Maximum probability that the guarantee of method test fails")
      .show_default();
  command.add("--length", options->length,
              "Window length in tokens; default: the context length of training");
  command.add("--windows", options->windows, "Maximum number of windows per text").show_default();
  command.add("--steps", options->steps, "Number of evenly spaced thresholds to try, from 1 down")
      .from_to(Index{1}, Index{1000})
      .show_default();
  options->size.add_to(command);
  command.add("-o,--output", options->output,
              "Output file: a figure (.png, .svg, .pdf) or all numbers (.csv)");
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
