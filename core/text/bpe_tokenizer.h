// What the tokenizers of this folder share: a vocabulary with merges, tokens that are matched
// whole before anything else ("<|endoftext|>"), and tokens put before and after every text.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/text/merges.h"
#include "core/text/splitting.h"
#include "core/text/tokenizer.h"

namespace attnscope {

struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool special = false;
};

struct BpeData {
  std::vector<std::string> tokens;  // by id, as written in the file; "" where there is none
  std::unordered_map<std::string, std::int32_t> ids;
  Merges merges;
  std::vector<AddedToken> added;
  std::vector<std::int32_t> prefix, suffix;  // put before and after every text
  std::map<std::string, std::string> files;  // what save() writes, by name
};

class BpeTokenizer : public Tokenizer {
 public:
  explicit BpeTokenizer(BpeData data);
  std::int32_t vocabulary_size() const override;
  std::vector<Token> encode(std::string_view text) const override;
  std::string bytes(std::int32_t id) const override;
  bool is_special(std::int32_t id) const override;
  void save(const std::filesystem::path& folder) const override;

 protected:
  // Tokens of a stretch of text without added tokens; their ranges count from its beginning.
  // `first`: it begins the text.
  virtual std::vector<Piece> encode_stretch(std::string_view text, bool first) const = 0;
  virtual std::string bytes_of(std::int32_t id) const = 0;  // of no added token
  const BpeData& data() const { return data_; }
  // -1 when the vocabulary lacks it.
  std::int32_t find(const std::string& token) const;

 private:
  const AddedToken* added_at(std::string_view text, std::size_t at) const;
  const AddedToken* added(std::int32_t id) const;

  BpeData data_;              // `added` sorted, longest content first
  std::string added_starts_;  // first bytes of the added tokens
};

// How a byte-level tokenizer prepares text.
struct ByteLevelOptions {
  bool prefix_space = false;                       // " " before a stretch that begins with no space
  std::vector<Splitter> splits = {split_as_gpt2};  // one after the other
  bool whole_words = false;  // a piece that is a token is taken as it is, without merges
};
// InputError, beginning with `name`, when a token is not written in the byte alphabet.
std::shared_ptr<const Tokenizer> byte_level_tokenizer(BpeData data, ByteLevelOptions options,
                                                      std::string_view name);

// How a SentencePiece-style tokenizer prepares text.
struct SentencePieceOptions {
  std::string space = " ";  // what stands for " ": "▁"
  enum class Prepend { Never, First, Always } prepend = Prepend::Never;  // `space` before text
  bool prepend_even_to_space = true;  // also where the text begins with a space
  bool split_at_spaces = false;       // merges do not cross the beginning of a word
  bool byte_fallback = false;         // unknown characters as "<0xE4>"
  std::int32_t unknown = -1;          // token of what is unknown still; -1: InputError
  bool fuse_unknown = false;          // one for a run of them
  bool strip_space = false;           // decode() drops one leading space
};
std::shared_ptr<const Tokenizer> sentencepiece_tokenizer(BpeData data,
                                                         SentencePieceOptions options);

}  // namespace attnscope
