// attnscope evaluate: evaluates a model on texts, targets, images or actions.
#include "core/training/evaluate.h"

#include <cmath>
#include <cstdio>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "app/command/view_options.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/expected_pairs.h"
#include "core/figure/plain_text.h"
#include "core/figure/render.h"
#include "core/model/capability.h"
#include "core/training/length_figure.h"
#include "core/training/ngram.h"
#include "core/training/repeat.h"
#include "core/training/start_model.h"
#include "core/training/task.h"

namespace attnscope::command {
namespace {

constexpr Index kRepeatSequences = 512;
constexpr Index kMaxLength = Index{1} << 20;
constexpr std::uint64_t kRepeatSeed = 1;

struct EvaluateOptions {
  std::string model = "default", task, pairs;
  std::vector<std::string> files, ngram_text;
  int ngram_order = 6;
  Index length = 0;  // 0: the context length used in training
  double exit = 1;
  bool exits = false;
  bool repeat = false;
  bool by_length = false;
  std::vector<std::string> compared;  // further models by length
  std::string output, retrieval;
  ChoiceOptions choices;
  PictureSizeOptions size;
};

// The model with the choices of the options. Notes name weights that it was not trained with.
std::shared_ptr<const Checkpoint> evaluated_model(const EvaluateOptions& options,
                                                  const std::string& name) {
  auto stored = model_store()->checkpoint(name);
  RunSpec spec;
  spec.model = name;
  spec.structure = options.choices.structure({});
  spec.variant = options.choices.variant();
  spec.encoding = options.choices.encoding();
  spec.causal = options.choices.causal();
  RunSpec unchanged;
  unchanged.model = name;
  if (spec == unchanged) return stored;
  fill_unset_parameters(spec, stored->model.config.context);
  auto checkpoint = std::make_shared<Checkpoint>(*stored);
  checkpoint->model = effective_model(stored->model, spec, stored->model.config.context);
  if (!checkpoint->model.untrained.empty()) {
    print_note("not trained: " + weight_groups(checkpoint->model.untrained));
  }
  return checkpoint;
}

// Available results, such as "1.6301 bits per byte, byte 6-gram 1.9812, loss 2.4101".
std::string describe(const Evaluation& result, const Checkpoint& checkpoint,
                     const std::string& ngram) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!std::isnan(result.bits_per_byte()))
    add(fixed(result.bits_per_byte(), 4) + " bits per byte" + ngram);
  add("loss " + fixed(result.loss(), 4));
  add("accuracy " + fixed(result.tally.score().accuracy, 4));
  if (!result.by_length.empty()) {
    add("exact match " + fixed(total(result.by_length).match_share(), 4));
  }
  if (result.tokens_with_exits > 0) {
    add("exit after " + fixed(result.mean_layers(), 2) + " of " +
        count_text(checkpoint.model.config.layers, "layer") + " on average");
  }
  return text;
}

EvaluationOptions settings_of(const EvaluateOptions& options) {
  EvaluationOptions settings{.length = options.length};
  if (options.exits) settings.exit = options.exit;
  return settings;
}

std::optional<Retrieval> load_retrieval(const EvaluateOptions& options, const ModelConfig& config) {
  if (options.retrieval.empty()) return std::nullopt;
  const RetrievalChoice choice = retrieval_from_text(options.retrieval);
  return Retrieval(choice, model_store()->contexts(choice.store), config);
}

void evaluate_files(const Checkpoint& checkpoint, const EvaluateOptions& options) {
  NgramModel ngram(options.ngram_order);
  for (const std::string& file : options.ngram_text) ngram.learn(read_file(file));
  EvaluationOptions settings = settings_of(options);
  const std::optional<Retrieval> retrieval = load_retrieval(options, checkpoint.model.config);
  settings.retrieval = retrieval ? &*retrieval : nullptr;
  Evaluation all;
  double ngram_bits = 0;
  const auto print = [&](const std::string& name, const Evaluation& result, double baseline) {
    const std::string baseline_text =
        options.ngram_text.empty()
            ? ""
            : ", byte " + std::to_string(options.ngram_order) + "-gram " + fixed(baseline, 4);
    command::print(name + ": " + describe(result, checkpoint, baseline_text) + "\n");
  };
  for (const std::string& file : options.files) {
    const Evaluation result = [&] {
      const ProgressLine line("reading " + file);
      return evaluate_file(checkpoint, file, settings);
    }();
    const double baseline = options.ngram_text.empty() ? 0 : ngram.bits_per_byte(read_file(file));
    print(file, result, baseline);
    all.add(result);
    ngram_bits += baseline * result.bytes;
  }
  if (options.files.size() > 1) print("all", all, ngram_bits / all.bytes);
}

