#include "core/checkpoint/checkpoint.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/join_words.h"
#include "core/base/json.h"
#include "core/base/memory_budget.h"
#include "core/base/memory_error.h"
#include "core/base/near_match.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/card.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hub.h"
#include "core/checkpoint/snapshots.h"
#include "core/tensor/gguf.h"
#include "core/tensor/safetensors.h"
#include "core/text/chat_template.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

fs::path models_folder() {
  return home_folder() / "assets" / "models";
}

// Name of a model folder; for a snapshot "TRAINING, step N".
std::string folder_label(const fs::path& folder) {
  const auto step = snapshot_step(folder);
  if (!step) return folder.filename().string();
  return training_folder(folder.string()).filename().string() + ", step " + std::to_string(*step);
}

// Throws BudgetError if the weights alone exceed the memory budget.
void check_memory_budget(const CheckpointSource& source) {
  double bytes = 0;
  for (const auto& [name, tensor] : source.tensors) {
    const bool is_kept =
        tensor.dtype == DType::F16 || tensor.dtype == DType::BF16 || is_quantised(tensor.dtype);
    const Index numbers = element_count(tensor.shape);
    bytes += is_kept ? static_cast<double>(byte_count(tensor.dtype, numbers))
                     : 4.0 * static_cast<double>(numbers);
  }
  const auto budget = static_cast<double>(memory_budget());
  if (bytes <= budget) return;
  throw BudgetError<InputError>(source.place + ": its weights need " + memory_text(bytes) +
                                " of memory, the limit is " + memory_text(budget));
}

// The known model type that resembles `type` most: the one with the longest common beginning of at
// least three characters, else near_match().
std::string nearest_type(const std::string& type) {
  constexpr std::ptrdiff_t kMinCommon = 3;
  std::vector<std::string> types;
  std::string nearest;
  std::ptrdiff_t longest = kMinCommon - 1;
  for (const CheckpointFormat& format : checkpoint_formats()) {
    const std::string& known = format.model_type;
    types.push_back(known);
    const std::ptrdiff_t common = std::ranges::mismatch(type, known).in1 - type.begin();
    if (common <= longest) continue;
    longest = common;
    nearest = known;
  }
  return nearest.empty() ? near_match(type, types) : nearest;
}

const CheckpointFormat& find_format(const Json& config, const std::string& place,
                                    const std::string& tower) {
  const std::string type = format_type(config, place, tower);
  for (const CheckpointFormat& format : checkpoint_formats()) {
    if (format.model_type == type) return format;
  }
  const std::string relative = nearest_type(type);
  throw InputError(place + ": model_type: expected one of the " +
                   std::to_string(checkpoint_formats().size()) +
                   " that assets/docs/layouts.md lists, found " + shortened(config["model_type"]) +
                   (relative.empty() ? "" : "; the nearest is \"" + relative + "\""));
}

// Replaces the names of the model's own configuration at the beginning of a message by the keys of
// the libraries' config.json that determine them.
std::string with_library_keys(const std::string& message, const std::string& place) {
  static constexpr std::pair<const char*, const char*> kKeys[] = {
      {"position.dims", "head_dim (or hidden_size / num_attention_heads), rotary part"},
      {"position.max_distance", "relative_attention_max_distance"},
      {"position.clip", "position_buckets"},
      {"position.buckets", "relative_attention_num_buckets"},
      {"embedding.cutoffs", "cutoffs"},
      {"embedding.width", "embedding_size"}};
  for (const auto& [ours, theirs] : kKeys) {
    const std::string beginning = place + ": " + ours + ":";
    if (message.starts_with(beginning)) {
      return place + ": " + theirs + ":" + message.substr(beginning.size());
    }
  }
  return message;
}

Model load_model(const CheckpointFormat& format, const CheckpointSource& source) {
  if (format.model_type == native_format().model_type) return format.load(source);
  try {
    return format.load(source);
  } catch (const InputError& e) {
    throw InputError(with_library_keys(e.what(), source.config_place));
  }
}

