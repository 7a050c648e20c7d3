// The formats are those of Hugging Face's tokenizers and transformers libraries. What would change
// the ids and is not understood here is refused by name. "truncation" and "padding" are ignored:
// how much of a text is used is the caller's choice.
#include "core/text/tokenizer_file.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/text/bpe_tokenizer.h"

namespace attnscope {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 28;  // of one file
constexpr std::int64_t kMostTokens = 1 << 22;

// A value inside a file, with what its messages begin with.
struct Entry {
  const Json& value;
  std::string where;  // "FOLDER/tokenizer.json: model"

  [[noreturn]] void fail(const std::string& expected) const {
    throw InputError(where + ": expected " + expected + ", found " + shortened(value));
  }
  bool has(const char* key) const {
    return value.is_object() && value.contains(key) && !value[key].is_null();
  }
  Entry at(const char* key) const {
    if (!has(key)) throw InputError(where + ": \"" + key + "\" is missing");
    return {value[key], where + ": " + key};
  }
  const std::string& text() const {
    if (!value.is_string()) fail("a text");
    return value.text();
  }
  std::string text_or(const char* key, const char* otherwise) const {
    return has(key) ? at(key).text() : otherwise;
  }
  bool flag_or(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    if (!value[key].is_boolean()) at(key).fail("true or false");
    return value[key].get<bool>();
  }
  std::int32_t token_id() const {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
        value.get<std::int64_t>() >= kMostTokens) {
      fail("a token id from 0 to " + std::to_string(kMostTokens - 1));
    }
    return value.get<std::int32_t>();
  }
  std::vector<Entry> items() const {
    if (!value.is_array()) fail("a list");
    std::vector<Entry> all;
    for (std::size_t i = 0; i < value.size(); ++i) {
      all.push_back({value[i], where + "[" + std::to_string(i) + "]"});
    }
    return all;
  }
};

// A section's steps: nothing, one object with a "type", or a "Sequence" of them under `list`.
std::vector<Entry> steps(const Entry& root, const char* section, const char* list) {
  if (!root.has(section)) return {};
  const Entry only = root.at(section);
  if (only.at("type").text() != "Sequence") return {only};
  std::vector<Entry> all = only.at(list).items();
  for (const Entry& step : all) step.at("type").text();
  return all;
}

std::string type_of(const Entry& step) {
  return step.at("type").text();
}

[[noreturn]] void unsupported(const Entry& step) {
  throw InputError(step.where + ": " + shortened(step.value) + " is not supported");
}

void put_token(BpeData& data, const std::string& token, std::int32_t id, const std::string& where) {
  const auto index = static_cast<std::size_t>(id);
  if (index >= data.tokens.size()) data.tokens.resize(index + 1);
  if (!data.tokens[index].empty() && data.tokens[index] != token) {
    throw InputError(where + ": id " + std::to_string(id) + " stands for \"" + data.tokens[index] +
                     "\" and \"" + token + "\"");
  }
  const auto [known, is_new] = data.ids.emplace(token, id);
  if (!is_new && known->second != id) {
    throw InputError(where + ": token \"" + token + "\" has the ids " +
                     std::to_string(known->second) + " and " + std::to_string(id));
  }
  data.tokens[index] = token;
}

void read_vocabulary(const Entry& vocabulary, BpeData& data) {
  if (!vocabulary.value.is_object()) vocabulary.fail("an object of token ids");
  for (const auto& [token, id] : vocabulary.value.items()) {
    const Entry entry{id, vocabulary.where + ": \"" + token + "\""};
    if (token.empty()) throw InputError(vocabulary.where + ": a token is empty");
    put_token(data, token, entry.token_id(), vocabulary.where);
  }
  if (data.tokens.empty()) throw InputError(vocabulary.where + ": no token");
}

void add_merge(BpeData& data, const std::string& left, const std::string& right,
               const std::string& where) {
  const auto id_of = [&](const std::string& token) {
    const auto found = data.ids.find(token);
    if (found == data.ids.end()) {
      throw InputError(where + ": \"" + token + "\" is not in the vocabulary");
    }
    return found->second;
  };
  data.merges.add(id_of(left), id_of(right), id_of(left + right));
}

// "a b"
void add_merge(BpeData& data, const std::string& pair, const std::string& where) {
  const std::size_t space = pair.find(' ');
  if (space == std::string::npos || pair.find(' ', space + 1) != std::string::npos) {
    throw InputError(where + ": expected two tokens with a space between, found " +
                     shortened(Json(pair)));
  }
  add_merge(data, pair.substr(0, space), pair.substr(space + 1), where);
}

