// From text to token ids and back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

struct Token {
  std::int32_t id = 0;
  std::size_t begin = 0, end = 0;  // bytes of the text that it covers; equal for specials
  bool special = false;            // put in by the tokenizer (BOS)
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string kind() const = 0;  // "byte-level BPE"
  virtual std::int32_t vocabulary_size() const = 0;
  virtual std::vector<Token> encode(std::string_view text) const = 0;  // any bytes, also non-UTF-8
  virtual std::string bytes(std::int32_t id) const = 0;                // what the token stands for
  virtual void save(const std::filesystem::path& folder) const = 0;  // tokenizer.json and the like
  std::string decode(const std::vector<std::int32_t>& ids) const;
};

// A folder's tokenizer, from tokenizer.json (or vocab.json and merges.txt). InputError names what
// is not understood.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder);

// How a token looks in a label: spaces as "␣" where leading or trailing, line ends as "⏎",
// tabs as "⇥", bytes that are no whole UTF-8 character as "\xE4", controls as "\x07". Never empty.
std::string visible(std::string_view bytes);

}  // namespace attnscope
