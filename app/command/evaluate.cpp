// attnscope evaluate: evaluates a model on texts, targets, images or actions.
#include "core/training/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/length_list.h"
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
#include "core/training/extrapolation_figure.h"
#include "core/training/length_figure.h"
#include "core/training/ngram.h"
#include "core/training/repeat.h"
#include "core/training/returns.h"
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
  bool by_length = false, returns = false;
  std::string lengths;                // list of window lengths; empty: one length
  std::vector<std::string> compared;  // further models by length
  std::string output, retrieval, device;
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

// Settings of an evaluation, with the retrieval and the device that the options name.
class Settings {
 public:
  Settings(const EvaluateOptions& options, const ModelConfig& config) {
    values_.length = options.length;
    if (options.exits) values_.exit = options.exit;
    if (!options.retrieval.empty()) {
      const RetrievalChoice choice = retrieval_from_text(options.retrieval);
      retrieval_.emplace(choice, model_store()->contexts(choice.store), config);
      values_.retrieval = &*retrieval_;
    }
    if (options.device.empty()) return;
    provider_ = backends();
    values_.backend = &require_backend(provider_, backend_choice(options.device));
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  const EvaluationOptions& values() const { return values_; }

 private:
  EvaluationOptions values_;
  std::optional<Retrieval> retrieval_;
  BackendProvider provider_;
};

void evaluate_files(const Checkpoint& checkpoint, const EvaluateOptions& options) {
  NgramModel ngram(options.ngram_order);
  for (const std::string& file : options.ngram_text) ngram.learn(read_file(file));
  const Settings settings(options, checkpoint.model.config);
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
      return evaluate_file(checkpoint, file, settings.values());
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
  const Settings settings(options, checkpoint.model.config);
  for (const std::string& file : options.files) {
    add(tallies, evaluate_file(checkpoint, file, settings.values()).by_length);
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

using Checkpoints = std::vector<std::shared_ptr<const Checkpoint>>;

// The model and those it is compared with.
Checkpoints compared_models(std::shared_ptr<const Checkpoint> model,
                            const EvaluateOptions& options) {
  Checkpoints models{std::move(model)};
  for (const std::string& name : options.compared) {
    models.push_back(evaluated_model(options, name));
  }
  return models;
}

// Throws InputError if the output file has an unknown extension or cannot be written.
void check_output(const EvaluateOptions& options, const std::vector<std::string>& tables) {
  if (options.output.empty()) return;
  const bool is_table =
      std::ranges::any_of(tables, [&](const auto& t) { return options.output.ends_with(t); });
  if (!is_table) check_picture_name(options.output);
  check_writable(options.output);
}

// Writes curves as a picture. draw: (width, height, theme, text measure) -> display list.
void write_curves(const EvaluateOptions& options, const char* title, const auto& draw) {
  const PictureOptions size = options.size.options();
  const double height = size.height > 0 ? size.height : size.width * 0.6;
  const Theme& theme = size.dark ? Theme::dark() : Theme::light();
  DisplayList list = draw(size.width, height, theme, file_text_measure());
  if (size.transparent) list.background.a = 0;
  write_picture(options.output, list, size.scale, {{"Title", title}});
}

// Prints exact matches by source length, and writes them to the output file, if any.
void evaluate_by_length(const Checkpoints& checkpoints, const EvaluateOptions& options) {
  check_output(options, {".csv"});
  std::vector<ModelTallies> models;
  for (const auto& checkpoint : checkpoints) {
    models.push_back({checkpoint->name, tally_by_length(*checkpoint, options)});
  }
  print(to_table(models));
  if (options.output.empty()) return;
  if (options.output.ends_with(".csv")) return write_file(options.output, to_csv(models));
  write_curves(options, "exact matches by source length",
               [&](auto&&... size) { return length_picture(models, size...); });
}

void write_lengths(const EvaluateOptions& options, const LengthCurves& curves) {
  print(to_table(curves));
  if (options.output.empty()) return;
  if (options.output.ends_with(".csv")) return write_file(options.output, to_csv(curves));
  if (options.output.ends_with(".json")) {
    return write_file(options.output, to_json(curves).dump(2) + "\n");
  }
  write_curves(options, "bits per byte by window length",
               [&](auto&&... size) { return extrapolation_picture(curves, size...); });
}

// Prints bits per byte by window length, and writes them to the output file, if any.
void evaluate_by_window(const Checkpoints& checkpoints, const EvaluateOptions& options) {
  check_output(options, {".csv", ".json"});
  std::vector<std::string> texts;
  for (const std::string& file : options.files) texts.push_back(read_file(file));
  constexpr std::size_t kSteps = 1000;
  const Settings settings(options, checkpoints.front()->model.config);
  const auto print_step = print_progress("evaluating");
  const LengthCurves curves =
      evaluate_lengths(checkpoints, texts, lengths_from_text(options.lengths), settings.values(),
                       [&](const LengthCurves&, double fraction) {
                         print_step(static_cast<std::size_t>(fraction * kSteps), kSteps);
                       });
  {
    const UninterruptedScope writing;  // writes the results of an interrupted evaluation, too
    write_lengths(options, curves);
    flush_output();
  }
  for (const LengthSeries& series : curves.series) {
    for (const LengthPoint& point : series.points) {
      if (point.missing.empty()) continue;
      print_note(series.model + " at " + std::to_string(point.length) +
                 " tokens: " + point.missing);
    }
  }
  if (curves.stopped) throw Stopped();
}

// Prints achieved returns of trajectory models, and writes them to the output file, if any.
void evaluate_returns(const Checkpoints& checkpoints, const EvaluateOptions& options) {
  check_output(options, {".csv"});
  const ReturnCurves curves = [&] {
    const ProgressLine line("acting for every return");
    return return_curves(checkpoints);
  }();
  print(to_table(curves));
  if (options.output.empty()) return;
  if (options.output.ends_with(".csv")) return write_file(options.output, to_csv(curves));
  write_curves(options, "achieved return by requested return",
               [&](auto&&... size) { return returns_picture(curves, size...); });
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

// Throws InputError for options that exclude each other or lack something to evaluate.
void check_options(const EvaluateOptions& options) {
  if (options.files.empty() && !options.ngram_text.empty()) {
    throw InputError(
        "--ngram-text: expected text files to evaluate on (FILE after the option), found none");
  }
  if (options.files.empty() && !options.repeat && options.task.empty() && options.pairs.empty() &&
      !options.returns) {
    throw InputError(
        "evaluate: expected files (texts, translations, images, tables or trajectories), --task, "
        "--returns, --repeat or --pairs, found none");
  }
  const bool by_window = !options.lengths.empty();
  const bool has_curves = options.by_length || by_window || options.returns;
  if (!has_curves && (!options.compared.empty() || !options.output.empty())) {
    throw InputError(
        "--compare-model and --output: expected --by-length, --lengths or --returns, found none");
  }
  if (options.returns &&
      (options.by_length || by_window || options.repeat || options.exits ||
       !options.files.empty() || !options.task.empty() || !options.pairs.empty())) {
    throw InputError(
        "--returns: expected a trajectory model alone, without files and other scores");
  }
  if (options.by_length && (options.repeat || !options.pairs.empty())) {
    throw InputError("--by-length: expected files or --task, found --repeat or --pairs");
  }
  if (by_window &&
      (options.files.empty() || options.by_length || options.repeat || options.length > 0 ||
       !options.task.empty() || !options.pairs.empty() || !options.ngram_text.empty())) {
    throw InputError(
        "--lengths: expected text files, without --length, --by-length, --task, --repeat, --pairs "
        "and --ngram-text");
  }
  if (!options.retrieval.empty() && (options.files.empty() || (has_curves && !by_window))) {
    throw InputError("--retrieval: expected text files to evaluate on, found none");
  }
  if (!options.retrieval.empty() && !options.compared.empty()) {
    throw InputError(
        "--retrieval: expected one model, whose states the store contains, found --compare-model");
  }
  if (!options.device.empty() && options.files.empty()) {
    throw InputError("--device: expected files to evaluate on, found none");
  }
}

void evaluate_command(const EvaluateOptions& options) {
  check_options(options);
  const auto shared_checkpoint = evaluated_model(options, options.model);
  const Checkpoint& checkpoint = *shared_checkpoint;
  const ModelConfig& config = checkpoint.model.config;
  const bool scores_attention_only =
      options.files.empty() && options.task.empty() && !options.repeat && !options.returns;
  const bool scores_actions =
      has_continuous_actions(config) && options.files.empty() && !options.repeat;
  if (!scores_attention_only && !scores_actions)
    require(Capability::Logits, config, checkpoint.name, "model");
  if (options.exits) require(Capability::Exits, config, checkpoint.name, "--exit");
  if (options.returns) {
    evaluate_returns(compared_models(shared_checkpoint, options), options);
  } else if (!options.lengths.empty()) {
    evaluate_by_window(compared_models(shared_checkpoint, options), options);
  } else if (options.by_length) {
    evaluate_by_length(compared_models(shared_checkpoint, options), options);
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
  command.add("--device,--backend", options->device,
              "Device that evaluates files: auto, cpu or gpu; default: cpu");
  command.add("--lengths", options->lengths,
              "Evaluate text files with windows of several lengths: FIRST..LAST in powers of two, "
              "or a list: 64,128,256. Reports bits per byte by length, also beyond the length of "
              "training");
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
           "Further model for --by-length, --lengths or --returns; repeatable")
      .one_each();
  command.flag("--returns", options->returns,
               "Report the achieved return by requested return of trajectory models: "
               "with all earlier steps, with the last step alone, and of behaviour cloning");
  options->size.add_to(command);
  command.add("-o,--output", options->output,
              "Output file of --by-length, --lengths or --returns: a figure of curves (.png, .svg, "
              ".pdf) or all numbers (.csv; for --lengths also .json)");
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
