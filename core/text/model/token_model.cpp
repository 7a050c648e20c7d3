#include "core/text/model/token_model.h"

#include <charconv>
#include <cstdio>

#include "core/base/error.h"
#include "core/text/tokenizer.h"

namespace attnscope {

std::int32_t Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? -1 : found->second;
}

void Vocabulary::reserve(std::size_t count) {
  tokens_.reserve(count);
  ids_.reserve(count);
}

void Vocabulary::add(std::string token, std::int32_t id, const std::string& where) {
  const auto index = static_cast<std::size_t>(id);
  if (index < tokens_.size() && !tokens_[index].empty() && tokens_[index] != token) {
    throw InputError(where + ": id " + std::to_string(id) + " stands for \"" + tokens_[index] +
                     "\" and \"" + token + "\"");
  }
  const std::int32_t known = find(token);
  if (known >= 0 && known != id) {
    throw InputError(where + ": token \"" + token + "\" has the ids " + std::to_string(known) +
                     " and " + std::to_string(id));
  }
  add_again(std::move(token), id);
}

void Vocabulary::add_again(std::string token, std::int32_t id) {
  const auto index = static_cast<std::size_t>(id);
  if (index >= tokens_.size()) tokens_.resize(index + 1);
  ids_.insert_or_assign(token, id);
  tokens_[index] = std::move(token);
}

int byte_of_token(std::string_view token) {
  int value = -1;
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return -1;
  const auto result = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  return result.ec == std::errc() && result.ptr == token.data() + 5 && value >= 0 ? value : -1;
}

std::string token_of_byte(unsigned char byte) {
  char name[8];
  std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
  return name;
}

std::vector<std::int32_t> byte_token_ids(const Vocabulary& vocabulary) {
  std::vector<std::int32_t> ids;
  for (int b = 0; b < 256; ++b) {
    ids.push_back(vocabulary.find(token_of_byte(static_cast<unsigned char>(b))));
  }
  return ids;
}

void no_token_for(std::string_view text) {
  throw InputError("text: the tokenizer has no token for \"" + visible(text) + "\"");
}

}  // namespace attnscope
