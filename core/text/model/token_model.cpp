#include "core/text/model/token_model.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <functional>
#include <utility>

#include "core/base/error.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

std::uint32_t hash_of(std::string_view token) {
  const std::size_t hash = std::hash<std::string_view>{}(token);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

}  // namespace

// Slot of the token, or the free slot where it belongs. Slots of replaced tokens remain, but do not
// match tokens_.
std::size_t Vocabulary::slot_of(std::string_view token, std::uint32_t hash) const {
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at].id >= 0) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash && tokens_[static_cast<std::size_t>(slot.id)] == token) break;
    at = (at + 1) & (slots_.size() - 1);
  }
  return at;
}

void Vocabulary::grow(std::size_t slots) {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : old) {
    if (slot.id < 0) continue;
    slots_[slot_of(tokens_[static_cast<std::size_t>(slot.id)], slot.hash)] = slot;
  }
}

std::int32_t Vocabulary::find(std::string_view token) const {
  return slots_.empty() ? -1 : slots_[slot_of(token, hash_of(token))].id;
}

std::int32_t Vocabulary::find_in_model(std::string_view token) const {
  const std::int32_t id = find(token);
  return outside_.contains(id) ? -1 : id;
}

void Vocabulary::add_outside(std::string token, std::int32_t id, const std::string& where) {
  const bool is_new = find(token) < 0;
  add(std::move(token), id, where);
  if (is_new) outside_.insert(id);
}

void Vocabulary::reserve(std::size_t count) {
  tokens_.reserve(count);
  if (slots_.size() < 2 * count) grow(std::bit_ceil(2 * count));
}

void Vocabulary::add(std::string token, std::int32_t id, const std::string& where) {
  const auto index = static_cast<std::size_t>(id);
  if (index < tokens_.size() && !tokens_[index].empty() && tokens_[index] != token) {
    throw InputError(where + ": id " + std::to_string(id) + " is used for \"" + tokens_[index] +
                     "\" and \"" + token + "\"");
  }
  const std::int32_t known_id = find(token);
  if (known_id >= 0 && known_id != id) {
    throw InputError(where + ": token \"" + token + "\" has the ids " + std::to_string(known_id) +
                     " and " + std::to_string(id));
  }
  add_or_replace(std::move(token), id);
}

void Vocabulary::add_or_replace(std::string token, std::int32_t id) {
  const auto index = static_cast<std::size_t>(id);
  if (index >= tokens_.size()) tokens_.resize(index + 1);
  if (2 * (used_slots_ + 1) > slots_.size()) grow(std::max<std::size_t>(64, 2 * slots_.size()));
  const std::uint32_t hash = hash_of(token);
  Slot& slot = slots_[slot_of(token, hash)];
  used_slots_ += slot.id < 0;
  slot = {hash, id};
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

void fail_no_token(std::string_view text) {
  throw InputError("text: the tokenizer has no token for \"" + visible(text) + "\"");
}

}  // namespace attnscope
