// attnscope evaluate: how well a model predicts text files, or copies what is repeated.
#include "core/training/evaluate.h"

#include <cstdio>

#include "app/command/commands.h"
#include "app/command/interrupt.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/model_store.h"
#include "core/training/ngram.h"
#include "core/training/repeat.h"

namespace attnscope::command {

namespace {

constexpr Index kRepeatSequences = 512;
constexpr Index kMostLength = Index{1} << 20;
constexpr std::uint64_t kRepeatSeed = 1;

struct EvaluateOptions {
  std::string model = "default";
  std::vector<std::string> files, ngram_text;
  int ngram_order = 6;
  Index length = 0;  // 0: the context
  bool repeat = false;
};

void evaluate_files(const Checkpoint& checkpoint, const EvaluateOptions& options,
                    const Stop& stop) {
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
    if (text.empty()) throw InputError(file + ": expected a text, found an empty file");
    const auto size = static_cast<double>(text.size());
    const double model = bits_per_byte(checkpoint, text, stop, options.length);
    const double counted = options.ngram_text.empty() ? 0 : ngram.bits_per_byte(text);
    print(file, model, counted);
    bits += model * size;
    ngram_bits += counted * size;
    bytes += size;
  }
  if (options.files.size() > 1) print("all", bits / bytes, ngram_bits / bytes);
}

void evaluate_repeat(const Checkpoint& checkpoint, const EvaluateOptions& options,
                     const Stop& stop) {
  const ModelConfig& config = checkpoint.model.config;
  const Index length = options.length > 0 ? options.length : config.context;
  const RepeatStream stream(config.vocabulary, length, kRepeatSeed);
  const Score score = repeat_score(checkpoint.model, stream, kRepeatSequences, stop);
  std::printf("repeated tokens: accuracy %.4f, loss %.4f (%td sequences of %td tokens)\n",
              score.accuracy, score.loss, kRepeatSequences, length);
}

void evaluate_command(const EvaluateOptions& options) {
  if (options.files.empty() && !options.repeat) {
    throw InputError("evaluate: expected text files, --repeat or both");
  }
  if (options.files.empty() && !options.ngram_text.empty()) {
    throw InputError("--ngram-text: expected text files to compare on (FILE after the option)");
  }
  const Stop stop = stop_on_interrupt();
  const auto held = model_store()->checkpoint(options.model);
  const Checkpoint& checkpoint = *held;
  if (!options.files.empty()) evaluate_files(checkpoint, options, stop);
  if (options.repeat) evaluate_repeat(checkpoint, options, stop);
}

}  // namespace

void add_evaluate(Command program) {
  Command command = program.subcommand(
      "evaluate",
      "How well a model predicts: bits that it needs for each byte of text files (lower is "
      "better), and with --repeat how well it copies");
  const auto options = std::make_shared<EvaluateOptions>();
  command.add("files", options->files, "Text files");
  command.add("-m,--model", options->model, "A bundled model's name or a folder");
  command
      .add("--length", options->length,
           "Tokens of a window; default: the context that the model was trained with")
      .from_to(Index{1}, kMostLength);
  command.flag("--repeat", options->repeat,
               "Random tokens of which the end repeats what came before: loss (nats per token) "
               "and accuracy where they are repeated");
  command
      .add("--ngram-text", options->ngram_text,
           "A file that a byte n-gram model learns from, to print its score beside; once "
           "for each file")
      .one_each();
  command.add("--ngram-order", options->ngram_order, "Bytes of an n-gram; default: 6");
  command.action([options] { evaluate_command(*options); });
}

}  // namespace attnscope::command
