#include "core/text/bpe_tokenizer.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope {

BpeTokenizer::BpeTokenizer(BpeData data) : data_(std::move(data)) {
  std::stable_sort(
      data_.added.begin(), data_.added.end(),
      [](const AddedToken& a, const AddedToken& b) { return a.content.size() > b.content.size(); });
  for (const AddedToken& token : data_.added) added_starts_ += token.content[0];
}

std::int32_t BpeTokenizer::vocabulary_size() const {
  return static_cast<std::int32_t>(data_.tokens.size());
}

const AddedToken* BpeTokenizer::added_at(std::string_view text, std::size_t at) const {
  if (added_starts_.find(text[at]) == std::string::npos) return nullptr;
  for (const AddedToken& token : data_.added) {
    if (text.substr(at).starts_with(token.content)) return &token;
  }
  return nullptr;
}

const AddedToken* BpeTokenizer::added(std::int32_t id) const {
  for (const AddedToken& token : data_.added) {
    if (token.id == id) return &token;
  }
  return nullptr;
}

std::int32_t BpeTokenizer::find(const std::string& token) const {
  const auto found = data_.ids.find(token);
  return found == data_.ids.end() ? -1 : found->second;
}

std::vector<Token> BpeTokenizer::encode(std::string_view text) const {
  std::vector<Token> tokens;
  for (const std::int32_t id : data_.prefix) tokens.push_back({id, 0, 0, true});
  std::size_t stretch = 0;  // where what is not yet encoded begins
  const auto encode_until = [&](std::size_t end) {
    if (end == stretch) return;
    for (const Piece& p : encode_stretch(text.substr(stretch, end - stretch), stretch == 0)) {
      tokens.push_back({p.id, stretch + p.begin, stretch + p.end, false});
    }
  };
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* token = added_at(text, at);
    if (token == nullptr) {
      ++at;
      continue;
    }
    encode_until(at);
    tokens.push_back({token->id, at, at + token->content.size(), false});
    stretch = at += token->content.size();
  }
  encode_until(text.size());
  for (const std::int32_t id : data_.suffix) {
    tokens.push_back({id, text.size(), text.size(), true});
  }
  return tokens;
}

std::string BpeTokenizer::bytes(std::int32_t id) const {
  if (id < 0 || id >= vocabulary_size()) {
    throw InputError("token id " + std::to_string(id) + ": expected 0 to " +
                     std::to_string(vocabulary_size() - 1));
  }
  const AddedToken* token = added(id);
  return token ? token->content : bytes_of(id);
}

bool BpeTokenizer::is_special(std::int32_t id) const {
  const AddedToken* token = added(id);
  return token != nullptr && token->special;
}

void BpeTokenizer::save(const std::filesystem::path& folder) const {
  for (const auto& [name, bytes] : data_.files) write_file(folder / name, bytes);
}

}  // namespace attnscope
