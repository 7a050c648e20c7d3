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
  std::size_t begin = 0, end = 0;  // bytes of its text that it covers; equal for specials
  bool special = false;            // put in by the tokenizer (BOS)
  std::int32_t segment = 0;  // token type: what an encoder's segment embedding is looked up by
  int text = 0;              // whose bytes: 0 the first text, 1 the second of a pair
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string kind() const = 0;  // "byte-level BPE"
  // Ids are in [0, size). There may be ids in it that stand for nothing.
  virtual std::int32_t vocabulary_size() const = 0;
  // Any bytes, also non-UTF-8. InputError when the vocabulary lacks a part of the text.
  virtual std::vector<Token> encode(std::string_view text) const = 0;
  // Two texts as one sequence, as an encoder reads them: "[CLS] first [SEP] second [SEP]". Unless
  // the tokenizer says otherwise the one after the other, the second as segment 1.
  virtual std::vector<Token> encode_pair(std::string_view first, std::string_view second) const;
  // What the token stands for; of a special token its name, "<s>". InputError on a wrong id.
  virtual std::string bytes(std::int32_t id) const = 0;
  virtual bool is_special(std::int32_t id) const = 0;  // marks something, stands for no text
  // How to show it: visible() of its bytes, or as the vocabulary writes it where that says more
  // ("##ing").
  virtual std::string label(std::int32_t id) const;
  // Of what the vocabulary writes so ("[SEP]"), or of what stands for a hidden word; -1: none.
  virtual std::int32_t id_of(std::string_view written) const;
  virtual std::int32_t mask_token() const { return -1; }
  // tokenizer.json and the like, as they were read or made.
  virtual void save(const std::filesystem::path& folder) const = 0;
  // The text of a whole sequence, without its special tokens: what encode() was given.
  virtual std::string decode(const std::vector<std::int32_t>& ids) const;
};

// A folder's tokenizer, from the first of these that is there: tokenizer.json; vocab.json and
// merges.txt; vocab.txt; spiece.model or tokenizer.model; source.spm and vocab.json; with
// tokenizer_config.json where that is there. The models are BPE, WordPiece, Unigram and whole
// words, each with what the Hugging Face and SentencePiece libraries do before and after.
// InputError names what is not understood.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder);

// That of what a model writes where that is another one than that of what it reads:
// target_tokenizer.json, or Marian's target.spm; null where the folder has none.
std::shared_ptr<const Tokenizer> load_target_tokenizer(const std::filesystem::path& folder);

// The files that these look at.
const std::vector<std::string>& tokenizer_file_names();

// A token for each of the 256 bytes, its value as id.
std::shared_ptr<const Tokenizer> byte_tokenizer();

// How a token looks in a label: spaces as "␣" where leading or trailing, line ends as "⏎",
// tabs as "⇥", bytes that are no whole UTF-8 character as "0xE4", controls as "0x07".
// Never empty.
std::string visible(std::string_view bytes);

}  // namespace attnscope
