// Published models that app/get-model.sh fetches into the user's models folder.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

struct PublishedModel {
  std::string id;       // argument of get-model.sh: "smollm2"
  std::string name;     // "SmolLM2-135M"
  std::string file;     // in the user's models folder: "SmolLM2-135M-Instruct.Q4_1.gguf"
  std::string licence;  // "Apache-2.0"
  double megabytes = 0;
};

const PublishedModel& smollm2();
// The published model of this file name; null: none.
const PublishedModel* published_model(std::string_view file);

// True if the user's models folder has a model of this name.
bool is_installed(const std::string& model);

}  // namespace attnscope
