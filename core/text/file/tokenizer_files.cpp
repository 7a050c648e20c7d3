// Formats of Hugging Face's tokenizers and transformers libraries, and of SentencePiece.
// Unsupported features that would change the ids are InputErrors. "truncation" and "padding" are
// ignored: the caller determines the length of the text.
#include "core/text/file/tokenizer_files.h"

#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/strict_json.h"
#include "core/text/file/json_steps.h"
#include "core/text/file/vocabulary_files.h"

namespace attnscope {
namespace {

constexpr const char* kSentencePieceFiles[] = {"spiece.model", "tokenizer.model"};

void read_tokenizer_json(const Entry& root, PipelineSteps& steps) {
  read_model(root, steps);
  read_normalizers(root, steps);
  read_splitters(root, steps);
  read_processors(root, steps);
  read_decoders(root, steps);
}

// Sets a member of all steps of a type in a section of tokenizer.json.
void set_in_steps(Json& step, const std::string& type, const std::string& key, const Json& value) {
  if (!step.is_object()) return;
  for (const char* list : {"normalizers", "pretokenizers"}) {
    if (!step.contains(list) || !step[list].is_array()) continue;
    Json steps = Json::array();
    for (const Json& inner : step[list]) {
      Json changed = inner;
      set_in_steps(changed, type, key, value);
      steps.push_back(std::move(changed));
    }
    step[list] = std::move(steps);
  }
  if (step.contains("type") && step["type"] == type) step[key] = value;
}

// Applies flags of tokenizer_config.json that the libraries' tokenizer classes prefer to
// tokenizer.json. The general class ignores them.
void apply_class_flags(const TokenizerConfig& config, Json& root) {
  const std::string name = config.class_name();
  if (name.empty() || name == "PreTrainedTokenizer" || !root.is_object()) return;
  struct Flag {
    const char *flag, *section, *type, *key;
  };
  for (const Flag& f :
       {Flag{"do_lower_case", "normalizer", "BertNormalizer", "lowercase"},
        Flag{"add_prefix_space", "pre_tokenizer", "ByteLevel", "add_prefix_space"}}) {
    const Entry entry = config.entry();
    if (!entry.has(f.flag) || !root.contains(f.section)) continue;
    Json section = root[f.section];
    set_in_steps(section, f.type, f.key, Json(entry.flag_or(f.flag, false)));
    root[f.section] = std::move(section);
  }
}

}  // namespace

std::shared_ptr<const Tokenizer> tokenizer_from_files(std::map<std::string, std::string> files,
                                                      std::string_view name,
                                                      std::map<std::string, std::string> saved) {
  const auto where = [&](const char* file) {
    return (std::filesystem::path(name) / file).string();
  };
  const auto parse = [&](const char* file) { return parse_json(files.at(file), where(file)); };
  const TokenizerConfig config(files, name);
  PipelineSteps steps;
  const char* sentencepiece = nullptr;
  for (const char* file : kSentencePieceFiles) {
    if (sentencepiece == nullptr && files.contains(file)) sentencepiece = file;
  }
  const bool steps_are_complete = files.contains("tokenizer.json");
  if (steps_are_complete) {
    Json root = parse("tokenizer.json");
    apply_class_flags(config, root);
    read_tokenizer_json({root, where("tokenizer.json")}, steps);
  } else if (files.contains("vocab.json") && files.contains("merges.txt")) {
    const Json vocabulary = parse("vocab.json");
    read_bpe_files({vocabulary, where("vocab.json")}, files.at("merges.txt"), where("merges.txt"),
                   config, steps);
  } else if (files.contains("source.spm") && files.contains("vocab.json")) {
    const Json vocabulary = parse("vocab.json");
    read_marian({vocabulary, where("vocab.json")}, files.at("source.spm"), where("source.spm"),
                config, steps);
  } else if (files.contains("vocab.txt")) {
    read_wordpiece_vocabulary(files.at("vocab.txt"), where("vocab.txt"), config, steps);
  } else if (sentencepiece != nullptr) {
    read_sentencepiece(files.at(sentencepiece), where(sentencepiece), config, steps);
  } else {
    throw InputError(
        std::string(name) +
        ": expected tokenizer.json, vocab.json with merges.txt, vocab.txt, spiece.model "
        "or tokenizer.model, found none");
  }
  // Like the libraries, ignores add_bos_token and add_eos_token next to tokenizer.json.
  if (!steps_are_complete) config.apply_flags(steps);
  config.find_mask(steps);
  steps.files = saved.empty() ? std::move(files) : std::move(saved);
  return pipeline_tokenizer(std::move(steps));
}

const std::vector<std::string>& tokenizer_file_names() {
  static const std::vector<std::string> names = {"tokenizer.json",
                                                 "tokenizer_config.json",
                                                 "special_tokens_map.json",
                                                 "added_tokens.json",
                                                 "vocab.json",
                                                 "merges.txt",
                                                 "source.spm",
                                                 "target.spm",
                                                 "target_tokenizer.json",
                                                 "vocab.txt",
                                                 "spiece.model",
                                                 "tokenizer.model"};
  return names;
}

namespace {

// Rejects Transformer-XL's pickled vocabulary: unpickling can run arbitrary code.
[[noreturn]] void refuse_pickled_words(const std::filesystem::path& folder, const char* file) {
  const bool torch = std::string_view(file) == "vocab.bin";
  const std::string path = (folder / file).string();
  throw InputError(
      path +
      ": expected tokenizer.json, found a pickle, which can run arbitrary code; convert it: "
      "python3 -c \"import json, " +
      (torch ? "torch; v = torch.load('" + path + "', weights_only=False)"
             : "pickle; v = pickle.load(open('" + path + "', 'rb'))") +
      "['sym2idx']; json.dump({'model': {'type': 'WordLevel', 'vocab': v, 'unk_token': '<unk>'}, "
      "'pre_tokenizer': {'type': 'WhitespaceSplit'}}, open('" +
      (folder / "tokenizer.json").string() + "', 'w'))\"");
}

}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  const auto read_if_present = [&](const char* name) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / name, ignored)) {
      files[name] = read_file(folder / name, limits::kMaxTokenizer);
    }
  };
  read_if_present("tokenizer.json");
  read_if_present("tokenizer_config.json");
  if (!files.contains("tokenizer.json")) {
    for (const char* name : {"special_tokens_map.json", "added_tokens.json", "vocab.json",
                             "merges.txt", "vocab.txt", "source.spm"}) {
      read_if_present(name);
    }
    const bool has_vocabulary = files.contains("vocab.txt") ||
                                (files.contains("vocab.json") &&
                                 (files.contains("merges.txt") || files.contains("source.spm")));
    if (!has_vocabulary) {
      for (const char* name : kSentencePieceFiles) read_if_present(name);
    }
  }
  for (const char* pickled : {"vocab.pkl", "vocab.bin"}) {
    std::error_code ignored;
    const bool is_only_file =
        files.empty() || (files.size() == 1 && files.contains("tokenizer_config.json"));
    if (is_only_file && std::filesystem::exists(folder / pickled, ignored)) {
      refuse_pickled_words(folder, pickled);
    }
  }
  return tokenizer_from_files(std::move(files), folder.string());
}

std::shared_ptr<const Tokenizer> load_target_tokenizer(const std::filesystem::path& folder) {
  const auto has = [&](const char* name) {
    std::error_code ignored;
    return std::filesystem::exists(folder / name, ignored);
  };
  const auto read = [&](const char* name) {
    return read_file(folder / name, limits::kMaxTokenizer);
  };
  std::map<std::string, std::string> files, saved;
  if (has("target_tokenizer.json")) {
    files["tokenizer.json"] = saved["target_tokenizer.json"] = read("target_tokenizer.json");
  } else if (has("target.spm") && has("vocab.json") && !has("tokenizer.json")) {
    // Marian can have one vocabulary per language.
    files["vocab.json"] = read(has("target_vocab.json") ? "target_vocab.json" : "vocab.json");
    files["source.spm"] = saved["target.spm"] = read("target.spm");
    for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
      if (has(name)) files[name] = read(name);
    }
    if (has("target_vocab.json")) saved["target_vocab.json"] = files["vocab.json"];
  } else {
    return nullptr;
  }
  return tokenizer_from_files(std::move(files), (folder / "target").string(), std::move(saved));
}

}  // namespace attnscope
