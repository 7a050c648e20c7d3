// attnscope train: trains a model from a preset, a plan or options.
#include "core/training/train.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "app/command/choice_text.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/group_text.h"
#include "app/command/output.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/join_words.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/memory_budget.h"
#include "core/base/near_match.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/card.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/partial_choice.h"
#include "core/figure/plain_text.h"
#include "core/figure/render.h"
#include "core/model/activation.h"
#include "core/model/output_softmax.h"
#include "core/model/retrieval_json.h"
#include "core/tensor/storage.h"
#include "core/training/loss_rise.h"
#include "core/training/rate_search.h"
#include "core/training/stages.h"
#include "core/training/task.h"

namespace attnscope::command {

namespace fs = std::filesystem;

namespace {

// An option that sets one number, boolean or word of the plan.
struct Setting {
  const char* names;    // comma-separated: the current name, then its aliases
  const char* pointer;  // JSON pointer into the plan
  const char* help;
};

constexpr Setting kSettings[] = {
    {"--task", "/task", "Task to learn"},
    {"--steps", "/steps", "Optimiser steps"},
    {"--batch-size,--batch", "/batch", "Sequences per step"},
    {"--micro-batch-size,--micro-batch", "/micro_batch",
     "Sequences per forward pass; 0: the whole batch"},
    {"--sequence-length,--sequence", "/sequence", "Tokens per sequence; 0: the context length"},
    {"--learning-rate,--rate", "/rate", "Peak learning rate"},
    {"--min-learning-rate,--least-rate", "/least_rate",
     "Learning rate at the end of the cosine schedule"},
    {"--warmup-steps,--warm-up", "/warm_up", "Steps of linear warm-up to the peak learning rate"},
    {"--weight-decay", "/weight_decay",
     "Decoupled weight decay of matrices, multiplied by the learning rate"},
    {"--clip-gradient,--clip", "/clip", "Maximum norm of the gradient; 0: no clipping"},
    {"--beta1", "/beta1", "Decay of the first moment"},
    {"--beta2", "/beta2", "Decay of the second moment"},
    {"--seed", "/seed", "Random seed of weights, data order and dropout"},
    {"--held-out-share", "/held_out_share",
     "Share of each training file to hold out, taken from its end"},
    {"--evaluate-every", "/evaluate_every", "Steps between evaluations; 0: at the end only"},
    {"--evaluate-batches,--score-batches", "/score_batches",
     "Number of random held-out batches over which each evaluation averages"},
    {"--save-every", "/save_every_seconds", "Seconds between saves"},
    {"--snapshot-every", "/snapshot_every",
     "Steps between snapshots in FOLDER/snapshots, for the slider Training step and 'attnscope "
     "render --animate training_step=0:1000'; at most 100 are kept, sparser with age. 0: none"},
    {"--half", "/half", "Save the weights as float16: true or false"},
    {"--checkpointing", "/checkpointing",
     "Recompute each layer in the backward pass instead of keeping its activations: true or false"},
    {"--bfloat-storage", "/bfloat_storage",
     "Keep the layer inputs of --checkpointing as bfloat16, with float32 sums: true or false"},
    {"--vocabulary", "/model/vocabulary", "Vocabulary size of byte-pair encoding; 256: bytes"},
    {"--context", "/model/context", "Context length in tokens"},
    {"--width", "/model/width", "Model size d"},
    {"--layers", "/model/layers", "Number of layers"},
    {"--heads", "/model/heads", "Number of heads"},
    {"--kv-heads", "/model/kv_heads", "Number of key-value heads"},
    {"--head-size", "/model/head_size", "Head size d_k"},
    {"--hidden", "/model/hidden", "Feed-forward size; 0: attention only"},
    {"--norm", "/model/norm", "Normalisation: layer, rms or none"},
    {"--pre-norm", "/model/pre_norm", "Normalisation before each block (true) or after it (false)"},
    {"--output-norm", "/model/output_norm",
     "Norm of each block's output: none, also (sandwich norm) or instead of the norm before it"},
    {"--activation", "/model/activation", "Activation of feed-forwards, or its gated form"},
    {"--gated", "/model/gated", "Gated feed-forward: true or false"},
    {"--own-layers", "/model/own_layers",
     "Layers with weights of their own; the others share them. 0: all"},
    {"--tied-output", "/model/tied_output", "Tie the output layer to the embedding: true or false"},
    {"--dropout", "/model/dropout", "Dropout probability in training"},
    {"--auxiliary-layers", "/model/auxiliary/layers",
     "Train the prediction of every layer, earlier layers for a part of the training (Al-Rfou et "
     "al., 2018): true or false"},
    {"--auxiliary-targets", "/model/auxiliary/future",
     "Number of further tokens to predict, each with weight 1/2 (Al-Rfou et al., 2018)"},
    {"--contrastive", "/model/input/contrastive",
     "Weight of the contrastive loss of global tokens (preset etc); 0: none"},
};

struct TrainOptions {
  std::string preset, from;
  fs::path plan_file, folder;
  std::vector<std::string> text, held_out, train_only, groups, stages;
  std::string retrieval;
  std::vector<std::string> values = std::vector<std::string>(std::size(kSettings));
  std::string softmax;
  ChoiceOptions choices;
  bool quiet = false, finds_rate = false;
};

// Help text, such as "Task to learn: text (the next token of text files), masked (...".
std::string to_help(const Setting& setting) {
  std::string help = setting.help;
  if (std::string_view(setting.names) == "--activation") {
    return help + ": " + join_words(activation_ids());
  }
  if (std::string_view(setting.names) != "--task") return help;
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
    const std::string preset = !options.preset.empty() ? options.preset
                               : options.from.empty()  ? "default"
                                                       : "fine-tune";
    file = presets_folder() / (preset + ".json");
    if (preset.find('/') != std::string::npos || !file_exists(file)) {
      std::vector<std::string> names;
      for (const auto& entry : fs::directory_iterator(presets_folder())) {
        names.push_back(entry.path().stem().string());
      }
      throw InputError("--preset: expected one of " + join_words(names) + ", found \"" + preset +
                       "\"" + suggestion(preset, names));
    }
  }
  const Json plan = parse_json(read_file(file, limits::kMaxSmallFile), file.string());
  const bool has_model = plan.is_object() && plan.contains("model") && plan["model"].is_object();
  const bool has_start = plan.is_object() && plan.contains("from") && plan["from"].is_string();
  if (!has_model && !has_start) {
    throw InputError(file.string() + ": expected an object with a member \"model\" or \"from\"");
  }
  return plan;
}

// Maximum number of input tokens of the model in a plan; 0 if the plan does not specify it.
Index input_length(const Json& model) {
  for (const char* key : {"segment", "context"}) {
    const Json* tokens = model.is_object() ? model.find(key) : nullptr;
    if (tokens != nullptr && tokens->is_number() && tokens->get<double>() > 0) {
      return static_cast<Index>(std::min(tokens->get<double>(), Parameter::kMaxInteger));
    }
  }
  return 0;
}

// Sets the model that the training starts from, and its config and task. The config of a plan's own
// "from" stays if the plan has one.
void set_start(const TrainOptions& options, Json& plan) {
  if (!options.from.empty()) plan["from"] = options.from;
  if (!plan.contains("from")) return;
  const std::string from = plan["from"].get<std::string>();
  const bool has_model = plan.contains("model");
  if (!options.from.empty() || !has_model) {
    plan["model"] = to_json(model_store()->checkpoint(from)->model.config);
  }
  if (has_model || plan.contains("task")) return;
  // Cards of other libraries' layouts name a task only for inputs other than text.
  const ModelCard card = model_card(from);
  plan["task"] =
      card.config ? card.task : implied_task(model_store()->checkpoint(from)->model.config);
}

// Applies choices that concern head groups, and for a model to start from its structure, whose
// other settings may have to change.
void apply_choices(const TrainOptions& options, const Structure& structure, Json& plan) {
  Session session;
  session.run.variant = options.choices.variant();
  session.run.encoding = options.choices.encoding();
  for (const std::string& group : options.groups) {
    session.run.groups.push_back(group_from_text(group));
  }
  const bool has_start = plan.contains("from");
  if (session.run.groups.empty() && !has_start) {
    fill_unset_parameters(session.run, input_length(plan["model"]));
    if (session.run.variant) plan["model"]["variant"] = to_json(*session.run.variant);
    if (session.run.encoding) plan["model"]["position"] = to_json(*session.run.encoding);
    return;
  }
  fill_unset_parameters(session.run, input_length(plan["model"]));
  ModelConfig config = model_config_from_json(plan["model"], "training plan: model");
  if (has_start) config = apply_structure(config, structure);
  config.groups = effective_groups(config, session.run);
  plan["model"] = to_json(config);
}

// Sets the stages, and the number of steps unless an option sets it.
void set_stages(const TrainOptions& options, Json& plan) {
  if (options.stages.empty()) return;
  Json stages = Json::array();
  std::vector<TrainingStage> all;
  for (const std::string& text : options.stages) {
    for (const TrainingStage& stage : stages_from_text(text, "--stage")) {
      all.push_back(stage);
      stages.push_back(to_json(stage));
    }
  }
  plan["stages"] = stages;
  const auto steps = std::ranges::find(kSettings, std::string_view("/steps"), &Setting::pointer);
  if (options.values[static_cast<std::size_t>(steps - std::begin(kSettings))].empty()) {
    plan["steps"] = step_count(all);
  }
}

TrainingPlan make_plan(const TrainOptions& options) {
  Json plan = read_plan(options);
  set_start(options, plan);
  for (std::size_t i = 0; i < std::size(kSettings); ++i) {
    const std::string& value = options.values[i];
    if (value.empty()) continue;
    const Json parsed = Json::parse_or_null(value);
    plan.at_pointer(kSettings[i].pointer) =
        parsed.is_number() || parsed.is_boolean() ? parsed : Json(value);
  }
  if (!options.text.empty()) plan["text"] = options.text;
  if (!options.held_out.empty()) plan["held_out"] = options.held_out;
  set_stages(options, plan);
  if (!options.train_only.empty()) plan["train_only"] = options.train_only;
  if (!options.retrieval.empty())
    plan["retrieval"] = to_json(retrieval_from_text(options.retrieval));
  if (!options.folder.empty()) plan["folder"] = options.folder.string();
  if (!options.softmax.empty()) {
    plan["model"]["softmax"] = choice_json(options.softmax, "softmax", [](const std::string& id) {
      return output_softmax(id).parameters;
    });
  }
  Structure structure = options.choices.structure({});
  if (structure.exits == no_exits() && !plan.contains("from")) {
    plan["model"].erase("exits");
    structure.exits.reset();
  }
  if (!plan.contains("from")) add_to_json(structure, plan["model"]);
  apply_choices(options, structure, plan);
  if (const auto causal = options.choices.causal()) plan["model"]["causal"] = *causal;
  return training_plan_from_json(plan, "training plan");
}

std::string duration(double seconds) {
  const auto total_seconds = static_cast<long>(seconds);
  char text[32];
  if (total_seconds >= 3600) {
    std::snprintf(text, sizeof text, "%ldh%02ldm", total_seconds / 3600, total_seconds / 60 % 60);
  } else {
    std::snprintf(text, sizeof text, "%ldm%02lds", total_seconds / 60, total_seconds % 60);
  }
  return text;
}

// Available results, such as "loss 1.886, 2.412 bits per byte".
std::string describe(const Score& score, int decimals) {
  std::string text;
  const auto add = [&](const std::string& prefix, double value, const std::string& suffix) {
    if (std::isnan(value)) return;
    text += (text.empty() ? "" : ", ") + prefix + fixed(value, decimals) + suffix;
  };
  add("loss ", score.loss, "");
  add("", score.bits_per_byte, " bits per byte");
  add("accuracy ", score.accuracy, "");
  return text;
}

// Line on stderr that is overwritten at every step.
class TrainingProgressLine {
 public:
  ~TrainingProgressLine() {
    if (has_output_) std::fputc('\n', stderr);
  }
  void show(const TrainingProgress& p) {
    has_output_ = true;
    std::fprintf(stderr, "\rstep %td of %td  loss %.3f  ", p.step, p.steps, p.loss);
    const std::string score = describe(p.held_out, 3);
    if (!score.empty()) std::fprintf(stderr, "held out %s  ", score.c_str());
    std::fprintf(stderr, "%.0f tokens/s  peak memory %s  %s left  ", p.tokens_per_second,
                 memory_text(static_cast<double>(storage_statistics().peak_bytes)).c_str(),
                 duration(p.seconds_left).c_str());
    if (p.rise != nullptr) {
      std::fputc('\n', stderr);
      print_note(attnscope::describe(*p.rise));
    }
    std::fflush(stderr);
  }

