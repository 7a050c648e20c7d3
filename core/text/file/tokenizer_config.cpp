#include <algorithm>
#include <charconv>

#include "core/base/strict_json.h"
#include "core/text/file/vocabulary_files.h"

namespace attnscope {
namespace {

constexpr const char* kSpecials[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                     "pad_token", "cls_token", "mask_token"};

bool is_added(const PipelineSteps& steps, std::string_view content) {
  return std::ranges::any_of(steps.added,
                             [&](const AddedToken& token) { return token.content == content; });
}

AddedToken read_added_token(const Entry& entry, std::int32_t id, bool special) {
  AddedToken token;
  token.id = id;
  token.special = special;
  if (entry.value.is_string()) {
    token.content = entry.text();
    token.normalized = !special;
  } else {
    token.content = entry.at("content").text();
    token.special = special || entry.flag_or("special", false);
    token.single_word = entry.flag_or("single_word", false);
    token.lstrip = entry.flag_or("lstrip", false);
    token.rstrip = entry.flag_or("rstrip", false);
    token.normalized = entry.flag_or("normalized", !token.special);
  }
  return token;
}

std::int32_t parse_id(const std::string& key, const std::string& where) {
  std::int64_t id = -1;
  const char* end = key.data() + key.size();
  const auto read = std::from_chars(key.data(), end, id);
  if (read.ec != std::errc() || read.ptr != end || id < 0 || id >= kMaxTokens) {
    throw InputError(where + ": expected token ids as keys, found " + shortened(Json(key)));
  }
  return static_cast<std::int32_t>(id);
}

}  // namespace

TokenizerConfig::TokenizerConfig(const std::map<std::string, std::string>& files,
                                 std::string_view folder) {
  const auto read = [&](const char* name) {
    const std::string where = (std::filesystem::path(folder) / name).string();
    const auto found = files.find(name);
    Json object = found == files.end() ? Json::object() : parse_json(found->second, where);
    if (!object.is_object()) Entry{object, where}.fail("an object");
    return object;
  };
  where_ = (std::filesystem::path(folder) / "tokenizer_config.json").string();
  config_ = read("tokenizer_config.json");
  specials_ = read("special_tokens_map.json");
  added_ = read("added_tokens.json");
}

std::string TokenizerConfig::class_name() const {
  std::string name = entry().text_or("tokenizer_class", "");
  if (name.ends_with("Fast")) name.erase(name.size() - 4);
  return name;
}

std::string TokenizerConfig::special(const char* key, const char* fallback) const {
  for (const Json* object : {&config_, &specials_}) {
    const Entry all{*object, where_};
    if (!all.has(key)) continue;
    const Entry found = all.at(key);
    return found.value.is_object() ? found.at("content").text() : found.text();
  }
  return fallback;
}

void TokenizerConfig::add_tokens(PipelineSteps& steps) const {
  const Entry config = entry();
  if (config.has("added_tokens_decoder")) {
    const Entry list = config.at("added_tokens_decoder");
    if (!list.value.is_object()) list.fail("an object");
    for (const auto& [key, value] : list.value.items()) {
      const std::string where = list.where + ": " + key;
      AddedToken token = read_added_token({value, where}, parse_id(key, list.where), false);
      if (token.content.empty()) throw InputError(where + ": expected a non-empty string");
      steps.vocabulary->add_outside(token.content, token.id, where);
      steps.added.push_back(std::move(token));
    }
  }
  for (const auto& [content, id] : added_.items()) {
    const Entry value{id, where_ + ": added_tokens.json: " + content};
    if (is_added(steps, content) || content.empty()) continue;
    steps.vocabulary->add_outside(content, value.token_id(), value.where);
    steps.added.push_back(read_added_token({Json(content), value.where}, value.token_id(), false));
  }
  const auto add = [&](const Entry& found) {
    const std::string content = found.value.is_object() ? found.at("content").text() : found.text();
    const std::int32_t id = steps.vocabulary->find(content);
    if (id < 0 || content.empty() || is_added(steps, content)) return;
    steps.added.push_back(read_added_token(found, id, true));
  };
  for (const Json* object : {&config_, &specials_}) {
    const Entry all{*object, where_};
    for (const char* key : kSpecials) {
      if (all.has(key)) add(all.at(key));
    }
    if (all.has("additional_special_tokens")) {
      for (const Entry& token : all.at("additional_special_tokens").items()) add(token);
    }
  }
}

std::int32_t TokenizerConfig::special_id(const PipelineSteps& steps, const char* key,
                                         const char* fallback) const {
  const std::string content = special(key, fallback);
  const std::int32_t id = steps.vocabulary->find(content);
  if (id < 0) {
    throw InputError(where_ + ": " + key + ": \"" + content + "\" is not in the vocabulary");
  }
  return id;
}

void TokenizerConfig::apply_flags(PipelineSteps& steps) const {
  const Entry config = entry();
  for (const bool begins : {true, false}) {
    const char* flag = begins ? "add_bos_token" : "add_eos_token";
    const char* key = begins ? "bos_token" : "eos_token";
    if (!config.has(flag)) continue;
    const bool enabled = config.flag_or(flag, false);
    const std::int32_t id = steps.vocabulary->find(special(key));
    if (id < 0 && enabled) {
      throw InputError(where_ + ": " + flag + " requires a known " + key);
    }
    if (id >= 0) (begins ? set_before : set_after)(steps.around, id, enabled);
  }
}

void TokenizerConfig::find_mask(PipelineSteps& steps) const {
  const std::string mask_content = special("mask_token");
  for (const std::string& content : {mask_content, std::string("[MASK]"), std::string("<mask>")}) {
    if (steps.mask < 0 && is_added(steps, content)) steps.mask = steps.vocabulary->find(content);
  }
}

}  // namespace attnscope
