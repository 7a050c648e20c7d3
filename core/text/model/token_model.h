// Token models, the third step of a tokenizer (pipeline.h): encode a piece as tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/text/model/merges.h"

namespace attnscope {

// Tokens as written in a file, and their ids.
class Vocabulary {
 public:
  std::int32_t find(std::string_view token) const;  // -1: none
  // Like find(), without the tokens of add_outside().
  std::int32_t find_in_model(std::string_view token) const;
  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  const std::string& token(std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }
  // Throws InputError, beginning with `where`, if another entry has the token or the id.
  void add(std::string token, std::int32_t id, const std::string& where);
  // Like add(). A new token is not used by the token model: it is matched in the text beforehand.
  void add_outside(std::string token, std::int32_t id, const std::string& where);
  // Adds a token, or replaces its id.
  void add_or_replace(std::string token, std::int32_t id);
  void reserve(std::size_t count);

 private:
  // Entry of a hash table with open addressing.
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t id = -1;
  };
  std::size_t slot_of(std::string_view token, std::uint32_t hash) const;
  void grow(std::size_t slots);

  std::vector<std::string> tokens_;  // by id; "" if unused
  std::vector<Slot> slots_;          // size a power of two; at most half full
  std::size_t used_slots_ = 0;
  std::unordered_set<std::int32_t> outside_;
};

class TokenModel {
 public:
  virtual ~TokenModel() = default;
  virtual std::string kind() const = 0;  // "WordPiece"
  // Appends the tokens of a non-empty piece, with byte ranges relative to the piece. InputError if
  // the vocabulary cannot represent the piece and has no unknown token.
  virtual void encode(std::string_view piece, std::vector<Piece>& tokens) const = 0;
  // Token of pieces that the vocabulary lacks; -1: none.
  virtual std::int32_t unknown_token() const = 0;
};
using TokenModelPtr = std::shared_ptr<const TokenModel>;

// Byte-pair encoding (Sennrich et al., 2016).
struct BpeModelOptions {
  std::string prefix;          // prefix of tokens inside a piece: "##"
  std::string suffix;          // suffix of tokens that end a piece: "</w>"
  std::int32_t unknown = -1;   // -1: unknown characters are dropped, as in the libraries
  bool fuse_unknown = false;   // one unknown token for a run of unknown characters
  bool byte_fallback = false;  // unknown characters as "<0xE4>"
  bool whole_pieces = false;   // a piece that is a token becomes that token without merges
  bool bytes = false;          // pieces are in the byte alphabet
  bool spaces_marked = false;  // spaces are "▁"; affects kind() only
};
TokenModelPtr bpe_model(std::shared_ptr<const Vocabulary> vocabulary, Merges merges,
                        const BpeModelOptions& options);

// Greedy longest match from the left (Schuster and Nakajima, 2012, as in BERT).
struct WordPieceOptions {
  std::string prefix = "##";         // prefix of tokens inside a piece
  std::int32_t unknown = -1;         // replaces a piece that cannot be encoded
  std::size_t max_characters = 100;  // longer pieces are unknown
};
TokenModelPtr wordpiece_model(std::shared_ptr<const Vocabulary> vocabulary,
                              const WordPieceOptions& options);

// One token per piece.
TokenModelPtr word_level_model(std::shared_ptr<const Vocabulary> vocabulary, std::int32_t unknown);

// Most probable segmentation (Kudo, 2018).
struct UnigramOptions {
  std::int32_t unknown = -1;
  bool byte_fallback = false;
  bool single_precision = false;  // float scores, as in SentencePiece; affects ties
  double unknown_score = 0;       // score of an unknown character
};
// `scores`: log probabilities by id; NaN: the token is unused.
TokenModelPtr unigram_model(std::shared_ptr<const Vocabulary> vocabulary,
                            std::vector<double> scores, const UnigramOptions& options);

// BPE as in SentencePiece: merges any two neighbours that form a token, the best score first.
struct SentencePieceBpeOptions {
  std::int32_t unknown = -1;
  bool byte_fallback = false;
  std::vector<std::string> whole;  // tokens matched before merging
};
TokenModelPtr sentencepiece_bpe_model(std::shared_ptr<const Vocabulary> vocabulary,
                                      std::vector<double> scores,
                                      const SentencePieceBpeOptions& options);

// Byte of a byte fallback token: "<0xE4>" -> 0xE4; -1 for other tokens.
int byte_of_token(std::string_view token);
std::string token_of_byte(unsigned char byte);
// Ids of "<0x00>" to "<0xFF>"; -1 if absent.
std::vector<std::int32_t> byte_token_ids(const Vocabulary& vocabulary);
[[noreturn]] void fail_no_token(std::string_view text);

}  // namespace attnscope