 private:
  bool has_output_ = false;
};

TrainingResult train_with_progress(const TrainOptions& options) {
  const TrainingPlan plan = make_plan(options);
  const auto notify = [](const std::string& note) { print_note(note); };
  if (options.quiet) return train(plan, {}, notify);
  TrainingProgressLine line;
  return train(
      plan, [&](const TrainingProgress& progress) { line.show(progress); }, notify);
}

// Writes the curve to the plan's folder and prints the chosen learning rate.
void find_rate_command(const TrainOptions& options) {
  const TrainingPlan plan = make_plan(options);
  check(plan);
  const RateSearch search = find_learning_rate(plan);
  const std::string title = "Learning rates of " + plan.folder.filename().string();
  constexpr double kScale = 2;  // pixels per unit, for high-resolution screens
  make_folder(plan.folder);
  write_file(plan.folder / "learning-rate.csv", to_csv(search));
  write_picture(plan.folder / "learning-rate.png", rate_picture(search, title, Theme::light()),
                kScale, {{"Title", title}});
  if (search.steepest > 0) {
    std::printf("learning rate %s: the loss falls fastest\n", brief(search.steepest, 2).c_str());
  } else {
    std::printf("the loss does not fall at any learning rate\n");
  }
  flush_output();
}

void train_command(const TrainOptions& options) {
  if (options.finds_rate) {
    find_rate_command(options);
    return;
  }
  const TrainingResult result = train_with_progress(options);
  if (std::isnan(result.loss)) {
    std::printf("all steps were already done");
  } else {
    std::printf("loss %.4f", result.loss);
  }
  const std::string score = describe(result.held_out, 4);
  if (!score.empty()) std::printf(", held out %s", score.c_str());
  const std::string before = describe(result.before, 4);
  if (!before.empty()) std::printf(" (before: %s)", before.c_str());
  std::printf("\n");
  if (!result.expected.empty()) std::printf("%s\n", result.expected.c_str());
  flush_output();
  for (const std::string& note : result.notes) print_note(note);
}

}  // namespace

