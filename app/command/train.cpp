// attnscope train: trains a model from a plan, a preset, flags, or all of them.
#include "core/training/train.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/interrupt.h"
#include "app/command/output.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/experiment/company.h"
#include "core/figure/plain_text.h"
#include "core/training/task.h"

namespace attnscope::command {

namespace fs = std::filesystem;

namespace {

// A flag that sets one number, truth value or word of the plan.
struct Setting {
  const char* flag;
  const char* pointer;  // where in the plan's JSON
  const char* help;
};

constexpr Setting kSettings[] = {
    {"--task", "/task", "What is learned"},
    {"--steps", "/steps", "Steps of the optimiser"},
    {"--batch", "/batch", "Sequences a step"},
    {"--micro-batch", "/micro_batch", "Sequences at a time; 0: the whole batch"},
    {"--sequence", "/sequence", "Tokens of a sequence; 0: the context"},
    {"--rate", "/rate", "Highest learning rate"},
    {"--least-rate", "/least_rate", "Learning rate at the end of the cosine"},
    {"--warm-up", "/warm_up", "Steps until the highest learning rate"},
    {"--weight-decay", "/weight_decay", "Decay of matrices, times the learning rate a step"},
    {"--clip", "/clip", "Longest gradient; 0: any"},
    {"--beta1", "/beta1", "Decay of the first moment"},
    {"--beta2", "/beta2", "Decay of the second moment"},
    {"--seed", "/seed", "Of weights, data order and dropout"},
    {"--held-out-share", "/held_out_share", "Share at the end of each training file to hold out"},
    {"--evaluate-every", "/evaluate_every", "Steps between evaluations; 0: at the end only"},
    {"--score-batches", "/score_batches",
     "Random batches of held-out text whose mean loss is reported"},
    {"--save-every", "/save_every_seconds", "Seconds between saves"},
    {"--half", "/half", "Whether the weights are stored as float16: true or false"},
    {"--vocabulary", "/model/vocabulary", "Tokens that byte-pair encoding learns; 256: bytes"},
    {"--context", "/model/context", "Longest sequence in tokens"},
    {"--width", "/model/width", "Model size d"},
    {"--layers", "/model/layers", "Layers"},
    {"--heads", "/model/heads", "Heads"},
    {"--kv-heads", "/model/kv_heads", "Key-value heads"},
    {"--head-size", "/model/head_size", "Head size d_k"},
    {"--hidden", "/model/hidden", "Size of the feed-forward; 0: attention only"},
    {"--norm", "/model/norm", "layer or rms"},
    {"--pre-norm", "/model/pre_norm", "true: norm before each block, false: after"},
    {"--activation", "/model/activation", "relu, gelu, gelu_tanh or silu"},
    {"--gated", "/model/gated", "Whether the feed-forward is gated: true or false"},
    {"--tied-output", "/model/tied_output", "Whether the output uses the embedding: true or false"},
    {"--dropout", "/model/dropout", "Share of activations dropped in training"},
};

struct TrainOptions {
  std::string preset = "default";
  fs::path plan_file, folder;
  std::vector<std::string> text, held_out;
  std::vector<std::string> values = std::vector<std::string>(std::size(kSettings));
  ChoiceOptions choices;
  bool quiet = false;
};

// "What is learned: text (the next token of text files), masked (...".
std::string help_of(const Setting& setting) {
  std::string help = setting.help;
  if (std::string_view(setting.flag) != "--task") return help;
  for (const TaskInfo& task : tasks()) {
    help += (&task == &tasks().front() ? ": " : ", ") + task.id + " (" + task.summary + ")";
  }
  return help;
}

fs::path presets_folder() {
  return home_folder() / "assets" / "presets";
}

Json read_plan(const TrainOptions& options) {
  fs::path file = options.plan_file;
  if (file.empty()) {
    file = presets_folder() / (options.preset + ".json");
    if (options.preset.find('/') != std::string::npos || !file_exists(file)) {
      std::string names;
      for (const auto& entry : fs::directory_iterator(presets_folder())) {
        names += (names.empty() ? "" : ", ") + entry.path().stem().string();
      }
      throw InputError("--preset: expected one of " + names + ", found \"" + options.preset + "\"");
    }
  }
  const Json plan = parse_json(read_file(file, std::size_t{1} << 20), file.string());
  if (!plan.is_object() || !plan.contains("model") || !plan["model"].is_object()) {
    throw InputError(file.string() + ": expected an object with a member \"model\"");
  }
  return plan;
}

// How many tokens the model of a plan sees; 0: the plan does not say.
Index read_at_once(const Json& model) {
  for (const char* key : {"segment", "context"}) {
    const Json* tokens = model.is_object() ? model.find(key) : nullptr;
    if (tokens != nullptr && tokens->is_number() && tokens->get<double>() > 0) {
      return static_cast<Index>(std::min(tokens->get<double>(), Parameter::kMostInteger));
    }
  }
  return 0;
}

TrainingPlan make_plan(const TrainOptions& options) {
  Json plan = read_plan(options);
  for (std::size_t i = 0; i < std::size(kSettings); ++i) {
    const std::string& value = options.values[i];
    if (value.empty()) continue;
    const Json parsed = Json::parse_or_null(value);
    plan.at_pointer(kSettings[i].pointer) =
        parsed.is_number() || parsed.is_boolean() ? parsed : Json(value);
  }
  if (!options.text.empty()) plan["text"] = options.text;
  if (!options.held_out.empty()) plan["held_out"] = options.held_out;
  if (!options.folder.empty()) plan["folder"] = options.folder.string();
  Structure structure = options.choices.structure({});
  if (structure.exits == no_exits()) {
    plan["model"].erase("exits");
    structure.exits.reset();
  }
  add_to_json(structure, plan["model"]);
  Experiment chosen;
  chosen.variant = options.choices.variant();
  chosen.encoding = options.choices.encoding();
  complete_choices(chosen, read_at_once(plan["model"]));
  if (chosen.variant) plan["model"]["variant"] = to_json(*chosen.variant);
  if (chosen.encoding) plan["model"]["position"] = to_json(*chosen.encoding);
  if (const auto causal = options.choices.causal()) plan["model"]["causal"] = *causal;
  return training_plan_from_json(plan, "training plan");
}

std::string duration(double seconds) {
  const auto whole = static_cast<long>(seconds);
  char text[32];
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%ldh%02ldm", whole / 3600, whole / 60 % 60);
  } else {
    std::snprintf(text, sizeof text, "%ldm%02lds", whole / 60, whole % 60);
  }
  return text;
}

// "loss 1.886, 2.412 bits per byte": whatever there is of it.
std::string describe(const Score& score, int decimals) {
  std::string text;
  const auto add = [&](const std::string& before, double value, const std::string& after) {
    if (std::isnan(value)) return;
    text += (text.empty() ? "" : ", ") + before + fixed(value, decimals) + after;
  };
  add("loss ", score.loss, "");
  add("", score.bits_per_byte, " bits per byte");
  add("accuracy ", score.accuracy, "");
  return text;
}

// One line on stderr that is written over with every step, and ended when all is over.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (begun_) std::fputc('\n', stderr);
  }
  void show(const TrainingProgress& p) {
    begun_ = true;
    std::fprintf(stderr, "\rstep %td of %td  loss %.3f  ", p.step, p.steps, p.loss);
    const std::string score = describe(p.held_out, 3);
    if (!score.empty()) std::fprintf(stderr, "held out %s  ", score.c_str());
    std::fprintf(stderr, "%.0f tokens/s  %s left  ", p.tokens_per_second,
                 duration(p.seconds_left).c_str());
    std::fflush(stderr);
  }

 private:
  bool begun_ = false;
};

