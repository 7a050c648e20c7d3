// Targets for model folders in every supported layout, configurations, cards, retrieval stores.
#include <filesystem>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/card.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/config.h"
#include "core/model/retrieval.h"
#include "tests/fuzz/target.h"
#include "tests/support/places.h"

namespace attnscope::fuzz {
namespace {

namespace fs = std::filesystem;

void read_checkpoint(const std::string& input) {
  load_checkpoint(write_folder(unpack(input)).string());
}

void read_config(const std::string& input) {
  const ModelConfig config = model_config_from_json(parse_json(input, "f"), "f");
  check(config, "f");
  if (model_config_from_json(to_json(config), "again") != config) {
    throw std::logic_error("config changed in a round trip");
  }
}

void read_card(const std::string& input) {
  subtitle(model_card(write_folder(unpack(input)).string()));
}

void read_store(const std::string& input) {
  const fs::path path = write_input_file("f.safetensors", input);
  is_store(path);
  load_store(path);
}

std::vector<std::string> folders_below(const char* folder, std::size_t max_bytes) {
  std::vector<std::string> seeds;
  for (const auto& entry : fs::directory_iterator(testing::source_folder() / folder)) {
    if (!entry.is_directory()) continue;
    Files files = files_of(entry.path(), max_bytes);
    std::erase_if(files, [](const auto& file) {
      return file.first == "reference.npz" || file.first == "models.txt" ||
             file.first.ends_with(".md") || file.first.starts_with("expected");
    });
    if (files.contains("config.json")) seeds.push_back(pack(files));
  }
  std::ranges::sort(seeds);
  return seeds;
}

std::vector<std::string> checkpoint_seeds() {
  return folders_below("tests/layouts", 50000);
}

std::vector<std::string> config_seeds() {
  return files_below("assets/models", "config.json", 20000);
}

std::vector<std::string> card_seeds() {
  return folders_below("assets/models", 3000);
}

std::vector<std::string> store_seeds() {
  Json header = Json::parse(
      R"({"keys": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
          "places": {"dtype": "I32", "shape": [2, 2], "data_offsets": [16, 32]},
          "values": {"dtype": "I32", "shape": [2], "data_offsets": [32, 40]}})");
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  return {std::string(reinterpret_cast<const char*>(&length), sizeof length) + text +
          std::string(40, '\0')};
}

}  // namespace

Target checkpoint_target() {
  return {"checkpoint", Format::Folder, read_checkpoint, checkpoint_seeds};
}
Target config_target() {
  return {"config", Format::Json, read_config, config_seeds};
}
Target card_target() {
  return {"card", Format::Folder, read_card, card_seeds};
}
Target store_target() {
  return {"store", Format::Safetensors, read_store, store_seeds};
}

}  // namespace attnscope::fuzz