// Reads "eos_token_id": a number, a list of numbers, or absent.
std::vector<std::int32_t> end_tokens(const Json& config, const Model& model,
                                     const std::string& place) {
  std::vector<std::int32_t> ids;
  if (!config.contains("eos_token_id") || config["eos_token_id"].is_null()) return ids;
  const Json& stored_ids = config["eos_token_id"];
  for (const Json& id : stored_ids.is_array() ? stored_ids : Json::array({stored_ids})) {
    if (!id.is_number_integer()) {
      throw InputError(place + ": eos_token_id: expected a token number or a list of them, found " +
                       shortened(stored_ids));
    }
    // Ids outside the vocabulary are never generated.
    if (id >= 0 && id < model.config.vocabulary) ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

void check_vocabulary(const Tokenizer& tokenizer, const Model& model, const std::string& place) {
  if (tokenizer.vocabulary_size() <= model.config.vocabulary) return;
  throw InputError(place + ": the tokenizer has " + std::to_string(tokenizer.vocabulary_size()) +
                   " tokens, the model only " + std::to_string(model.config.vocabulary));
}

// An unusable tokenizer is not an error: the model still runs on token ids.
void add_tokenizer(Checkpoint& checkpoint, const CheckpointSource& source) {
  try {
    checkpoint.tokenizer = source.read_tokenizer();
    checkpoint.chat_template = source.read_chat_template();
    check_vocabulary(*checkpoint.tokenizer, checkpoint.model, source.place);
    checkpoint.target_tokenizer = source.read_target_tokenizer();
    if (checkpoint.target_tokenizer) {
      check_vocabulary(*checkpoint.target_tokenizer, checkpoint.model, source.place);
    }
  } catch (const InputError& e) {
    checkpoint.tokenizer = checkpoint.target_tokenizer = nullptr;
    checkpoint.tokenizer_problem = e.what();
  }
}

}  // namespace

std::vector<std::string> bundled_models() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(models_folder(), ignored)) {
    if (file_exists(entry.path() / "config.json")) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names, {},
                    [](const std::string& name) { return std::pair(name != "default", name); });
  return names;
}

