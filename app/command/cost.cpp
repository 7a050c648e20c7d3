// attnscope cost: cost of variants against length, as a figure or a table.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/length_list.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "app/command/view_options.h"
#include "core/analysis/cost_plot.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/figure/render.h"

namespace attnscope::command {
namespace {

struct CostOptions {
  std::vector<std::string> variants;
  std::string lengths = "128..4096", quantity = "time", output;
  Index heads = 4, head_size = 64;
  double max_seconds = 5;
  bool causal = false, measured = false, formula = false, no_guides = false;
  PictureSizeOptions size;
  std::optional<Command> command;
};

// Splits "full,local,window=64,lsh" into "full", "local,window=64" and "lsh".
std::vector<std::string> split_variants(const std::string& text) {
  if (text.starts_with('{')) return {text};
  std::vector<std::string> result;
  std::string part;
  int bracket_depth = 0;
  const auto end_part = [&] {
    const bool is_parameter = part.find('=') != std::string::npos && !result.empty();
    if (is_parameter) {
      result.back() += "," + part;
    } else {
      result.push_back(part);
    }
    part.clear();
  };
  for (const char c : text) {
    if (c == '[') ++bracket_depth;
    if (c == ']') --bracket_depth;
    if (c == ',' && bracket_depth == 0) {
      end_part();
    } else {
      part += c;
    }
  }
  end_part();
  return result;
}

std::vector<CostVariant> parse_variants(const std::vector<std::string>& texts) {
  std::vector<CostVariant> result;
  for (const std::string& text : texts) {
    for (const std::string& variant_text : split_variants(text)) {
      const bool uses_published_sizes = variant_text.find_first_of(",{") == std::string::npos;
      result.push_back({variant_from_text(variant_text), uses_published_sizes});
    }
  }
  return result.empty() ? default_cost_variants() : result;
}

bool is_picture(const std::filesystem::path& path) {
  return path.extension() != ".csv" && path != "-" && !path.empty();
}

CostPlotOptions plot_options(const CostOptions& options) {
  CostPlotOptions plot;
  plot.quantity = cost_quantity(options.quantity);
  plot.measured = options.measured || !options.formula;
  plot.formula = options.formula;
  plot.guides = !options.no_guides;
  const PictureOptions size = options.size.options();
  if (options.command->is_given("--width") || options.command->is_given("--pixels") ||
      options.command->is_given("--inches")) {
    plot.width = size.width;
    plot.height = size.height > 0 ? size.height : size.width * 0.62;
  } else if (size.height > 0) {
    plot.height = size.height;
  }
  return plot;
}

void write(const CostOptions& options, const CostCurves& curves, const CostPlotOptions& plot) {
  if (!is_picture(options.output)) {
    const std::string csv = to_csv(curves);
    if (options.output.empty() || options.output == "-") {
      print(csv);
      flush_output();
    } else {
      write_file(options.output, csv);
    }
    return;
  }
  const PictureOptions size = options.size.options();
  const Theme& theme = size.dark ? Theme::dark() : Theme::light();
  DisplayList list = cost_plot(curves, plot, theme, file_text_measure());
  if (size.transparent) list.background.a = 0;
  write_picture(options.output, list, size.scale, {{"Title", "attention cost against length"}});
}

void run(const CostOptions& options) {
  const bool to_stdout = options.output.empty() || options.output == "-";
  if (is_picture(options.output)) check_picture_name(options.output);
  if (!to_stdout) check_writable(options.output);
  const CostPlotOptions plot = plot_options(options);
  CostRequest request;
  request.variants = parse_variants(options.variants);
  request.lengths = lengths_from_text(options.lengths);
  request.heads = options.heads;
  request.head_size = options.head_size;
  request.causal = options.causal;
  request.max_seconds = options.max_seconds;
  // Times from formulas need the measured speed of full attention.
  const bool plots_counts_only = plot.quantity == CostQuantity::Operations ||
                                 (plot.quantity == CostQuantity::Bytes && !plot.measured);
  request.measured = !plots_counts_only;
  const auto print_step = print_fraction("measuring");
  const CostCurves curves =
      cost_curves(request, [&](const CostCurves&, double fraction) { print_step(fraction); });
  {
    const UninterruptedScope writing;  // writes the results of an interrupted measurement, too
    write(options, curves, plot);
  }
  for (const CostSeries& series : curves.series) {
    for (const CostPoint& point : series.points) {
      if (point.missing.empty()) continue;
      print_note(series.variant.choice.id + " at " + std::to_string(point.length) +
                 " tokens: " + point.missing);
    }
  }
  if (curves.stopped) throw Stopped();
}

}  // namespace

void add_cost(Command program) {
  Command command =
      program.subcommand("cost",
                         "Cost of variants against length: measured time and memory, and operation "
                         "counts, next to the growth stated in their papers");
  const auto options = std::make_shared<CostOptions>();
  options->command = command;
  std::string default_ids;
  for (const CostVariant& cost_variant : default_cost_variants()) {
    default_ids += (default_ids.empty() ? "" : ",") + cost_variant.choice.id;
  }
  command
      .add("--variant", options->variants,
           "Variants, each with optional parameters: full,local,window=64,lsh. Without parameters, "
           "sizes follow the papers at each length. Default variants: " +
               default_ids)
      .one_each();
  command
      .add("--lengths", options->lengths,
           "Lengths in tokens: FIRST..LAST in powers of two, or a list: 100,300,900")
      .show_default();
  command.add("--quantity", options->quantity, "Quantity to plot: time, operations or bytes")
      .show_default();
  command.flag("--measured", options->measured, "Plot measured values (default)");
  command.flag("--formula", options->formula,
               "Plot values from formulas: time at the speed of full attention; bytes of inputs, "
               "output and scores. No effect on operations, which are always counted by formula");
  command.flag("--no-guides", options->no_guides,
               "Omit the lines of the growth stated in the papers");
  command.add("--heads", options->heads, "Number of heads").positive().show_default();
  command.add("--head-size", options->head_size, "Head size d_k of queries, keys and values")
      .positive()
      .show_default();
  command.flag("--causal", options->causal, "Causal mask, for variants that support it");
  command
      .add("--max-seconds,--most-seconds", options->max_seconds,
           "Maximum predicted seconds of one attention computation; slower points are skipped "
           "with a note")
      .positive()
      .show_default();
  options->size.add_to(command);
  command.add("-o,--output", options->output,
              "Output file: a figure (.png, .svg, .pdf) or all numbers (.csv); default: numbers on "
              "standard output");
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