void read_merges(const Entry& merges, BpeData& data) {
  for (const Entry& merge : merges.items()) {
    if (merge.value.is_string()) {
      add_merge(data, merge.text(), merge.where);
      continue;
    }
    const std::vector<Entry> pair = merge.items();
    if (pair.size() != 2) merge.fail("two tokens");
    add_merge(data, pair[0].text(), pair[1].text(), merge.where);
  }
}

void read_added_tokens(const Entry& root, BpeData& data) {
  if (!root.has("added_tokens")) return;
  for (const Entry& token : root.at("added_tokens").items()) {
    for (const char* key : {"single_word", "lstrip", "rstrip"}) {
      if (token.flag_or(key, false)) {
        throw InputError(token.where + ": \"" + key + "\": true is not supported");
      }
    }
    const std::string& content = token.at("content").text();
    if (content.empty()) token.at("content").fail("a text that is not empty");
    const std::int32_t id = token.at("id").token_id();
    put_token(data, content, id, token.where);
    data.added.push_back({content, id, token.flag_or("special", false)});
  }
}

// The tokens that a template puts before and after the text.
void read_template(const Entry& step, BpeData& data) {
  bool after = false;
  for (const Entry& part : step.at("single").items()) {
    if (part.has("Sequence")) {
      if (after || part.at("Sequence").at("id").text() != "A") unsupported(part);
      after = true;
      continue;
    }
    const std::string& name = part.at("SpecialToken").at("id").text();
    for (const Entry& id : step.at("special_tokens").at(name.c_str()).at("ids").items()) {
      const std::int32_t number = id.token_id();
      if (static_cast<std::size_t>(number) >= data.tokens.size()) id.fail("a known token id");
      (after ? data.suffix : data.prefix).push_back(number);
    }
  }
  if (!after) step.at("single").fail("the sequence A among its parts");
}

void read_post_processor(const Entry& root, BpeData& data) {
  for (const Entry& step : steps(root, "post_processor", "processors")) {
    if (type_of(step) == "TemplateProcessing") {
      read_template(step, data);
    } else if (type_of(step) != "ByteLevel") {  // which moves offsets alone
      unsupported(step);
    }
  }
}

// What stands under bos_token and the like: a text, or an object with the text.
std::string special_text(const Entry& config, const char* key) {
  if (!config.has(key)) return "";
  const Entry entry = config.at(key);
  return entry.value.is_object() ? entry.at("content").text() : entry.text();
}

// What "add_bos_token" or "add_eos_token" says of a token beside every text; nothing: it is as the
// post-processor says.
struct Wish {
  std::int32_t id;
  bool wanted;
};
std::optional<Wish> wish(const Entry& config, const char* flag, const char* token,
                         const BpeData& data) {
  if (!config.has(flag)) return std::nullopt;
  const auto found = data.ids.find(special_text(config, token));
  const bool wanted = config.flag_or(flag, false);
  if (found != data.ids.end()) return Wish{found->second, wanted};
  if (wanted) throw InputError(config.where + ": " + flag + " without a known " + token);
  return std::nullopt;
}

// The flags overrule the post-processor, as in the transformers library.
void apply_config(const Entry& config, BpeData& data) {
  if (const auto bos = wish(config, "add_bos_token", "bos_token", data)) {
    const bool there = !data.prefix.empty() && data.prefix.front() == bos->id;
    if (bos->wanted && !there) data.prefix.insert(data.prefix.begin(), bos->id);
    if (!bos->wanted && there) data.prefix.erase(data.prefix.begin());
  }
  if (const auto eos = wish(config, "add_eos_token", "eos_token", data)) {
    const bool there = !data.suffix.empty() && data.suffix.back() == eos->id;
    if (eos->wanted && !there) data.suffix.push_back(eos->id);
    if (!eos->wanted && there) data.suffix.pop_back();
  }
}

