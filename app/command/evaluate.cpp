// attnscope evaluate: how well a model predicts text files.
#include "core/training/evaluate.h"

#include <cstdio>

#include "app/command/commands.h"
#include "app/command/interrupt.h"
#include "core/base/file.h"
#include "core/training/ngram.h"

namespace attnscope::command {

namespace {

struct Options {
  std::string model = "default";
  std::vector<std::string> files, ngram_text;
  int ngram_order = 6;
};

void evaluate_command(const Options& options) {
  const Stop stop = stop_on_interrupt();
  const Checkpoint checkpoint = load_checkpoint(options.model);
  NgramModel ngram(options.ngram_order);
  for (const std::string& file : options.ngram_text) ngram.learn(read_file(file));
  double bits = 0, ngram_bits = 0, bytes = 0;
  const auto print = [&](const std::string& name, double model, double counted) {
    std::printf("%s: %.4f bits per byte", name.c_str(), model);
    if (!options.ngram_text.empty())
      std::printf(", byte %d-gram %.4f", options.ngram_order, counted);
    std::printf("\n");
  };
  for (const std::string& file : options.files) {
    const std::string text = read_file(file);
    const auto size = static_cast<double>(text.size());
    const double model = bits_per_byte(checkpoint, text, stop);
    const double counted = options.ngram_text.empty() ? 0 : ngram.bits_per_byte(text);
    print(file, model, counted);
    bits += model * size;
    ngram_bits += counted * size;
    bytes += size;
  }
  if (options.files.size() > 1) print("all", bits / bytes, ngram_bits / bytes);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App& command = *app.add_subcommand(
      "evaluate", "Bits that a model needs for each byte of text files: lower is better");
  const auto options = std::make_shared<Options>();
  command.add_option("files", options->files, "Text files")->required();
  command.add_option("-m,--model", options->model, "A bundled model's name or a folder");
  command.add_option("--ngram-text", options->ngram_text,
                     "Files that a byte n-gram model learns from, to print its score beside (give "
                     "the files to evaluate first)");
  command.add_option("--ngram-order", options->ngram_order, "Bytes of an n-gram; default: 6");
  command.callback([options] { evaluate_command(*options); });
}

}  // namespace attnscope::command
