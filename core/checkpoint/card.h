// Model cards: descriptions of models for lists, stored as card.json next to config.json:
//   {"group": "Tasks", "summary": "nested brackets, adaptive steps",
//    "task": "brackets", "sample": "nested", "layer": 0, "head": 3}
// Every member and the file itself are optional; defaults follow from the model's config.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/config.h"

namespace attnscope {

struct ModelCard {
  std::string group;    // heading in lists; empty: no heading
  std::string summary;  // training data or task in a few words: "children's books"
  std::string task;     // training task: an id of core/training/task.h
  std::string sample;   // illustrative sample (core/experiment/samples.h); empty: the first one
  Index layer = 0, head = 0;          // most illustrative head
  std::optional<ModelConfig> config;  // nullopt unless config.json is in attnscope's own format
};

inline constexpr const char* kTwins = "Twins";  // group of bundled models that differ in one choice

// Reads the card of a bundled model or a folder. InputError if config.json or card.json is invalid.
ModelCard model_card(const std::string& name_or_folder);

// Stores `task` in the card of `folder`, keeping its other members. Creates no card if `config`
// implies the task.
void save_card(const std::filesystem::path& folder, const std::string& task,
               const ModelConfig& config);

// Training task implied by a config: "trajectory"; "image"; "numbers" for an encoder-decoder;
// "masked" for a masked language model; else "text".
std::string implied_task(const ModelConfig& config);

// Number of parameters, summary, attention: "5.1 million, children's books, whole words, RoPE".
std::string subtitle(const ModelCard& card);

// Models under a common heading, in display order.
struct ModelGroup {
  std::string title;
  struct Entry {
    std::string name, subtitle;
  };
  std::vector<Entry> models;
};
std::vector<ModelGroup> bundled_groups();
// Models of the user's models folder. May be empty.
ModelGroup user_group();
// Models in the Hugging Face cache whose layout is supported. May be empty.
ModelGroup downloaded_group();
// Non-empty groups: the user's, then bundled, then downloaded models.
std::vector<ModelGroup> model_groups();

}  // namespace attnscope
