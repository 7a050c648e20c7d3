#include "core/experiment/inputs.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/experiment/effective_model.h"
#include "core/input/image_file.h"
#include "core/input/input_file.h"
#include "core/model/architecture.h"
#include "core/model/global_tokens.h"
#include "core/model/id_label.h"
#include "core/model/input_kind.h"

namespace attnscope {
namespace {

IntTensor batch_row(const std::vector<std::int32_t>& ids) {
  return IntTensor::from({1, static_cast<Index>(ids.size())}, ids);
}

std::vector<std::int32_t> token_ids(const std::vector<TraceToken>& tokens) {
  std::vector<std::int32_t> ids;
  for (const TraceToken& token : tokens) ids.push_back(token.id);
  return ids;
}

std::vector<TraceToken> to_trace_tokens(const std::vector<std::int32_t>& ids,
                                        const Checkpoint& checkpoint, bool is_generated = false) {
  std::vector<TraceToken> tokens;
  for (const std::int32_t id : ids) tokens.push_back(trace_token(id, checkpoint, is_generated));
  return tokens;
}

[[noreturn]] void refuse_target(const std::string& reason) {
  throw InputError("target ids: expected no ids, " + reason);
}

ModelInput source_and_target(const ModelConfig& config, const Checkpoint& checkpoint,
                             const RunSpec& spec, std::vector<TraceToken> tokens,
                             bool needs_losses) {
  const std::vector<std::int32_t> target = target_so_far(config, checkpoint, spec);
  if (*std::ranges::min_element(target) < 0) {
    throw InputError("target ids: expected token ids of at least 0, found a negative one");
  }
  ModelInput input;
  input.batch = next_token_batch(batch_row(target));
  if (!needs_losses) input.batch.targets = IntTensor();
  input.batch.source = batch_row(token_ids(tokens));
  input.tokens = to_trace_tokens(target, checkpoint, true);
  input.streams.push_back({kSourceStream, std::move(tokens)});
  return input;
}

// Tokens for the return, the state and the action of each step.
std::vector<TraceToken> step_tokens(const TrajectoryInput& input) {
  std::vector<TraceToken> tokens;
  const auto add = [&](const char* kind, Index t, std::int32_t id) {
    TraceToken token;
    token.id = id;
    token.label = kind + std::to_string(t);
    tokens.push_back(std::move(token));
  };
  for (Index t = 0; t < input.returns.size(); ++t) {
    add("R", t, -1);
    add("s", t, -1);
    if (input.moves.defined()) {
      if (!std::isnan(input.moves(t, 0))) add("a", t, -1);
    } else if (input.actions[t] >= 0) {
      add("a", t, input.actions[t]);
    }
  }
  return tokens;
}

ModelInput trajectory_input(const ModelConfig& config, const RunSpec& spec, bool needs_losses) {
  if (spec.input.empty()) {
    throw InputError("input: expected a file with returns, states and actions for " +
                     config.architecture.id + ", found none");
  }
  const InputFile file = read_input_file(spec.input);
  if (!file.trajectory) {
    throw InputError(spec.input + ": expected returns, states and actions, found pixels");
  }
  const TrajectoryInput& steps = *file.trajectory;
  const Index count = steps.returns.dim(0);
  ModelInput input;
  input.batch.returns = steps.returns.reshaped({1, count});
  input.batch.states = steps.states.reshaped({1, count, steps.states.dim(1)});
  if (steps.moves.defined()) {
    input.batch.moves = steps.moves.reshaped({1, count, steps.moves.dim(1)});
    if (needs_losses) {
      input.batch.targets = IntTensor::full({1, count}, 0);
      if (std::isnan(steps.moves(count - 1, 0))) input.batch.targets[count - 1] = -1;
    }
  } else {
    input.batch.actions = steps.actions.reshaped({1, count});
    if (needs_losses) input.batch.targets = input.batch.actions;
  }
  input.tokens = step_tokens(steps);
  return input;
}

// Marks the second sentence in "[CLS] first [SEP] second [SEP]": the tokens after the separator,
// which is the token that the tokenizer appends to a text.
void mark_second_sentence(std::vector<TraceToken>& tokens) {
  if (tokens.size() < 2 || !tokens.back().special || tokens.back().id == tokens.front().id) return;
  const auto is_separator = [&](const TraceToken& t) { return t.id == tokens.back().id; };
  const auto first = std::ranges::find_if(tokens, is_separator);
  // Some models put two separators between the sentences; both belong to the first sentence.
  const auto second = std::find_if_not(first, tokens.end(), is_separator);
  for (auto token = second; token != tokens.end(); ++token) token->sentence = token->segment = 1;
}

IntTensor segment_ids(const std::vector<TraceToken>& tokens, Index type_count) {
  IntTensor segments = IntTensor::zeros({1, static_cast<Index>(tokens.size())});
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    segments[static_cast<Index>(n)] =
        std::min(tokens[n].segment, static_cast<std::int32_t>(type_count) - 1);
  }
  return segments;
}

bool reads_sentences(const ModelConfig& config) {
  return !config.causal && input_kind(config.input.id).is_text &&
         architecture(config.architecture.id).reads == Reads::Tokens;
}

IntTensor masked_targets(const ModelConfig& config, const RunSpec& spec, Index length) {
  const std::vector<std::int32_t>& targets = spec.target_ids;
  if (static_cast<Index>(targets.size()) != length) {
    throw InputError("target ids: expected one id for each of " + std::to_string(length) +
                     " positions (-1: none) of a masked model, found " +
                     std::to_string(targets.size()));
  }
  for (const std::int32_t id : targets) {
    if (id >= -1 && id < config.vocabulary) continue;
    throw InputError("target ids: expected numbers from -1 to " +
                     std::to_string(config.vocabulary - 1) + ", found " + std::to_string(id));
  }
  return batch_row(targets);
}

// Colours of the image that a vision model reads, [height, width, 3].
Tensor read_image(const ModelConfig& config, const RunSpec& spec) {
  const Values& image = config.input.values;
  if (!is_image_file(spec.input)) {
    throw InputError("input: expected an image (PNG, JPEG, ...) for a vision model, found " +
                     (spec.input.empty() ? "none" : spec.input));
  }
  return image_colours(spec.input, image.integer("width"), image.integer("height"));
}

// Patch tokens are labelled by row and column, other tokens by number.
std::vector<TraceToken> patch_tokens(const ModelConfig& config, const RunSpec& spec) {
  if (!spec.ids.empty() || spec.input.empty()) read_image(config, {});
  const InputKind& kind = input_kind(config.input.id);
  const Index extra = config.input.values.integer("extra");
  const Index width = kind.columns(config.input.values);
  std::vector<TraceToken> tokens;
  for (const std::int32_t id : kind.patch_ids(config.input.values)) {
    TraceToken token;
    token.id = id;
    const Index patch = static_cast<Index>(tokens.size()) - extra;
    token.special = patch < 0;
    token.label = patch < 0 ? id_label(&config, id)
                            : std::to_string(patch / width) + "," + std::to_string(patch % width);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// Grid of the patches, with their pixels and mean colours.
std::shared_ptr<const PixelGrid> patch_grid(const ModelConfig& config, const Tensor& colours) {
  const InputKind& kind = input_kind(config.input.id);
  const Values& image = config.input.values;
  const Index side = image.integer("patch"), width = colours.dim(1);
  auto grid = std::make_shared<PixelGrid>();
  grid->width = kind.columns(image);
  grid->height = kind.max_ids(image) / grid->width;
  grid->before = image.integer("extra");
  grid->colours = Tensor::zeros({grid->height, grid->width, 3});
  grid->picture = Tensor({grid->height * side, grid->width * side, 3});
  float* pixel = grid->picture.data();
  const float weight = 1 / static_cast<float>(side * side);
  for (Index row = 0; row < grid->height * side; ++row) {
    for (Index column = 0; column < grid->width * side; ++column) {
      float* mean = grid->colours.data() + (row / side * grid->width + column / side) * 3;
      for (Index c = 0; c < 3; ++c) {
        *pixel = colours[(row * width + column) * 3 + c];
        mean[c] += weight * *pixel++;
      }
    }
  }
  return grid;
}

constexpr Index kMaxExtendedTokens = 65536;  // limit of Overlong::All and of texts read in segments

// Cuts the tokens to the model's context, with a note.
void truncate(std::vector<TraceToken>& tokens, Index context, Overlong policy,
              std::vector<std::string>& notes) {
  const Index count = static_cast<Index>(tokens.size());
  if (count <= context) return;
  const Index limit = policy == Overlong::All ? std::max(context, kMaxExtendedTokens) : context;
  if (count > limit) {
    if (policy == Overlong::Last) {
      tokens.erase(tokens.begin(), tokens.end() - limit);
    } else {
      tokens.resize(static_cast<std::size_t>(limit));
    }
    notes.push_back("the text has " + std::to_string(count) + " tokens; the " +
                    (policy == Overlong::Last ? "last " : "first ") + std::to_string(limit) +
                    " are used");
  }
  if (policy == Overlong::All) {
    notes.push_back("the model was trained on " + std::to_string(context) +
                    " tokens at a time and never saw later positions");
  }
}

}  // namespace

std::vector<TraceToken> tokens_to_read(const ModelConfig& config, const Checkpoint& checkpoint,
                                       const RunSpec& spec, std::vector<std::string>& notes) {
  if (!spec.second.empty() && !reads_sentences(config)) {
    throw InputError(
        "second sentence: expected a bidirectional text model, "
        "found " +
        checkpoint.name);
  }
  if (!reads_tokens(config)) return {};
  if (input_kind(config.input.id).uses_patches) return patch_tokens(config, spec);
  RunSpec input_spec = spec;
  if (!spec.input.empty()) input_spec.ids = pixel_ids(config, spec.input);
  std::vector<TraceToken> tokens = tokenised_input(checkpoint, input_spec);
  const Index count = static_cast<Index>(tokens.size()), max_tokens = spec.max_tokens;
  if (max_tokens > 0 && count > max_tokens) {
    notes.push_back("the text has " + std::to_string(count) + " tokens; the first " +
                    std::to_string(max_tokens) + " are used");
    tokens.resize(static_cast<std::size_t>(max_tokens));
  }
  const bool has_segments = config.segment > 0, has_ids = !spec.ids.empty();
  const Index global = has_ids ? 0 : global_tokens(config);  // ids are the model's whole input
  const Index limit = has_segments ? kMaxExtendedTokens : config.context - global;
  truncate(tokens, limit, spec.overlong, notes);
  for (Index n = 0; n < global; ++n) {
    TraceToken token =
        trace_token(first_global_id(config) + static_cast<std::int32_t>(n), checkpoint);
    token.special = true;
    tokens.insert(tokens.begin() + n, std::move(token));
  }
  return tokens;
}

ModelExtent model_extent(const Checkpoint& checkpoint, const ModelConfig& config,
                         const RunSpec& spec, Index tokens) {
  const Architecture& architecture = attnscope::architecture(config.architecture.id);
  ModelExtent extent{config.layers, config.heads, config.vocabulary, tokens};
  extent.self_attention = architecture.has_self_attention;
  extent.segments = config.segment > 0;
  if (architecture.reads == Reads::SourceAndTarget && !spec.interventions.empty()) {
    extent.attended = static_cast<Index>(target_so_far(config, checkpoint, spec).size());
  }
  return extent;
}

bool reads_tokens(const ModelConfig& config) {
  return architecture(config.architecture.id).reads != Reads::Trajectories;
}

std::vector<std::int32_t> target_so_far(const ModelConfig& config, const Checkpoint& checkpoint,
                                        const RunSpec& spec) {
  if (!spec.target_ids.empty()) return spec.target_ids;
  const Values& values = config.architecture.values;
  std::vector<std::int32_t> ids{static_cast<std::int32_t>(values.integer("start"))};
  if (spec.target.empty()) return ids;
  if (!checkpoint.tokenizer) {
    throw InputError("target: text cannot be used with model " + checkpoint.name + ": " +
                     checkpoint.tokenizer_problem);
  }
  for (const Token& token : checkpoint.output_tokenizer()->encode(spec.target)) {
    if (!token.special) ids.push_back(token.id);
  }
  return ids;
}

std::vector<std::int32_t> pixel_ids(const ModelConfig& config, const std::string& file) {
  if (input_kind(config.input.id).is_text || input_kind(config.input.id).uses_patches) {
    throw InputError("input: expected text for a language model, found " + file);
  }
  const Values& image = config.input.values;
  const Index width = image.integer("width"), height = image.integer("height");
  IntTensor pixels;
  if (std::filesystem::path(file).extension() != ".safetensors") {
    pixels = image_pixels(file, width, height, image.integer("levels"));
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
  if (kind.is_text || kind.uses_patches || !kind.columns) return nullptr;
  const Values& image = config.input.values;
  auto grid = std::make_shared<PixelGrid>();
  grid->width = kind.columns(image);
  grid->height = kind.max_ids(image) / std::max<Index>(1, grid->width);
  grid->key_shift = 1;
  grid->colours = Tensor::full({grid->height, grid->width, 3}, 0.5f);  // grey: not read yet
  const auto brightest = static_cast<float>(kind.levels(image) - 1);
  for (std::size_t n = 1; n < tokens.size() && grid->contains(static_cast<Index>(n) - 1); ++n) {
    const float grey = static_cast<float>(tokens[n].id) / brightest;
    for (Index c = 0; c < 3; ++c) grid->colours[3 * (static_cast<Index>(n) - 1) + c] = grey;
  }
  return grid;
}

ModelInput model_input(const ModelConfig& config, const Checkpoint& checkpoint, const RunSpec& spec,
                       std::vector<TraceToken> tokens, bool needs_losses) {
  const Reads reads = architecture(config.architecture.id).reads;
  if (reads == Reads::SourceAndTarget) {
    return source_and_target(config, checkpoint, spec, std::move(tokens), needs_losses);
  }
  const bool has_target = !spec.target_ids.empty() || !spec.target.empty();
  if (reads == Reads::Trajectories) {
    if (has_target) refuse_target("because the targets of a trajectory are its actions");
    return trajectory_input(config, spec, needs_losses);
  }
  const bool is_masked = is_masked_model(config);
  if (has_target && !is_masked)
    refuse_target("because the targets of " + config.architecture.id + " are its input ids");
  ModelInput input;
  const InputKind& kind = input_kind(config.input.id);
  input.batch = kind.batch(token_ids(tokens), config);
  if (reads_sentences(config) && spec.second.empty()) mark_second_sentence(tokens);
  if (config.embedding.types > 1) input.batch.types = segment_ids(tokens, config.embedding.types);
  input.tokens = std::move(tokens);
  if (kind.uses_patches) {
    const Tensor colours = read_image(config, spec);
    input.batch.patches = kind.patch_pixels(colours, config.input.values);
    input.pixels = patch_grid(config, colours);
    return input;
  }
  if (!kind.is_text) {  // labels input pixels, not predicted pixels
    input.tokens = to_trace_tokens({input.batch.ids.begin(), input.batch.ids.end()}, checkpoint);
  }
  if (is_masked && (needs_losses || has_target)) {
    input.batch.targets = masked_targets(config, spec, input.batch.ids.dim(1));
  }
  if (!needs_losses) input.batch.targets = IntTensor();
  return input;
}

}  // namespace attnscope
