// attnscope evaluate: how well a model predicts texts, targets, pictures or actions.
#include "core/training/evaluate.h"

#include <cmath>
#include <cstdio>

#include "app/command/commands.h"
#include "app/command/interrupt.h"
#include "app/command/output.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/model_store.h"
#include "core/figure/plain_text.h"
#include "core/training/ngram.h"
#include "core/training/repeat.h"
#include "core/training/task.h"

namespace attnscope::command {

namespace {

constexpr Index kRepeatSequences = 512;
constexpr Index kMostLength = Index{1} << 20;
constexpr std::uint64_t kRepeatSeed = 1;

struct EvaluateOptions {
  std::string model = "default", task;
  std::vector<std::string> files, ngram_text;
  int ngram_order = 6;
  Index length = 0;  // 0: the context
  double exit = 1;
  bool exits = false;
  bool repeat = false;
};

// "1.6301 bits per byte, byte 6-gram 1.9812, loss 2.4101": whatever there is of it.
std::string described(const Evaluation& e, const Checkpoint& checkpoint, const std::string& ngram) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!std::isnan(e.bits_per_byte())) add(fixed(e.bits_per_byte(), 4) + " bits per byte" + ngram);
  add("loss " + fixed(e.loss(), 4));
  add("accuracy " + fixed(e.tally.score().accuracy, 4));
  if (e.lines > 0) {
    add("whole lines " + fixed(static_cast<double>(e.whole) / static_cast<double>(e.lines), 4));
  }
  if (e.passed > 0) {
    add(fixed(e.mean_layers(), 2) + " of " + std::to_string(checkpoint.model.config.layers) +
        " layers");
  }
  return text;
}

void evaluate_files(const Checkpoint& checkpoint, const EvaluateOptions& options,
                    const Stop& stop) {
  NgramModel ngram(options.ngram_order);
  for (const std::string& file : options.ngram_text) ngram.learn(read_file(file));
  Reading reading{.length = options.length};
  if (options.exits) reading.exit = options.exit;
  Evaluation all;
  double ngram_bits = 0;
  const auto print = [&](const std::string& name, const Evaluation& e, double counted) {
    const std::string beside =
        options.ngram_text.empty()
            ? ""
            : ", byte " + std::to_string(options.ngram_order) + "-gram " + fixed(counted, 4);
    std::printf("%s: %s\n", name.c_str(), described(e, checkpoint, beside).c_str());
  };
  for (const std::string& file : options.files) {
    const Evaluation e = evaluate_file(checkpoint, file, reading, stop);
    const double counted = options.ngram_text.empty() ? 0 : ngram.bits_per_byte(read_file(file));
    print(file, e, counted);
    all.add(e);
    ngram_bits += counted * e.bytes;
  }
  if (options.files.size() > 1) print("all", all, ngram_bits / all.bytes);
}

// How well the model does on what a task makes and never trains on.
void evaluate_task(const Checkpoint& checkpoint, const EvaluateOptions& options, const Stop& stop) {
  const TaskInfo& chosen = task(options.task);
  if (!chosen.files.empty()) {
    throw InputError("--task: expected a task that makes what it is scored on, found " + chosen.id +
                     "; name the files to evaluate on instead");
  }
  TrainingPlan plan;
  plan.task = chosen.id;
  plan.model = checkpoint.model.config;
  check_model(chosen, plan.model);
  chosen.check(plan);
  const Score score = chosen.make(plan, stop)->score(checkpoint, true, stop);
  std::printf("%s: loss %.4f, accuracy %.4f\n", chosen.id.c_str(), score.loss, score.accuracy);
}

void evaluate_repeat(const Checkpoint& checkpoint, const EvaluateOptions& options,
                     const Stop& stop) {
  const ModelConfig& config = checkpoint.model.config;
  const Index length = options.length > 0 ? options.length : config.context;
  const DrawnSequences sequences = repeated_sequences(config.vocabulary, length, kRepeatSeed);
  const Score score = score_of(checkpoint.model, sequences, kRepeatSequences, stop);
  std::printf("repeated tokens: accuracy %.4f, loss %.4f (%td sequences of %td tokens)\n",
              score.accuracy, score.loss, kRepeatSequences, length);
}

void evaluate_command(const EvaluateOptions& options) {
  if (options.files.empty() && !options.repeat && options.task.empty()) {
    throw InputError("evaluate: expected text files, pictures, --task or --repeat");
  }
  if (options.files.empty() && !options.ngram_text.empty()) {
    throw InputError("--ngram-text: expected text files to compare on (FILE after the option)");
  }
  const Stop stop = stop_on_interrupt();
  const auto held = model_store()->checkpoint(options.model);
  const Checkpoint& checkpoint = *held;
  if (options.exits && !checkpoint.model.config.exits) {
    throw InputError("--exit: expected a model with exits, found " + checkpoint.name);
  }
  if (!options.files.empty()) evaluate_files(checkpoint, options, stop);
  if (!options.task.empty()) evaluate_task(checkpoint, options, stop);
  if (options.repeat) evaluate_repeat(checkpoint, options, stop);
  flush_output();
  for (const std::string& note : checkpoint.model.notes) {
    std::fprintf(stderr, "note: %s\n", note.c_str());
  }
  for (const std::string& note : notes_on_looking_ahead(checkpoint.model)) {
    std::fprintf(stderr, "note: %s\n", note.c_str());
  }
}

}  // namespace

void add_evaluate(Command program) {
  Command command = program.subcommand(
      "evaluate",
      "How well a model predicts: bits that it needs for each byte of text files (lower is "
      "better), loss (nats per token, pixel or action) and the share that it guesses right");
  const auto options = std::make_shared<EvaluateOptions>();
  command.add("files", options->files,
              "What the model reads: text files, lines of a source, a tab and its target, "
              "pictures or tables of them (CSV), or trajectories (safetensors)");
  command.add("-m,--model", options->model, "A bundled model's name or a folder");
  command
      .add("--length", options->length,
           "Tokens of a window; default: the context that the model was trained with")
      .from_to(Index{1}, kMostLength);
  command
      .add("--exit", options->exit,
           "Tokens leave at the first layer that is as sure as this; for models with exits")
      .from_to(0.0, 1.0);
  command.add("--task", options->task,
              "What a task of `train` makes and holds out: recall, brackets, numbers, trajectory");
  command.flag("--repeat", options->repeat,
               "Random tokens of which the end repeats what came before: loss (nats per token) "
               "and accuracy where they are repeated");
  command
      .add("--ngram-text", options->ngram_text,
           "A file that a byte n-gram model learns from, to print its score beside; once "
           "for each file")
      .one_each();
  command.add("--ngram-order", options->ngram_order, "Bytes of an n-gram; default: 6");
  command.action([options, command] {
    options->exits = command.given("--exit");
    evaluate_command(*options);
  });
}

}  // namespace attnscope::command
