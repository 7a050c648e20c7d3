// attnscope cost: what variants take against the length, as a curve or a table.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/interrupt.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "app/command/view_options.h"
#include "core/analysis/cost_picture.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/figure/render.h"

namespace attnscope::command {
namespace {

struct CostOptions {
  std::vector<std::string> variants;
  std::string lengths = "128..4096", quantity = "time", output;
  Index heads = 4, head_size = 64;
  double most_seconds = 5;
  bool causal = false, measured = false, formula = false, no_guides = false;
  PictureSizeOptions size;
  std::optional<Command> command;
};

// "full,local,window=64,lsh": names, each followed by its parameters.
std::vector<std::string> split_variants(const std::string& text) {
  if (text.starts_with('{')) return {text};
  std::vector<std::string> list;
  std::string part;
  int depth = 0;
  const auto take = [&] {
    const bool parameter = part.find('=') != std::string::npos && !list.empty();
    if (parameter) {
      list.back() += "," + part;
    } else {
      list.push_back(part);
    }
    part.clear();
  };
  for (const char c : text) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == ',' && depth == 0) {
      take();
    } else {
      part += c;
    }
  }
  take();
  return list;
}

std::vector<CostVariant> variants_of(const std::vector<std::string>& texts) {
  std::vector<CostVariant> list;
  for (const std::string& text : texts) {
    for (const std::string& one : split_variants(text)) {
      const bool by_name = one.find_first_of(",{") == std::string::npos;
      list.push_back({variant_from_text(one), by_name});
    }
  }
  return list.empty() ? usual_cost_variants() : list;
}

// "128..8192", each twice the one before, or "100,300,900".
std::vector<Index> lengths_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  const bool range = dots != std::string::npos;
  std::string listed = text;
  if (range) listed.replace(dots, 2, ",");
  const std::optional<std::vector<std::int32_t>> numbers = numbers_from_text(listed, 1);
  if (numbers && !range) return {numbers->begin(), numbers->end()};
  if (numbers && numbers->size() == 2) {
    const std::vector<Index> lengths = doubling_lengths((*numbers)[0], (*numbers)[1]);
    if (!lengths.empty()) return lengths;
  }
  throw InputError(
      "--lengths: expected tokens from 1 on, FIRST..LAST with the smaller first or a list such as "
      "100,300,900, found \"" +
      text + "\"");
}

bool is_picture(const std::filesystem::path& path) {
  return path.extension() != ".csv" && path != "-" && !path.empty();
}

CostLook look_of(const CostOptions& options) {
  CostLook look;
  look.quantity = cost_quantity(options.quantity);
  // What is asked for; where nothing is, what was measured.
  look.measured = options.measured || !options.formula;
  look.formula = options.formula;
  look.guides = !options.no_guides;
  const PictureOptions size = options.size.options();
  if (options.command->given("--width") || options.command->given("--pixels") ||
      options.command->given("--inches")) {
    look.width = size.width;
    look.height = size.height > 0 ? size.height : size.width * 0.62;
  } else if (size.height > 0) {
    look.height = size.height;
  }
  return look;
}

void write(const CostOptions& options, const CostCurves& curves, const CostLook& look) {
  if (!is_picture(options.output)) {
    const std::string csv = to_csv(curves);
    if (options.output.empty() || options.output == "-") {
      std::fputs(csv.c_str(), stdout);
      flush_output();
    } else {
      write_file(options.output, csv);
    }
    return;
  }
  const PictureOptions size = options.size.options();
  const Theme& theme = size.dark ? Theme::dark() : Theme::light();
  DisplayList list = cost_picture(curves, look, theme, file_text_measure());
  if (size.transparent) list.background.a = 0;
  write_picture(options.output, list, size.scale, {{"Title", "attention against the length"}});
}

void run(const CostOptions& options) {
  const bool to_screen = options.output.empty() || options.output == "-";
  if (is_picture(options.output)) check_picture_name(options.output);
  if (!to_screen) check_writable(options.output);
  const CostLook look = look_of(options);
  CostRequest request;
  request.variants = variants_of(options.variants);
  request.lengths = lengths_of(options.lengths);
  request.heads = options.heads;
  request.head_size = options.head_size;
  request.causal = options.causal;
  request.most_seconds = options.most_seconds;
  // Times by formula go by the measured speed of full attention.
  const bool counts_only = look.quantity == CostQuantity::Operations ||
                           (look.quantity == CostQuantity::Bytes && !look.measured);
  request.measured = !counts_only;
  const Stop stop = stop_on_interrupt();
  constexpr std::size_t kSteps = 1000;
  const auto print = print_progress("measuring");
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const CostCurves curves = cost_curves(
      request,
      [&](const CostCurves&, double share) {
        if (terminal) print(static_cast<std::size_t>(share * kSteps), kSteps);
      },
      stop);
  write(options, curves, look);
  for (const CostSeries& series : curves.series) {
    for (const CostPoint& point : series.points) {
      if (point.missing.empty()) continue;
      std::fprintf(stderr, "note: %s at %td tokens: %s\n", series.variant.choice.id.c_str(),
                   point.length, point.missing.c_str());
    }
  }
  if (curves.stopped) throw Stopped();
}

}  // namespace

void add_cost(Command program) {
  Command command = program.subcommand(
      "cost",
      "What variants take against the length: time and memory measured here, operations counted, "
      "beside the growth that their papers name");
  const auto options = std::make_shared<CostOptions>();
  options->command = command;
  std::string usual;
  for (const CostVariant& one : usual_cost_variants()) {
    usual += (usual.empty() ? "" : ",") + one.choice.id;
  }
  command
      .add("--variant", options->variants,
           "Variants, with parameters where these are not to be as the paper has them at each "
           "length: full,local,window=64,lsh; default: " +
               usual)
      .one_each();
  command
      .add("--lengths", options->lengths,
           "FIRST..LAST tokens, each twice the one before, or a list of lengths: 100,300,900")
      .show_default();
  command.add("--quantity", options->quantity, "What a picture shows: time, operations or bytes")
      .show_default();
  command.flag("--measured", options->measured, "Draw what was measured; so it is by default");
  command.flag("--formula", options->formula,
               "Draw what a formula gives: time at the speed of full attention, bytes of inputs, "
               "output and scores. Operations are counted always");
  command.flag("--no-guides", options->no_guides,
               "Without the lines of the growth that the papers name");
  command.add("--heads", options->heads, "Heads of an operation").positive().show_default();
  command.add("--head-size", options->head_size, "Numbers of a head's query, key and value")
      .positive()
      .show_default();
  command.flag("--causal", options->causal, "No query sees later keys, where a variant can that");
  command
      .add("--most-seconds", options->most_seconds,
           "Lengths at which one operation would take longer are left out, and said")
      .positive()
      .show_default();
  options->size.add_to(command);
  command.add("-o,--output", options->output,
              "The picture to write, FILE.png, FILE.svg or FILE.pdf, or all numbers, FILE.csv; "
              "default: these on standard output");
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