std::unique_ptr<Task> generated_task(const Checkpoint& checkpoint, const std::string& id) {
  const TaskInfo& info = task(id);
  if (!info.files.empty()) {
    throw InputError("--task: expected a task with generated evaluation data, found " + info.id +
                     "; pass files to evaluate on instead");
  }
  TrainingPlan plan;
  plan.task = info.id;
  plan.model = checkpoint.model.config;
  check_model(info, plan.model);
  info.check(plan);
  return info.make(plan);
}

void evaluate_task(const Checkpoint& checkpoint, const EvaluateOptions& options) {
  const Score score = [&] {
    const ProgressLine line("scoring " + options.task);
    return generated_task(checkpoint, options.task)->score(checkpoint, true);
  }();
  std::printf("%s: loss %.4f, accuracy %.4f\n", options.task.c_str(), score.loss, score.accuracy);
}

TallyByLength tally_by_length(const Checkpoint& checkpoint, const EvaluateOptions& options) {
  const ProgressLine line("evaluating " + checkpoint.name);
  TallyByLength tallies;
  for (const std::string& file : options.files) {
    add(tallies, evaluate_file(checkpoint, file, settings_of(options)).by_length);
  }
  if (!options.task.empty()) {
    add(tallies, generated_task(checkpoint, options.task)->tally_by_length(checkpoint));
  }
  if (tallies.empty()) {
    throw InputError(
        "--by-length: expected lines of source and target, or a task with sources and targets");
  }
  return tallies;
}

// Prints exact matches by source length, and writes them to the output file, if any.
void evaluate_by_length(const EvaluateOptions& options) {
  const bool is_csv = options.output.ends_with(".csv");
  if (!options.output.empty()) {
    if (!is_csv) check_picture_name(options.output);
    check_writable(options.output);
  }
  std::vector<ModelTallies> models;
  std::vector<std::string> names{options.model};
  names.insert(names.end(), options.compared.begin(), options.compared.end());
  for (const std::string& name : names) {
    const auto checkpoint = evaluated_model(options, name);
    models.push_back({checkpoint->name, tally_by_length(*checkpoint, options)});
  }
  print(to_table(models));
  if (options.output.empty()) return;
  if (is_csv) return write_file(options.output, to_csv(models));
  const PictureOptions size = options.size.options();
  const double height = size.height > 0 ? size.height : size.width * 0.6;
  const Theme& theme = size.dark ? Theme::dark() : Theme::light();
  DisplayList list = length_picture(models, size.width, height, theme, file_text_measure());
  if (size.transparent) list.background.a = 0;
  write_picture(options.output, list, size.scale, {{"Title", "exact matches by source length"}});
}

void evaluate_repeat(const Checkpoint& checkpoint, const EvaluateOptions& options) {
  const ModelConfig& config = checkpoint.model.config;
  const Index length = options.length > 0 ? options.length : config.context;
  const DrawnSequences sequences = repeated_sequences(config.vocabulary, length, kRepeatSeed);
  const Score score = [&] {
    const ProgressLine line("evaluating repeated tokens");
    return score_of(checkpoint.model, sequences, kRepeatSequences);
  }();
  std::printf("repeated tokens: accuracy %.4f, loss %.4f (%td sequences of %td tokens)\n",
              score.accuracy, score.loss, kRepeatSequences, length);
}

void print_score(const ExpectedPairScore& score, const std::string& label) {
  std::printf(
      "%s: layer %td head %td prefers the expected word in %td of %td sentences "
      "(chance %s); mean weight on it %s (from other queries: %s); found as the most salient pair "
      "in %td of %td sentences\n",
      label.c_str(), score.layer, score.head, score.right, score.measured,
      percent(score.chance).c_str(), percent(score.weight).c_str(), percent(score.others).c_str(),
      score.found, score.sentences);
}

// Prints the scores per kind. Throws WorkError if shortfall() reports one.
void evaluate_pairs(const EvaluateOptions& options) {
  const ExpectedPairs expected = read_expected_pairs(options.pairs);
  ExperimentRun runner(backends());
  std::string shortfalls;
  for (const ExpectedKind& kind : expected.kinds) {
    const ExpectedPairScore score = [&] {
      const ProgressLine line(runner);
      return score_pairs(options.model, kind, runner);
    }();
    print_score(score, kind.label);
    const std::string missing = shortfall(score, expected.scores);
    if (!missing.empty()) shortfalls += (shortfalls.empty() ? "" : "; ") + kind.id + ": " + missing;
  }
  flush_output();
  if (!shortfalls.empty()) throw WorkError(options.model + ": " + shortfalls);
}