TrainingResult train_with_progress(const TrainOptions& options) {
  const TrainingPlan plan = make_plan(options);
  const Stop stop = stop_on_interrupt();
  if (options.quiet) return train(plan, {}, stop);
  ProgressLine line;
  return train(
      plan, [&](const TrainingProgress& p) { line.show(p); }, stop);
}

void train_command(const TrainOptions& options) {
  const TrainingResult result = train_with_progress(options);
  if (std::isnan(result.loss)) {
    std::printf("all steps were done before");
  } else {
    std::printf("loss %.4f", result.loss);
  }
  const std::string score = describe(result.held_out, 4);
  if (!score.empty()) std::printf(", held out %s", score.c_str());
  std::printf("\n");
  flush_output();
  for (const std::string& note : result.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
}

}  // namespace

void add_train(Command program) {
  Command command = program.subcommand(
      "train",
      "Train a model on text or on a task. Ctrl-C saves; the same command goes on from there. "
      "What no option says is as in the preset or plan");
  const auto options = std::make_shared<TrainOptions>();
  Option preset = command.add("--preset", options->preset,
                              "A plan of assets/presets to start from; default: default");
  command.add("--plan", options->plan_file, "A plan of your own (JSON) to start from")
      .excludes(preset);
  command.add("--text", options->text, "Files to train on: texts, or pictures and folders of them");
  command.add("--held-out", options->held_out, "Files to evaluate on, never trained on");
  command.add("-o,--folder", options->folder,
              "Where the model, loss.csv, its picture loss.png and what resuming needs go");
  for (std::size_t i = 0; i < std::size(kSettings); ++i) {
    command.add(kSettings[i].flag, options->values[i], help_of(kSettings[i])).value_name("VALUE");
  }
  options->choices.add_to(command, "as the plan says");
  command.flag("-q,--quiet", options->quiet, "No progress line");
  command.action([options] { train_command(*options); });
}

}  // namespace attnscope::command
