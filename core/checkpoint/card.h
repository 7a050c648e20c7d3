// Model cards: the description of a model for lists, card.json next to config.json,
//   {"group": "Tasks", "summary": "nested brackets, halts by itself",
//    "task": "brackets", "sample": "nested", "layer": 0, "head": 3}
// Every member and the file itself are optional; defaults follow from the model's config.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/config.h"

namespace attnscope {

struct ModelCard {
  std::string group;    // heading in lists; empty: with the models in folders
  std::string summary;  // training data or task in a few words: "children's books"
  std::string task;     // training task: an id of core/training/task.h
  std::string sample;   // most illustrative sample (core/experiment/samples.h); empty: the first
  Index layer = 0, head = 0;          // most illustrative head
  std::optional<ModelConfig> config;  // for attnscope's own layout only; other models read text
};

inline constexpr const char* kTwins = "Twins";  // the group of models that differ by one choice

// Reads the card of a bundled model or a folder. Throws InputError as load_checkpoint() does, for
// config.json and card.json.
ModelCard model_card(const std::string& name_or_folder);

// Writes the card of a model trained on `task`, unless its config implies that task. In an existing
// card only the task changes.
void save_card(const std::filesystem::path& folder, const std::string& task,
               const ModelConfig& config);

// Training task implied by a config: "trajectory", "image", "numbers" for source and target,
// "masked" for masked prediction, else "text".
std::string implied_task(const ModelConfig& config);

// "5.1 million, children's books, whole words, RoPE"
std::string subtitle(const ModelCard& card);

// Bundled models by group; groups and models in the order of lists.
struct ModelGroup {
  std::string title;
  struct Entry {
    std::string name, subtitle;
  };
  std::vector<Entry> models;
};
std::vector<ModelGroup> bundled_groups();
// Models in the Hugging Face cache whose layout is supported; may be empty.
ModelGroup downloaded_group();

}  // namespace attnscope
