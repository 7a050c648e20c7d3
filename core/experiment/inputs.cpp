#include "core/experiment/inputs.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/chosen.h"
#include "core/input/input_file.h"
#include "core/input/picture.h"
#include "core/model/architecture.h"
#include "core/model/id_label.h"
#include "core/model/input_kind.h"

namespace attnscope {

namespace {

IntTensor row_of(const std::vector<std::int32_t>& ids) {
  return IntTensor::from({1, static_cast<Index>(ids.size())}, ids);
}

std::vector<std::int32_t> ids_of(const std::vector<TraceToken>& tokens) {
  std::vector<std::int32_t> ids;
  for (const TraceToken& token : tokens) ids.push_back(token.id);
  return ids;
}

std::vector<TraceToken> tokens_of(const std::vector<std::int32_t>& ids,
                                  const Checkpoint& checkpoint, bool written = false) {
  std::vector<TraceToken> tokens;
  for (const std::int32_t id : ids) tokens.push_back(trace_token(id, checkpoint, written));
  return tokens;
}

[[noreturn]] void refuse_target(const std::string& why) {
  throw InputError("target ids: expected none, " + why);
}

ModelInput source_and_target(const ModelConfig& config, const Checkpoint& checkpoint,
                             const Experiment& experiment, std::vector<TraceToken> tokens,
                             bool losses) {
  const std::vector<std::int32_t> target = target_so_far(config, checkpoint, experiment);
  if (*std::ranges::min_element(target) < 0) {
    throw InputError("target ids: expected token numbers from 0 on, found a negative one");
  }
  ModelInput input;
  input.batch = next_token_batch(row_of(target));
  if (!losses) input.batch.targets = IntTensor();
  input.batch.source = row_of(ids_of(tokens));
  input.tokens = tokens_of(target, checkpoint, true);
  input.streams.push_back({kSourceStream, std::move(tokens)});
  return input;
}

// Each step's return, state and action.
std::vector<TraceToken> step_tokens(const TrajectoryInput& input) {
  std::vector<TraceToken> tokens;
  const auto add = [&](const char* kind, Index t, std::int32_t id) {
    TraceToken token;
    token.id = id;
    token.label = kind + std::to_string(t);
    tokens.push_back(std::move(token));
  };
  for (Index t = 0; t < input.actions.size(); ++t) {
    add("R", t, -1);
    add("s", t, -1);
    if (input.actions[t] >= 0) add("a", t, input.actions[t]);
  }
  return tokens;
}

ModelInput trajectory_input(const ModelConfig& config, const Experiment& experiment, bool losses) {
  if (experiment.input.empty()) {
    throw InputError("input: expected a file with returns, states and actions for " +
                     config.architecture.id + ", found none");
  }
  const InputFile file = read_input_file(experiment.input);
  if (!file.trajectory) {
    throw InputError(experiment.input + ": expected returns, states and actions, found pixels");
  }
  const TrajectoryInput& steps = *file.trajectory;
  const Index count = steps.returns.dim(0);
  ModelInput input;
  input.batch.returns = steps.returns.reshaped({1, count});
  input.batch.states = steps.states.reshaped({1, count, steps.states.dim(1)});
  input.batch.actions = steps.actions.reshaped({1, count});
  if (losses) input.batch.targets = input.batch.actions;
  input.tokens = step_tokens(steps);
  return input;
}

// Of two sentences in one text, "[CLS] first [SEP] second [SEP]": what stands behind a separator is
// the second. A separator is what the tokenizer puts behind a text.
void find_sentences(std::vector<TraceToken>& tokens) {
  if (tokens.size() < 2 || !tokens.back().special || tokens.back().id == tokens.front().id) return;
  const auto separates = [&](const TraceToken& t) { return t.id == tokens.back().id; };
  const auto first = std::ranges::find_if(tokens, separates);
  // Some models write two between the sentences: both are the first's.
  const auto second = std::find_if_not(first, tokens.end(), separates);
  for (auto token = second; token != tokens.end(); ++token) token->sentence = token->segment = 1;
}

IntTensor segments_of(const std::vector<TraceToken>& tokens, Index most) {
  IntTensor segments = IntTensor::zeros({1, static_cast<Index>(tokens.size())});
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    segments[static_cast<Index>(n)] =
        std::min(tokens[n].segment, static_cast<std::int32_t>(most) - 1);
  }
  return segments;
}

bool reads_sentences(const ModelConfig& config) {
  return !config.causal && input_kind(config.input.id).is_text &&
         architecture(config.architecture.id).reads == Reads::Tokens;
}

// A target for each position of a masked model.
IntTensor masked_targets(const ModelConfig& config, const Experiment& experiment, Index length) {
  const std::vector<std::int32_t>& targets = experiment.target_ids;
  if (static_cast<Index>(targets.size()) != length) {
    throw InputError("target ids: expected one for each of " + std::to_string(length) +
                     " positions (-1: none) of a masked model, found " +
                     std::to_string(targets.size()));
  }
  for (const std::int32_t id : targets) {
    if (id >= -1 && id < config.vocabulary) continue;
    throw InputError("target ids: expected numbers from -1 to " +
                     std::to_string(config.vocabulary - 1) + ", found " + std::to_string(id));
  }
  return row_of(targets);
}

// The colours of the picture that a model of whole images sees.  [height, width, 3]
Tensor picture_of(const ModelConfig& config, const Experiment& experiment) {
  const Values& image = config.input.values;
  if (!is_picture_file(experiment.input)) {
    throw InputError("input: expected a picture (PNG, JPEG, ...) for a model of images, found " +
                     (experiment.input.empty() ? "none" : experiment.input));
  }
  return picture_colours(experiment.input, image.integer("width"), image.integer("height"));
}

// Tokens that belong to no piece by their numbers, pieces by row and column.
std::vector<TraceToken> piece_tokens(const ModelConfig& config, const Experiment& experiment) {
  if (!experiment.ids.empty() || experiment.input.empty()) picture_of(config, {});
  const InputKind& kind = input_kind(config.input.id);
  const Index extra = config.input.values.integer("extra");
  const Index across = kind.columns(config.input.values);
  std::vector<TraceToken> tokens;
  for (const std::int32_t id : kind.piece_ids(config.input.values)) {
    TraceToken token;
    token.id = id;
    const Index piece = static_cast<Index>(tokens.size()) - extra;
    token.special = piece < 0;
    token.label = piece < 0 ? id_label(&config, id)
                            : std::to_string(piece / across) + "," + std::to_string(piece % across);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// The pieces as a grid: their pixels, and the mean colour of each.
std::shared_ptr<const PixelGrid> piece_grid(const ModelConfig& config, const Tensor& colours) {
  const InputKind& kind = input_kind(config.input.id);
  const Values& image = config.input.values;
  const Index side = image.integer("patch"), width = colours.dim(1);
  auto grid = std::make_shared<PixelGrid>();
  grid->width = kind.columns(image);
  grid->height = kind.most(image) / grid->width;
  grid->before = image.integer("extra");
  grid->colours = Tensor::zeros({grid->height, grid->width, 3});
  grid->picture = Tensor({grid->height * side, grid->width * side, 3});
  float* pixel = grid->picture.data();
  const float share = 1 / static_cast<float>(side * side);
  for (Index row = 0; row < grid->height * side; ++row) {
    for (Index column = 0; column < grid->width * side; ++column) {
      float* to = grid->colours.data() + (row / side * grid->width + column / side) * 3;
      for (Index c = 0; c < 3; ++c) {
        *pixel = colours[(row * width + column) * 3 + c];
        to[c] += share * *pixel++;
      }
    }
  }
  return grid;
}

constexpr Index kMostTokens = 65536;  // of a text that is run beyond the context

// Keeps what the model has room for, and says so.
void cut(std::vector<TraceToken>& tokens, Index context, Overlong policy,
         std::vector<std::string>& notes) {
  const Index count = static_cast<Index>(tokens.size());
  if (count <= context) return;
  const Index room = policy == Overlong::All ? std::max(context, kMostTokens) : context;
  if (count > room) {
    if (policy == Overlong::Last) {
      tokens.erase(tokens.begin(), tokens.end() - room);
    } else {
      tokens.resize(static_cast<std::size_t>(room));
    }
    notes.push_back("the text has " + std::to_string(count) + " tokens; the " +
                    (policy == Overlong::Last ? "last " : "first ") + std::to_string(room) +
                    " are used");
  }
  if (policy == Overlong::All) {
    notes.push_back("the model was trained on " + std::to_string(context) +
                    " tokens at a time; it never saw the positions beyond");
  }
}

}  // namespace

std::vector<TraceToken> tokens_to_read(const ModelConfig& config, const Checkpoint& checkpoint,
                                       const Experiment& experiment,
                                       std::vector<std::string>& notes) {
  if (!experiment.second.empty() && !reads_sentences(config)) {
    throw InputError(
        "second sentence: expected a model that reads a text in both directions, "
        "found " +
        checkpoint.name);
  }
  if (!reads_tokens(config)) return {};
  if (input_kind(config.input.id).is_whole) return piece_tokens(config, experiment);
  Experiment given = experiment;
  if (!experiment.input.empty()) given.ids = pixel_ids(config, experiment.input);
  std::vector<TraceToken> tokens = chosen_tokens(checkpoint, given);
  const Index count = static_cast<Index>(tokens.size()), most = experiment.most_tokens;
  if (most > 0 && count > most) {
    notes.push_back("the text has " + std::to_string(count) + " tokens; the first " +
                    std::to_string(most) + " are used");
    tokens.resize(static_cast<std::size_t>(most));
  }
  const bool in_segments = config.segment > 0;
  cut(tokens, in_segments ? kMostTokens : config.context, experiment.overlong, notes);
  return tokens;
}

ModelExtent model_extent(const Checkpoint& checkpoint, const ModelConfig& config,
                         const Experiment& experiment, Index tokens) {
  const Architecture& of = architecture(config.architecture.id);
  ModelExtent extent{config.layers, config.heads, config.vocabulary, tokens};
  extent.self_attention = of.has_self_attention;
  extent.segments = config.segment > 0;
  if (of.reads == Reads::SourceAndTarget && !experiment.interventions.empty()) {
    extent.attended = static_cast<Index>(target_so_far(config, checkpoint, experiment).size());
  }
  return extent;
}

bool reads_tokens(const ModelConfig& config) {
  return architecture(config.architecture.id).reads != Reads::Trajectories;
}

std::vector<std::int32_t> target_so_far(const ModelConfig& config, const Checkpoint& checkpoint,
                                        const Experiment& experiment) {
  if (!experiment.target_ids.empty()) return experiment.target_ids;
  const Values& values = config.architecture.values;
  std::vector<std::int32_t> ids{static_cast<std::int32_t>(values.integer("start"))};
  if (experiment.target.empty()) return ids;
  if (!checkpoint.tokenizer) {
    throw InputError("target: a text cannot be used with model " + checkpoint.name + ": " +
                     checkpoint.tokenizer_problem);
  }
  for (const Token& token : checkpoint.writing()->encode(experiment.target)) {
    if (!token.special) ids.push_back(token.id);
  }
  return ids;
}

std::vector<std::int32_t> pixel_ids(const ModelConfig& config, const std::string& file) {
  if (input_kind(config.input.id).is_text || input_kind(config.input.id).is_whole) {
    throw InputError("input: expected a text for a model of text, found " + file);
  }
  const Values& image = config.input.values;
  const Index width = image.integer("width"), height = image.integer("height");
  IntTensor pixels;
  if (std::filesystem::path(file).extension() != ".safetensors") {
    pixels = picture_pixels(file, width, height, image.integer("levels"));
  } else {
    const InputFile input = read_input_file(file);
    const Shape shape{height, width};
    if (!input.pixels || input.pixels->shape() != shape) {
      throw InputError(file + ": pixels: expected " + to_string(shape) + ", found " +
                       (input.pixels ? to_string(input.pixels->shape()) : std::string("none")));
    }
    pixels = *input.pixels;
  }
  return {pixels.begin(), pixels.end()};
}

std::shared_ptr<const PixelGrid> pixels_of(const ModelConfig& config,
                                           const std::vector<TraceToken>& tokens) {
  if (!reads_tokens(config)) return nullptr;
  const InputKind& kind = input_kind(config.input.id);
  if (kind.is_text || kind.is_whole || !kind.columns) return nullptr;
  const Values& image = config.input.values;
  auto grid = std::make_shared<PixelGrid>();
  grid->width = kind.columns(image);
  grid->height = kind.most(image) / std::max<Index>(1, grid->width);
  grid->keys_late = 1;
  grid->colours = Tensor::full({grid->height, grid->width, 3}, 0.5f);  // what was not read yet
  const auto brightest = static_cast<float>(kind.levels(image) - 1);
  for (std::size_t n = 1; n < tokens.size() && grid->contains(static_cast<Index>(n) - 1); ++n) {
    const float grey = static_cast<float>(tokens[n].id) / brightest;
    for (Index c = 0; c < 3; ++c) grid->colours[3 * (static_cast<Index>(n) - 1) + c] = grey;
  }
  return grid;
}

ModelInput model_input(const ModelConfig& config, const Checkpoint& checkpoint,
                       const Experiment& experiment, std::vector<TraceToken> tokens, bool losses) {
  const Reads reads = architecture(config.architecture.id).reads;
  if (reads == Reads::SourceAndTarget) {
    return source_and_target(config, checkpoint, experiment, std::move(tokens), losses);
  }
  const bool has_target = !experiment.target_ids.empty() || !experiment.target.empty();
  if (reads == Reads::Trajectories) {
    if (has_target) refuse_target("a trajectory's are its actions");
    return trajectory_input(config, experiment, losses);
  }
  const bool masked = fills_in(config);
  if (has_target && !masked)
    refuse_target("those of " + config.architecture.id + " are its own ids");
  ModelInput input;
  const InputKind& kind = input_kind(config.input.id);
  input.batch = kind.batch(ids_of(tokens), config);
  if (reads_sentences(config) && experiment.second.empty()) find_sentences(tokens);
  if (config.embedding.types > 1) input.batch.types = segments_of(tokens, config.embedding.types);
  input.tokens = std::move(tokens);
  if (kind.is_whole) {
    const Tensor colours = picture_of(config, experiment);
    input.batch.patches = kind.pieces(colours, config.input.values);
    input.pixels = piece_grid(config, colours);
    return input;
  }
  if (!kind.is_text) {  // what is seen, not what is predicted
    input.tokens = tokens_of({input.batch.ids.begin(), input.batch.ids.end()}, checkpoint);
  }
  if (masked && (losses || has_target)) {
    input.batch.targets = masked_targets(config, experiment, input.batch.ids.dim(1));
  }
  if (!losses) input.batch.targets = IntTensor();
  return input;
}

}  // namespace attnscope