// What a pre-tokenizer's step other than ByteLevel does; the expressions that are known.
Splitter splitter_of(const Entry& step) {
  if (type_of(step) == "Digits" && step.flag_or("individual_digits", false)) return split_numbers;
  if (type_of(step) != "Split" || step.flag_or("invert", false) ||
      step.text_or("behavior", "") != "Isolated" || !step.at("pattern").has("Regex")) {
    unsupported(step);
  }
  const std::string gpt2 =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  const std::string begin = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})";
  const std::string end = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  const auto llama3 = [](std::size_t digits) -> Splitter {
    return [digits](std::string_view text, const std::function<void(std::string_view)>& piece) {
      split_as_llama3(text, digits, piece);
    };
  };
  const std::string pattern = step.at("pattern").at("Regex").text();
  if (pattern == gpt2) return split_as_gpt2;
  if (pattern == begin + "{1,3}" + end) return llama3(3);
  if (pattern == begin + end) return llama3(1);
  unsupported(step);
}

ByteLevelOptions byte_level_options(const Entry& root) {
  for (const Entry& step : steps(root, "normalizer", "normalizers")) unsupported(step);
  ByteLevelOptions options;
  options.splits.clear();
  for (const Entry& step : steps(root, "pre_tokenizer", "pretokenizers")) {
    if (type_of(step) != "ByteLevel") {
      options.splits.push_back(splitter_of(step));
      continue;
    }
    options.prefix_space = step.flag_or("add_prefix_space", true);
    if (options.prefix_space && !options.splits.empty()) unsupported(step);  // before each piece
    if (step.flag_or("use_regex", true)) options.splits.emplace_back(split_as_gpt2);
  }
  for (const Entry& step : steps(root, "decoder", "decoders")) {
    if (type_of(step) != "ByteLevel") unsupported(step);
  }
  options.whole_words = root.at("model").flag_or("ignore_merges", false);
  return options;
}

using Prepend = SentencePieceOptions::Prepend;

void read_metaspace(const Entry& step, SentencePieceOptions& options) {
  options.space = step.text_or("replacement", "▁");
  if (options.space.empty()) step.at("replacement").fail("a text that is not empty");
  options.split_at_spaces = step.flag_or("split", true);
  options.prepend_even_to_space = false;
  const std::string scheme =
      step.text_or("prepend_scheme", step.flag_or("add_prefix_space", true) ? "always" : "never");
  if (scheme == "always") {
    options.prepend = Prepend::Always;
  } else if (scheme == "first") {
    options.prepend = Prepend::First;
  } else if (scheme == "never") {
    options.prepend = Prepend::Never;
  } else {
    step.at("prepend_scheme").fail("\"always\", \"first\" or \"never\"");
  }
}

void read_normalizer(const Entry& root, SentencePieceOptions& options) {
  std::string prepended;
  for (const Entry& step : steps(root, "normalizer", "normalizers")) {
    if (type_of(step) == "Prepend") {
      prepended = step.at("prepend").text();
    } else if (type_of(step) == "Replace" && step.at("pattern").has("String") &&
               step.at("pattern").at("String").text() == " " &&
               !step.at("content").text().empty()) {
      options.space = step.at("content").text();
    } else {
      unsupported(step);
    }
  }
  if (prepended.empty()) return;
  if (prepended != options.space && prepended != " ") {
    root.at("normalizer").fail("a prepended space");
  }
  options.prepend = Prepend::Always;
}

void read_decoder(const Entry& root, SentencePieceOptions& options) {
  for (const Entry& step : steps(root, "decoder", "decoders")) {
    const std::string type = type_of(step);
    if (type == "Strip") {
      const bool usual = step.at("content").text() == " " && step.at("start").value == 1 &&
                         step.at("stop").value == 0;
      if (!usual) unsupported(step);
      options.strip_space = true;
    } else if (type == "Metaspace") {
      options.strip_space = options.prepend != Prepend::Never;
    } else if (type == "Replace") {
      const bool usual = step.at("pattern").has("String") &&
                         step.at("pattern").at("String").text() == options.space &&
                         step.at("content").text() == " ";
      if (!usual) unsupported(step);
    } else if (type != "ByteFallback" && type != "Fuse") {
      unsupported(step);
    }
  }
}

SentencePieceOptions sentencepiece_options(const Entry& root, const BpeData& data) {
  SentencePieceOptions options;
  read_normalizer(root, options);
  for (const Entry& step : steps(root, "pre_tokenizer", "pretokenizers")) {
    if (type_of(step) != "Metaspace") unsupported(step);
    read_metaspace(step, options);
  }
  read_decoder(root, options);
  const Entry model = root.at("model");
  options.byte_fallback = model.flag_or("byte_fallback", false);
  options.fuse_unknown = model.flag_or("fuse_unk", false);
  if (model.flag_or("ignore_merges", false)) {
    throw InputError(model.where + ": ignore_merges: true is not supported here");
  }
  if (model.has("unk_token")) {
    const auto found = data.ids.find(model.at("unk_token").text());
    if (found == data.ids.end()) model.at("unk_token").fail("a token of the vocabulary");
    options.unknown = found->second;
  }
  return options;
}