std::vector<std::string> user_models() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(user_models_folder(), ignored)) {
    const std::string name = entry.path().filename();
    const bool is_model = file_exists(entry.path() / "config.json") || is_gguf(entry.path());
    if (name[0] != '.' && is_model) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::map<std::string, std::string, std::less<>> bundled_models_by_choice() {
  // Returns the ids of the variant and the encoding of a model.
  const auto choice_ids = [](const std::string& name) {
    const fs::path folder = models_folder() / name;
    const Json config = checkpoint_container(folder).open(folder).config;
    return std::pair(type_of(config["variant"], "variant"),
                     type_of(config["position"], "position"));
  };
  std::map<std::string, std::string, std::less<>> models;
  const std::vector<std::string> names = bundled_models();
  if (names.empty()) return models;
  const auto default_ids = choice_ids(names.front());
  for (const std::string& name : names) {
    if (model_card(name).task != "text") continue;  // the default model reads text
    const auto [variant, encoding] = choice_ids(name);
    // A model with another variant represents only this variant, which may imply the encoding.
    if (variant != default_ids.first) {
      models.insert_or_assign(variant, name);
    } else if (encoding != default_ids.second) {
      models.insert_or_assign(encoding, name);
    }
  }
  return models;
}

std::string model_tower(const std::string& name_or_folder) {
  const fs::path name(name_or_folder);
  const bool tower = name.filename() == "vision_model" || name.filename() == "text_model";
  return tower && !is_folder(name) ? name.filename().string() : "";
}

std::string format_type(const Json& config, const std::string& path, const std::string& tower) {
  JsonObject object(config, path);
  const std::string type = object.text("model_type");
  if (tower.empty()) return type;
  if (type != "clip") object.fail("model_type", "\"clip\", which has a " + tower);
  return "clip_" + tower;
}

fs::path model_path(const std::string& name_or_folder) {
  if (!model_tower(name_or_folder).empty()) {
    return model_path(fs::path(name_or_folder).parent_path().string());
  }
  const std::vector<std::string> bundled = bundled_models();
  if (std::ranges::find(bundled, name_or_folder) != bundled.end()) {
    return models_folder() / name_or_folder;
  }
  if (is_gguf(name_or_folder)) return name_or_folder;
  const std::vector<std::string> user = user_models();
  if (std::ranges::find(user, name_or_folder) != user.end()) {
    return user_models_folder() / name_or_folder;
  }
  const auto in_folder = [](const fs::path& folder) {
    return gguf_in_folder(folder).value_or(folder);
  };
  if (is_folder(name_or_folder)) return in_folder(name_or_folder);
  if (const auto downloaded = hub_folder(name_or_folder)) return in_folder(*downloaded);
  const std::string names = join_words(bundled);
  std::vector<std::string> known = bundled;
  known.insert(known.end(), user.begin(), user.end());
  const bool is_hub_form = is_hub_name(name_or_folder);
  throw InputError("model: expected a folder, a GGUF file, a bundled model (" +
                   (names.empty() ? "there are none" : names) +
                   ") or one in the cache of the Hugging Face libraries, found \"" +
                   name_or_folder + "\"" +
                   (is_hub_form ? " (" + missing_in_hub(name_or_folder) + ")" : "") +
                   suggestion(name_or_folder, known));
}

Checkpoint load_checkpoint(const std::string& name_or_folder) {
  const fs::path path = model_path(name_or_folder);
  CheckpointSource source = checkpoint_container(path).open(path);
  Checkpoint checkpoint;
  const std::string tower = model_tower(name_or_folder);
  const bool is_path =
      !tower.empty() || file_exists(name_or_folder) || !is_hub_name(name_or_folder);
  // Folders in the Hugging Face cache are named after commits.
  const fs::path canonical = fs::weakly_canonical(path);
  checkpoint.name = !is_path        ? name_or_folder
                    : is_gguf(path) ? canonical.stem().string()
                    : tower.empty() ? folder_label(canonical)
                                    : canonical.filename().string() + "/" + tower;
  const CheckpointFormat& format = find_format(source.config, source.config_place, tower);
  source.tensors = source.read_tensors();
  if (tower.empty()) check_memory_budget(source);  // towers load part of the tensors
  checkpoint.model = load_model(format, source);
  checkpoint.end_tokens = end_tokens(source.config, checkpoint.model, source.config_place);
  add_tokenizer(checkpoint, source);
  return checkpoint;
}

std::string chat_turn(const Checkpoint& checkpoint, std::string_view text) {
  if (checkpoint.chat_template.empty()) {
    throw InputError("chat: expected a model with a chat template, found " + checkpoint.name +
                     ", which has none");
  }
  return chat_format(checkpoint.chat_template, checkpoint.name + ": chat template").turn(text);
}

void save_checkpoint(const fs::path& folder, const Checkpoint& checkpoint, bool half) {
  constexpr float kLargestHalf = 65504;
  SafetensorsFile file;
  file.metadata["format"] = "pt";  // expected by other safetensors readers
  const auto add = [&](const std::string& name, const Tensor& weight) {
    for (const float x : weight) {
      if (!std::isfinite(x) || (half && std::abs(x) > kLargestHalf)) {
        throw WorkError("weight " + name + ": expected a " + (half ? "16-bit" : "finite") +
                        " number, found " + std::to_string(x));
      }
    }
    file.tensors.emplace(name, stored(weight, half ? DType::F16 : DType::F32));
  };
  for (const auto& [name, weight] : checkpoint.model.weights) add(name, weight.value());
  for (const auto& [name, matrix] : checkpoint.model.narrow) add(name, matrix.to_tensor());
  make_folder(folder);
  write_file(folder / "config.json", to_json(checkpoint.model.config).dump(2) + "\n");
  write_safetensors(folder / "model.safetensors", file);
  if (checkpoint.tokenizer) checkpoint.tokenizer->save(folder);
  if (checkpoint.target_tokenizer) checkpoint.target_tokenizer->save(folder);
}

}  // namespace attnscope
