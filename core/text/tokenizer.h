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
  // Ids are in [0, size). There may be ids in it that stand for nothing.
  virtual std::int32_t vocabulary_size() const = 0;
  // Any bytes, also non-UTF-8. InputError when the vocabulary lacks a part of the text.
  virtual std::vector<Token> encode(std::string_view text) const = 0;
  // What the token stands for; of a special token its name, "<s>". InputError on a wrong id.
  virtual std::string bytes(std::int32_t id) const = 0;
  virtual bool is_special(std::int32_t id) const = 0;  // marks something, stands for no text
  // tokenizer.json and the like, as they were read or made.
  virtual void save(const std::filesystem::path& folder) const = 0;
  // The text of a whole sequence, without its special tokens: what encode() was given.
  virtual std::string decode(const std::vector<std::int32_t>& ids) const;
};

// A folder's tokenizer, from tokenizer.json (or vocab.json and merges.txt) and, where it is there,
// tokenizer_config.json: byte-level BPE and SentencePiece-style BPE with byte fallback as the
// Hugging Face libraries store them. InputError names what is not understood.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder);

// The files that load_tokenizer() looks at.
const std::vector<std::string>& tokenizer_file_names();

// A token for each of the 256 bytes, its value as id.
std::shared_ptr<const Tokenizer> byte_tokenizer();

// How a token looks in a label: spaces as "␣" where leading or trailing, line ends as "⏎",
// tabs as "⇥", bytes that are no whole UTF-8 character as "0xE4", controls as "0x07".
// Never empty.
std::string visible(std::string_view bytes);

}  // namespace attnscope