void check_model(const Entry& model) {
  if (model.text_or("type", "BPE") != "BPE") model.at("type").fail("\"BPE\"");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.text_or(key, "").empty()) model.at(key).fail("nothing");
  }
  if (model.has("dropout") && model.value["dropout"] != 0) model.at("dropout").fail("none");
}

bool is_byte_level(const Entry& root) {
  for (const Entry& step : steps(root, "pre_tokenizer", "pretokenizers")) {
    if (type_of(step) == "ByteLevel") return true;
  }
  return false;
}

std::shared_ptr<const Tokenizer> from_tokenizer_json(const Entry& root, const Entry& config,
                                                     BpeData data) {
  const Entry model = root.at("model");
  check_model(model);
  read_vocabulary(model.at("vocab"), data);
  if (model.has("merges")) read_merges(model.at("merges"), data);
  read_added_tokens(root, data);
  read_post_processor(root, data);
  apply_config(config, data);
  if (is_byte_level(root)) {
    return byte_level_tokenizer(std::move(data), byte_level_options(root), root.where);
  }
  const SentencePieceOptions options = sentencepiece_options(root, data);
  return sentencepiece_tokenizer(std::move(data), options);
}

std::shared_ptr<const Tokenizer> from_vocabulary(const Entry& vocabulary, const Entry& config,
                                                 const std::string& merges_where, BpeData data) {
  read_vocabulary(vocabulary, data);
  const std::string& merges = data.files.at("merges.txt");
  for (std::size_t at = 0, number = 1; at < merges.size(); ++number) {
    const std::size_t end = std::min(merges.find('\n', at), merges.size());
    std::string line = merges.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    add_merge(data, line, merges_where + " line " + std::to_string(number));
  }
  for (const char* key : {"bos_token", "eos_token", "unk_token", "pad_token"}) {
    const std::string content = special_text(config, key);
    const auto found = data.ids.find(content);
    const bool known = std::any_of(data.added.begin(), data.added.end(),
                                   [&](const AddedToken& t) { return t.content == content; });
    if (found != data.ids.end() && !known) data.added.push_back({content, found->second, true});
  }
  apply_config(config, data);
  ByteLevelOptions options;
  options.prefix_space = config.flag_or("add_prefix_space", false);
  return byte_level_tokenizer(std::move(data), options, vocabulary.where);
}

}  // namespace

std::shared_ptr<const Tokenizer> tokenizer_from_files(std::map<std::string, std::string> files,
                                                      std::string_view name) {
  const auto where = [&](const char* file) {
    return (std::filesystem::path(name) / file).string();
  };
  const auto parsed = [&](const char* file) {
    return files.contains(file) ? parse_json(files.at(file), where(file)) : Json::object();
  };
  const Json config = parsed("tokenizer_config.json");
  const Entry config_entry{config, where("tokenizer_config.json")};
  if (!config.is_object()) config_entry.fail("an object");
  BpeData data;
  if (files.contains("tokenizer.json")) {
    const Json root = parsed("tokenizer.json");
    data.files = std::move(files);
    return from_tokenizer_json({root, where("tokenizer.json")}, config_entry, std::move(data));
  }
  if (!files.contains("vocab.json") || !files.contains("merges.txt")) {
    throw InputError(std::string(name) + ": no tokenizer.json, nor vocab.json and merges.txt");
  }
  const Json vocabulary = parsed("vocab.json");
  data.files = std::move(files);
  return from_vocabulary({vocabulary, where("vocab.json")}, config_entry, where("merges.txt"),
                         std::move(data));
}

const std::vector<std::string>& tokenizer_file_names() {
  static const std::vector<std::string> names = {"tokenizer.json", "tokenizer_config.json",
                                                 "vocab.json", "merges.txt"};
  return names;
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  const auto take = [&](const char* name) {
    if (std::filesystem::exists(folder / name)) files[name] = read_file(folder / name, kMostBytes);
  };
  take("tokenizer.json");
  take("tokenizer_config.json");
  if (!files.contains("tokenizer.json")) {
    take("vocab.json");
    take("merges.txt");
  }
  return tokenizer_from_files(std::move(files), folder.string());
}

}  // namespace attnscope
