#include <algorithm>

#include "core/text/model/token_model.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

class WordPieceModel final : public TokenModel {
 public:
  WordPieceModel(std::shared_ptr<const Vocabulary> vocabulary, const WordPieceOptions& options)
      : vocabulary_(std::move(vocabulary)), options_(options) {
    for (std::int32_t id = 0; id < vocabulary_->size(); ++id) {
      longest_ = std::max(longest_, vocabulary_->token(id).size());
    }
  }

  std::string kind() const override { return "WordPiece"; }
  std::int32_t unknown_token() const override { return options_.unknown; }

  void encode(std::string_view piece, std::vector<Piece>& tokens) const override {
    const std::size_t before = tokens.size();
    if (!is_too_long(piece) && split(piece, tokens)) return;
    tokens.resize(before);
    if (options_.unknown < 0) fail_no_token(piece);
    tokens.push_back({options_.unknown, 0, piece.size()});
  }

 private:
  bool is_too_long(std::string_view piece) const {
    std::size_t count = 0;
    for (std::size_t at = 0; at < piece.size(); ++count) next_code(piece, at);
    return count > options_.max_characters;
  }

  bool split(std::string_view piece, std::vector<Piece>& tokens) const {
    std::string candidate;
    for (std::size_t at = 0; at < piece.size();) {
      candidate = at > 0 ? options_.prefix : "";
      const std::size_t prefix_size = candidate.size();
      candidate += piece.substr(at, longest_);
      std::int32_t id = -1;
      while (candidate.size() > prefix_size) {
        id = vocabulary_->find_in_model(candidate);
        if (id >= 0) break;
        do {  // drops the last character
          candidate.pop_back();
        } while (candidate.size() > prefix_size &&
                 is_inside(piece, at + candidate.size() - prefix_size));
      }
      if (id < 0) return false;
      const std::size_t size = candidate.size() - prefix_size;
      tokens.push_back({id, at, at + size});
      at += size;
    }
    return true;
  }

  static bool is_inside(std::string_view piece, std::size_t at) {  // inside a character
    return at < piece.size() && (static_cast<unsigned char>(piece[at]) & 0xc0) == 0x80;
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  WordPieceOptions options_;
  std::size_t longest_ = 0;  // bytes of the longest token
};

class WordLevelModel final : public TokenModel {
 public:
  WordLevelModel(std::shared_ptr<const Vocabulary> vocabulary, std::int32_t unknown)
      : vocabulary_(std::move(vocabulary)), unknown_(unknown) {}

  std::string kind() const override { return "whole words"; }
  std::int32_t unknown_token() const override { return unknown_; }

  void encode(std::string_view piece, std::vector<Piece>& tokens) const override {
    std::int32_t id = vocabulary_->find_in_model(piece);
    if (id < 0) id = unknown_;
    if (id < 0) fail_no_token(piece);
    tokens.push_back({id, 0, piece.size()});
  }

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::int32_t unknown_;
};

}  // namespace

TokenModelPtr wordpiece_model(std::shared_ptr<const Vocabulary> vocabulary,
                              const WordPieceOptions& options) {
  return std::make_shared<WordPieceModel>(std::move(vocabulary), options);
}

TokenModelPtr word_level_model(std::shared_ptr<const Vocabulary> vocabulary, std::int32_t unknown) {
  return std::make_shared<WordLevelModel>(std::move(vocabulary), unknown);
}

}  // namespace attnscope
