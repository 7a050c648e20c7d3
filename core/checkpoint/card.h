// What a model's folder says of it to a person who chooses one: card.json beside config.json,
//   {"group": "Tasks", "summary": "nested brackets, halts by itself",
//    "task": "brackets", "sample": "nested", "layer": 0, "head": 3}
// all of which may be left out, as may the file: then the model's config says what it can.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/config.h"

namespace attnscope {

struct ModelCard {
  std::string group;    // beside which others it stands in lists; empty: beside those in folders
  std::string summary;  // what it reads or does, in a few words: "children's books"
  std::string task;     // what it was trained on: an id of core/training/task.h
  std::string sample;   // which sample shows it best (core/experiment/samples.h); empty: the first
  Index layer = 0, head = 0;          // where it is seen best
  std::optional<ModelConfig> config;  // of attnscope's own layout; others are read as texts are
};

inline constexpr const char* kTwins = "Twins";  // the group of models that differ by one choice

// A bundled model's name or a folder. InputError as of load_checkpoint(), as far as config.json and
// card.json tell.
ModelCard model_card(const std::string& name_or_folder);

// Into the folder of a model that was trained on this task, where its config does not imply it. Of
// a card that is there already the task is what changes.
void save_card(const std::filesystem::path& folder, const std::string& task,
               const ModelConfig& config);

// What a model of this config is trained on, as far as that says it: "trajectory", "image",
// "numbers" where it has source and target, "masked" where it fills in, else "text".
std::string implied_task(const ModelConfig& config);

// "5.1 million, children's books, whole words, RoPE"
std::string subtitle(const ModelCard& card);

// The bundled models by group, groups and models in the order of lists.
struct ModelGroup {
  std::string title;
  struct Entry {
    std::string name, subtitle;
  };
  std::vector<Entry> models;
};
std::vector<ModelGroup> bundled_groups();
// Those in the cache of the Hugging Face libraries that are of a layout which is read; no models
// where there are none.
ModelGroup downloaded_group();

}  // namespace attnscope