void add_train(Command program) {
  Command command = program.subcommand("train",
                                       "Train a model on text or on a task. Ctrl-C saves; the same "
                                       "command resumes. Options override the preset or plan");
  const auto options = std::make_shared<TrainOptions>();
  Option preset = command.add("--preset", options->preset,
                              "Training preset in assets/presets; default: default, or fine-tune "
                              "with --from");
  command.add("--from", options->from,
              "Model to start from: bundled name, folder or GGUF file. The options change its "
              "architecture, attention, positions, exits or sizes; weights that both models have "
              "are kept, others are initialised");
  command
      .add("--train-only", options->train_only,
           "Weights to train, such as \"exit.*\"; \"*\" matches any text; the others stay "
           "frozen. Repeatable; default: all")
      .one_each();
  command.add("--retrieval", options->retrieval,
              "Retrieval during training, such as spalm,store=FILE,k=8, whose gate is trained; for "
              "--from and a store of that model");
  command.add("--plan", options->plan_file, "Custom training plan (JSON)").excludes(preset);
  command.add("--text", options->text, "Training files: texts, images or folders of images");
  command.add("--held-out", options->held_out, "Held-out files for evaluation");
  command.add("-o,--folder", options->folder,
              "Output folder for the model, loss.csv, loss.png and the state for resuming");
  for (std::size_t i = 0; i < std::size(kSettings); ++i) {
    command.add(kSettings[i].names, options->values[i], to_help(kSettings[i])).value_name("VALUE");
  }
  command.add("--softmax", options->softmax,
              "Output softmax, such as mixture,components=4 ('attnscope list softmaxes')");
  options->choices.add_to(command, "as in the plan");
  command
      .add("--group", options->groups,
           "Variant or encoding of some layers and heads: "
           "\"layers=0,2;heads=0-3;variant=local,window=4;position=alibi\". Repeatable")
      .one_each();
  command
      .add("--stage", options->stages,
           "Stage of the training, \"steps=200,sequence=32,window=4,rate=0.5\": its steps, the "
           "maximum of sequences and windows in tokens, and a factor of the learning rate. With "
           "sequence=32/64/128 each step draws one of these lengths. "
           "Repeatable, in order; default: one stage of --steps")
      .one_each();
  command.flag("--find-learning-rate", options->finds_rate,
               "Try exponentially growing learning rates on a fresh model instead of training, and "
               "print the one at which the loss falls fastest. Writes FOLDER/learning-rate.csv "
               "and .png");
  command.flag("-q,--quiet", options->quiet, "Hide the progress line");
  command.action([options] { train_command(*options); });
}

}  // namespace attnscope::command
