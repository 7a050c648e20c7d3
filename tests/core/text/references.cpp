#include "tests/core/text/references.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "core/base/file.h"
#include "core/base/json.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope::testing {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 24;

std::string vocab_txt(const Json& vocabulary) {
  std::map<Index, std::string> tokens;
  for (const auto& [token, id] : vocabulary.items()) tokens[id.get<Index>()] = token;
  std::string text;
  for (const auto& [id, token] : tokens) text += token + "\n";
  return text;
}

std::string vocab_json(const Json& tokenizer) {
  Json vocabulary = tokenizer["model"]["vocab"];
  for (const Json& token : tokenizer["added_tokens"]) {
    vocabulary[token["content"].text()] = token["id"];
  }
  return vocabulary.dump();
}

std::string merges_txt(const Json& merges) {
  std::string text = "#version: 0.2\n";
  for (const Json& merge : merges) {
    text += merge.is_string() ? merge.text() : merge[0].text() + " " + merge[1].text();
    text += "\n";
  }
  return text;
}

// Name of the folder whose vocabulary this folder has, or "".
std::string vocabulary_source(const std::string& name) {
  const fs::path file = reference_folder(name) / "vocabulary_of";
  return fs::exists(file) ? lines_of(file).at(0) : "";
}

}  // namespace

std::vector<std::string> lines_of(const fs::path& file) {
  std::istringstream text(read_file(file, kMaxFile));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

fs::path reference_folder(const std::string& name) {
  return source_folder() / "tests/core/text/references" / name;
}

std::vector<std::string> reference_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(reference_folder(""))) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::shared_ptr<const Tokenizer> reference_tokenizer(const std::string& name) {
  const fs::path folder = reference_folder(name);
  const std::string source = vocabulary_source(name);
  if (source.empty()) return load_tokenizer(folder);
  const Json saved = Json::parse(read_file(reference_folder(source) / "tokenizer.json", kMaxFile));
  const TemporaryFolder older;
  fs::copy(folder / "tokenizer_config.json", older.path());
  if (saved["model"].contains("merges")) {
    write_file(older.path() / "vocab.json", vocab_json(saved));
    write_file(older.path() / "merges.txt", merges_txt(saved["model"]["merges"]));
  } else {
    write_file(older.path() / "vocab.txt", vocab_txt(saved["model"]["vocab"]));
  }
  return load_tokenizer(older.path());
}

std::vector<std::string> reference_results(const std::string& name) {
  const std::string source = vocabulary_source(name);
  return lines_of(reference_folder(source.empty() ? name : source) / "expected");
}

}  // namespace attnscope::testing
