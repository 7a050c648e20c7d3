// The third step of a tokenizer: the tokens of a piece.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/model/merges.h"

namespace attnscope {

// Tokens as a file writes them, and their ids.
class Vocabulary {
 public:
  std::int32_t find(std::string_view token) const;  // -1: there is none
  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  const std::string& token(std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }
  // InputError, beginning with `where`, when the id or the token has another counterpart.
  void add(std::string token, std::int32_t id, const std::string& where);
  // Also a token that has an id already: the later one counts.
  void add_again(std::string token, std::int32_t id);
  void reserve(std::size_t count);

 private:
  // Where a token is found by its hash, or the next place after that is free: one or two looks into
  // memory, however many tokens there are.
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t id = -1;
  };
  std::size_t slot_of(std::string_view token, std::uint32_t hash) const;
  void grow(std::size_t slots);

  std::vector<std::string> tokens_;  // by id; "" where there is none
  std::vector<Slot> slots_;          // a power of two, at most half of them taken
  std::size_t taken_ = 0;
};

class TokenModel {
 public:
  virtual ~TokenModel() = default;
  virtual std::string kind() const = 0;  // "WordPiece"
  // Appends the tokens of a piece that is not empty, with their bytes of it. InputError when the
  // vocabulary lacks a part of it and has nothing that stands for the unknown.
  virtual void encode(std::string_view piece, std::vector<Piece>& tokens) const = 0;
};
using TokenModelPtr = std::shared_ptr<const TokenModel>;

// Byte-pair encoding (Sennrich et al., 2016).
struct BpeModelOptions {
  std::string prefix;          // of tokens that do not begin a piece: "##"
  std::string suffix;          // of those that end one: "</w>"
  std::int32_t unknown = -1;   // -1: InputError
  bool fuse_unknown = false;   // one for a run of them
  bool byte_fallback = false;  // unknown characters as "<0xE4>"
  bool whole_pieces = false;   // a piece that is a token is taken as it is, without merges
  bool bytes = false;          // pieces are in the alphabet of bytes
  bool spaces_marked = false;  // as "▁"; says what kind it is
};
TokenModelPtr bpe_model(std::shared_ptr<const Vocabulary> vocabulary, Merges merges,
                        const BpeModelOptions& options);

// The longest token first, from the left (Schuster and Nakajima, 2012, as in BERT).
struct WordPieceOptions {
  std::string prefix = "##";          // of tokens that do not begin a piece
  std::int32_t unknown = -1;          // for a whole piece
  std::size_t most_characters = 100;  // a longer piece is unknown
};
TokenModelPtr wordpiece_model(std::shared_ptr<const Vocabulary> vocabulary,
                              const WordPieceOptions& options);

// A token for each piece.
TokenModelPtr word_level_model(std::shared_ptr<const Vocabulary> vocabulary, std::int32_t unknown);

// The most probable tokens (Kudo, 2018). `scores` by id: logarithms of probabilities; NaN: not
// used.
struct UnigramOptions {
  std::int32_t unknown = -1;
  bool byte_fallback = false;
  bool single_precision = false;  // sums as SentencePiece has them, which may decide between equals
  double unknown_score = 0;       // of a character
};
TokenModelPtr unigram_model(std::shared_ptr<const Vocabulary> vocabulary,
                            std::vector<double> scores, const UnigramOptions& options);

// BPE as SentencePiece does it: whatever two neighbours are a token, the best score first.
struct SentencePieceBpeOptions {
  std::int32_t unknown = -1;
  bool byte_fallback = false;
  std::vector<std::string> whole;  // tokens that are found before anything else
};
TokenModelPtr sentencepiece_bpe_model(std::shared_ptr<const Vocabulary> vocabulary,
                                      std::vector<double> scores,
                                      const SentencePieceBpeOptions& options);

// What models share: "<0xE4>" -> 0xE4, -1 for other texts; and back.
int byte_of_token(std::string_view token);
std::string token_of_byte(unsigned char byte);
// Ids of "<0x00>" to "<0xFF>"; -1 where there is none.
std::vector<std::int32_t> byte_token_ids(const Vocabulary& vocabulary);
[[noreturn]] void no_token_for(std::string_view text);

}  // namespace attnscope
