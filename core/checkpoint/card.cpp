#include "core/checkpoint/card.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hub.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/model/capability.h"
#include "core/model/input_kind.h"
#include "core/model/weights.h"
#include "core/position/encoding.h"
#include "core/tensor/gguf.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCard = "card.json";
constexpr const char* kTextTask = "text";  // the task of most models

// Order of groups in lists; other groups follow.
const std::vector<std::string> kGroups = {"Text", "Memory and depth", "Tasks", kTwins};

Json read_json_file(const fs::path& file) {
  return parse_json(read_file(file, limits::kMaxSmallFile), file.string());
}

std::string task_of(const Json& card, const ModelConfig& config) {
  return card.contains("task") && card["task"].is_string() ? card["task"].get<std::string>()
                                                           : implied_task(config);
}

bool has_card(const fs::path& folder) {
  std::error_code unknown;  // an inaccessible card counts as present: reading it reports the error
  return fs::exists(folder / kCard, unknown) || unknown;
}

// "2.2 million", "58 thousand".
std::string rounded_count(Index parameters) {
  constexpr double kThousand = 1e3, kMillion = 1e6, kBillion = 1e9;
  const auto count = static_cast<double>(parameters);
  if (count >= kBillion) return brief(count / kBillion, 2) + " billion";
  if (count >= kMillion / 10) return brief(count / kMillion, count < kMillion ? 1 : 2) + " million";
  return brief(count / kThousand, 2) + " thousand";
}

// Distinctive property of the attention: the variant or, for full attention, the position encoding,
// shortened ("RoPE" for "RoPE, rotary").
std::string attention_label(const ModelConfig& config) {
  const HeadGroup& group = config.groups.front().front();
  if (group.variant.id != default_variant().id) return variant(group.variant.id).label;
  if (group.encoding.id == default_encoding().id) return "no positions";
  const std::string label = encoding(group.encoding.id).label;
  return label.substr(0, label.find(','));
}

}  // namespace

std::string implied_task(const ModelConfig& config) {
  const Reads reads = architecture(config.architecture.id).reads;
  if (has_continuous_actions(config)) return "steering";
  if (reads == Reads::Trajectories) return "trajectory";
  if (!input_kind(config.input.id).is_text) return "image";
  if (reads == Reads::SourceAndTarget) return "numbers";
  return is_masked_model(config) ? "masked" : kTextTask;
}

ModelCard model_card(const std::string& name_or_folder) {
  const fs::path folder = model_path(name_or_folder);
  const CheckpointSource source = checkpoint_container(folder).open(folder);
  ModelCard card;
  if (JsonObject(source.config, source.config_place).text("model_type") == "attnscope") {
    card.config = model_config_from_json(source.config, source.config_place);
  }
  card.task = card.config ? implied_task(*card.config) : kTextTask;
  const std::string type =
      format_type(source.config, source.config_place, model_tower(name_or_folder));
  const auto format = std::ranges::find(checkpoint_formats(), type, &CheckpointFormat::model_type);
  if (format != checkpoint_formats().end() && !format->task.empty()) card.task = format->task;
  if (!has_card(folder)) return card;
  const Json card_json = read_json_file(folder / kCard);
  JsonObject object(card_json, (folder / kCard).string());
  card.group = object.text_or("group", "");
  card.summary = object.text_or("summary", "");
  card.task = object.text_or("task", card.task);
  card.sample = object.text_or("sample", "");
  card.layer = object.integer_or("layer", 0, 0, kMaxIndex);
  card.head = object.integer_or("head", 0, 0, kMaxIndex);
  object.finish();
  return card;
}

void save_card(const fs::path& folder, const std::string& task, const ModelConfig& config) {
  const bool implied = task == implied_task(config);
  if (!has_card(folder)) {
    if (!implied) write_file(folder / kCard, Json{{"task", task}}.dump(2) + "\n");
    return;
  }
  Json card = read_json_file(folder / kCard);  // keep the other members
  if (!card.is_object() || task_of(card, config) == task) return;
  card["task"] = task;
  write_file(folder / kCard, card.dump(2) + "\n");
}

std::string subtitle(const ModelCard& card) {
  if (!card.config) return card.summary;
  std::string text = rounded_count(parameter_count(*card.config));
  if (!card.summary.empty()) text += ", " + card.summary;
  return card.task == kTextTask ? text + ", " + attention_label(*card.config) : text;
}

std::vector<ModelGroup> bundled_groups() {
  std::vector<ModelGroup> groups;
  for (const std::string& title : kGroups) groups.push_back({title, {}});
  for (const std::string& name : bundled_models()) {
    ModelCard card;
    try {
      card = model_card(name);
    } catch (const InputError&) {  // loading the model reports the error
      card.group = "Cannot be read";
    }
    auto group = std::ranges::find(groups, card.group, &ModelGroup::title);
    if (group == groups.end()) group = groups.insert(groups.end(), {card.group, {}});
    group->models.push_back({name, card.config ? subtitle(card) : card.summary});
  }
  std::erase_if(groups, [](const ModelGroup& group) { return group.models.empty(); });
  return groups;
}

namespace {

ModelGroup group_by_type(std::string title, const std::vector<std::string>& names) {
  ModelGroup group{std::move(title), {}};
  for (const std::string& name : names) {
    try {
      const fs::path path = model_path(name);
      if (is_gguf(path)) {
        const double megabytes = static_cast<double>(fs::file_size(path)) / 1e6;
        group.models.push_back({name, "GGUF, " + brief(megabytes, 3) + " MB"});
        continue;
      }
      const CheckpointSource source = checkpoint_container(path).open(path);
      const std::string type = JsonObject(source.config, source.config_place).text("model_type");
      if (std::ranges::find(checkpoint_formats(), type, &CheckpointFormat::model_type) !=
          checkpoint_formats().end()) {
        group.models.push_back({name, "downloaded, " + type});
      }
    } catch (const std::exception&) {  // unsupported or unreadable: opening it reports the error
    }
  }
  return group;
}

}  // namespace

ModelGroup user_group() {
  return group_by_type("Your models", user_models());
}

ModelGroup downloaded_group() {
  return group_by_type("Hugging Face cache", hub_models());
}

std::vector<ModelGroup> model_groups() {
  std::vector<ModelGroup> groups{user_group()};
  for (ModelGroup& group : bundled_groups()) groups.push_back(std::move(group));
  groups.push_back(downloaded_group());
  std::erase_if(groups, [](const ModelGroup& group) { return group.models.empty(); });
  return groups;
}

}  // namespace attnscope