void evaluate_command(const EvaluateOptions& options) {
  if (options.files.empty() && !options.ngram_text.empty()) {
    throw InputError(
        "--ngram-text: expected text files to evaluate on (FILE after the option), found none");
  }
  if (options.files.empty() && !options.repeat && options.task.empty() && options.pairs.empty()) {
    throw InputError(
        "evaluate: expected files (texts, translations, images, tables or trajectories), --task, "
        "--repeat or --pairs, found none");
  }
  if (!options.by_length && (!options.compared.empty() || !options.output.empty())) {
    throw InputError("--compare-model and --output: expected --by-length, found none");
  }
  if (options.by_length && (options.repeat || !options.pairs.empty())) {
    throw InputError("--by-length: expected files or --task, found --repeat or --pairs");
  }
  if (!options.retrieval.empty() && (options.files.empty() || options.by_length)) {
    throw InputError("--retrieval: expected text files to evaluate on, found none");
  }
  const auto shared_checkpoint = evaluated_model(options, options.model);
  const Checkpoint& checkpoint = *shared_checkpoint;
  const ModelConfig& config = checkpoint.model.config;
  const bool scores_attention_only =
      options.files.empty() && options.task.empty() && !options.repeat;
  if (!scores_attention_only) require(Capability::Logits, config, checkpoint.name, "model");
  if (options.exits) require(Capability::Exits, config, checkpoint.name, "--exit");
  if (options.by_length) {
    evaluate_by_length(options);
  } else {
    if (!options.files.empty()) evaluate_files(checkpoint, options);
    if (!options.task.empty()) evaluate_task(checkpoint, options);
  }
  if (options.repeat) evaluate_repeat(checkpoint, options);
  if (!options.pairs.empty()) evaluate_pairs(options);
  flush_output();
  for (const std::string& note : checkpoint.model.notes) {
    print_note(note);
  }
  for (const std::string& note : future_leak_notes(checkpoint.model)) {
    print_note(note);
  }
}

}  // namespace

void add_evaluate(Command program) {
  Command command =
      program.subcommand("evaluate",
                         "Evaluate a model: bits per byte of text files (lower is better), loss "
                         "(nats per token, pixel or action) and accuracy");
  const auto options = std::make_shared<EvaluateOptions>();
  command.add("files", options->files,
              "Evaluation data: text files, files with lines SOURCE<tab>TARGET, images, tables of "
              "images (CSV), or trajectories (safetensors)");
  command.add("-m,--model", options->model, "Model: bundled name, folder or GGUF file");
  command
      .add("--length", options->length,
           "Window length in tokens; default: the context length of training")
      .from_to(Index{1}, kMaxLength);
  options->choices.add_to(command);
  command.add("--retrieval", options->retrieval,
              "Retrieval augmentation of texts: knn,store=FILE,k=8,lambda=0.25,temperature=1 or "
              "spalm,store=FILE,k=8");
  command.add("--exit", options->exit, "Early-exit confidence threshold; for models with exits")
      .from_to(0.0, 1.0);
  std::string generated_tasks;
  for (const TaskInfo& info : tasks()) {
    if (info.files.empty()) generated_tasks += (generated_tasks.empty() ? "" : ", ") + info.id;
  }
  command.add("--task", options->task,
              "Evaluate on the generated held-out data of a training task: " + generated_tasks);
  command.flag("--by-length", options->by_length,
               "Report exact matches by source length, for files of source-target lines or --task "
               "numbers, copy");
  command
      .add("--compare-model", options->compared,
           "Further model whose exact matches by length are reported; repeatable")
      .one_each();
  options->size.add_to(command);
  command.add("-o,--output", options->output,
              "Output file of --by-length: a figure (.png, .svg, .pdf) or all numbers (.csv)");
  command.flag(
      "--repeat", options->repeat,
      "Evaluate on repeated random tokens: loss (nats per token) and accuracy of the repetition");
  command.add(
      "--pairs", options->pairs,
      "Evaluate on a file of sentences with expected pairs of words, such as a pronoun and its "
      "noun (assets/samples/expected-pairs.json). Reports how often the best head for each kind of "
      "pair, and the search for salient pairs, find the expected word. Fails if a score is clearly "
      "below the model's recorded score");
  command
      .add("--ngram-text", options->ngram_text,
           "Training file of a byte n-gram baseline; repeatable")
      .one_each();
  command.add("--ngram-order", options->ngram_order,
              "Order of the n-gram baseline in bytes; default: 6");
  command.action([options, command] {
    options->exits = command.is_given("--exit");
    evaluate_command(*options);
  });
}

}  // namespace attnscope::command
