// attnscope calibrate: the threshold at which tokens may leave a model early.
#include "core/training/calibrate.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/interrupt.h"
#include "app/command/text_progress.h"
#include "app/command/view_options.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/model_store.h"
#include "core/figure/plain_text.h"
#include "core/figure/render.h"
#include "core/model/structure.h"
#include "core/training/calibration_picture.h"

namespace attnscope::command {
namespace {

struct CalibrateOptions {
  std::string model = "default", exits, method, output;
  std::vector<std::string> files, others;
  double tolerance = 0.1, level = 0.05;
  Index length = 0, windows = 200, steps = 20;
  PictureSizeOptions size;
};

std::string texts_of(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) {
    text += read_file(file);
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

bool is_table(const std::string& path) {
  return std::filesystem::path(path).extension() == ".csv";
}

void write(const CalibrateOptions& options, const Calibration& calibration) {
  if (is_table(options.output)) {
    write_file(options.output, to_csv(calibration));
    return;
  }
  const PictureOptions size = options.size.options();
  const double height = size.height > 0 ? size.height : size.width * 0.6;
  const Theme& theme = size.dark ? Theme::dark() : Theme::light();
  DisplayList list =
      calibration_picture(calibration, size.width, height, theme, file_text_measure());
  if (size.transparent) list.background.a = 0;
  write_picture(options.output, list, size.scale, {{"Title", "a calibrated threshold"}});
}

void print_table(const Calibration& calibration) {
  const bool tests = calibration.request.method == CalibrationMethod::LearnThenTest;
  std::printf("threshold  differs  %sloss    layers\n", tests ? "p-value   " : "");
  for (const CalibrationPoint& point : calibration.points) {
    const ExitEffect& e = point.effect;
    std::printf("%9.3f  %6.2f%%  ", e.threshold, 100 * e.differs);
    if (tests) std::printf("%-8.2g  ", point.p);
    std::printf("%.4f  %.2f%s\n", e.loss, e.layers, point.accepted ? "  accepted" : "");
  }
}

void run(const CalibrateOptions& options) {
  if (options.files.empty()) {
    throw InputError("calibrate: expected text files to choose the threshold by");
  }
  if (!options.output.empty()) {
    if (!is_table(options.output)) check_picture_name(options.output);
    check_writable(options.output);
  }
  Checkpoint checkpoint = *model_store()->checkpoint(options.model);
  if (!options.exits.empty()) {
    Structure structure;
    structure.exits = exits_from_text(options.exits);
    checkpoint.model = with_structure(checkpoint.model, structure);
  }
  CalibrationRequest request;
  request.method = options.method.empty() ? usual_method(checkpoint.model.config)
                                          : calibration_method(options.method);
  request.tolerance = options.tolerance;
  request.level = options.level;
  request.length = options.length;
  request.most_windows = options.windows;
  request.thresholds = CalibrationRequest::falling_thresholds(options.steps);
  const Stop stop = stop_on_interrupt();
  constexpr std::size_t kSteps = 1000;
  const auto print = print_progress("calibrating");
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const Calibration calibration = calibrate(
      checkpoint, texts_of(options.files), texts_of(options.others), request,
      [&](const Calibration&, double share) {
        if (terminal) print(static_cast<std::size_t>(share * kSteps), kSteps);
      },
      stop);
  if (!options.output.empty()) write(options, calibration);
  for (const std::string& name : checkpoint.model.untrained) {
    std::fprintf(stderr, "note: untrained: %s\n", name.c_str());
  }
  print_table(calibration);
  std::printf("%s\n", summary(calibration).c_str());
}

}  // namespace

void add_calibrate(Command program) {
  Command command = program.subcommand(
      "calibrate",
      "The lowest threshold at which tokens may leave a model early, so that what is lost stays "
      "within what is tolerated; for models with exits");
  const auto options = std::make_shared<CalibrateOptions>();
  command.add("files", options->files, "Text files to choose the threshold by");
  command.add("-m,--model", options->model, "A bundled model's name or a folder");
  command.add("--exits", options->exits,
              "Another rule than the model's: saturation,decay=2 ('attnscope list exits')");
  command
      .add("--check", options->others,
           "A text file that nothing is chosen by, to see what the threshold does there; once for "
           "each file")
      .one_each();
  command.add("--method", options->method,
              "test: learn then test, with a promise; grid: the fewest layers whose loss is within "
              "the tolerance, without one; default: what the model's rule was published with");
  command
      .add("--tolerance", options->tolerance,
           "test: the share of tokens whose guess may differ from the full model's; grid: nats per "
           "token that the loss may gain")
      .show_default();
  command
      .add("--risk", options->level,
           "test: the chance that is taken that the promise does not hold")
      .show_default();
  command.add("--length", options->length,
              "Tokens of a window; default: the context that the model was trained with");
  command.add("--windows", options->windows, "Windows of a text at most").show_default();
  command
      .add("--steps", options->steps, "How many thresholds are tried, from 1 down, evenly spread")
      .from_to(Index{1}, Index{1000})
      .show_default();
  options->size.add_to(command);
  command.add("-o,--output", options->output,
              "A picture, FILE.png, FILE.svg or FILE.pdf, or all numbers, FILE.csv");
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
