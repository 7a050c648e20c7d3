#include <array>
#include <mutex>

#include "core/text/byte_alphabet.h"
#include "core/text/model/token_model.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxCached = 1 << 16;   // pieces
constexpr std::size_t kMaxCachedPiece = 64;   // bytes
constexpr std::int32_t kSingleCodes = 0x200;  // code points below it have precomputed token ids

class BpeModel final : public TokenModel {
 public:
  BpeModel(std::shared_ptr<const Vocabulary> vocabulary, Merges merges,
           const BpeModelOptions& options)
      : vocabulary_(std::move(vocabulary)), merges_(std::move(merges)), options_(options) {
    if (options_.byte_fallback) byte_ids_ = byte_token_ids(*vocabulary_);
    for (std::int32_t code = 0; code < kSingleCodes; ++code) {
      std::string character;
      append_character(character, code);
      single_ids_[static_cast<std::size_t>(code)] = vocabulary_->find_in_model(character);
    }
  }

  std::string kind() const override {
    if (options_.bytes) return merges_.empty() ? "bytes" : "byte-level BPE";
    if (!options_.spaces_marked) return "BPE";
    return options_.byte_fallback ? "SentencePiece-style BPE with byte fallback"
                                  : "SentencePiece-style BPE";
  }
  std::int32_t unknown_token() const override { return options_.bytes ? -1 : options_.unknown; }

  void encode(std::string_view piece, std::vector<Piece>& tokens) const override {
    if (piece.size() > kMaxCachedPiece) {
      const std::vector<Piece> found = merge_piece(piece);
      tokens.insert(tokens.end(), found.begin(), found.end());
      return;
    }
    const std::string key(piece);
    {
      const std::lock_guard lock(mutex_);
      const auto found = cache_.find(key);
      if (found != cache_.end()) {
        tokens.insert(tokens.end(), found->second.begin(), found->second.end());
        return;
      }
    }
    std::vector<Piece> pieces = merge_piece(piece);
    tokens.insert(tokens.end(), pieces.begin(), pieces.end());
    const std::lock_guard lock(mutex_);
    if (cache_.size() >= kMaxCached) cache_.clear();
    cache_.emplace(key, std::move(pieces));
  }

 private:
  std::vector<Piece> merge_piece(std::string_view piece) const {
    if (options_.whole_pieces) {
      const std::int32_t piece_id = vocabulary_->find_in_model(piece);
      if (piece_id >= 0) return {{piece_id, 0, piece.size()}};
    }
    std::vector<Piece> word;
    std::size_t covered = 0;        // bytes covered by `word`
    std::size_t unknown_bytes = 0;  // unknown bytes after `word`
    const auto add = [&](std::int32_t id, std::size_t size) {
      word.push_back({id, covered, std::min(covered + size, piece.size())});
      covered = word.back().end;
    };
    const auto add_unknown = [&] {
      if (unknown_bytes > 0) add(options_.unknown, unknown_bytes);
      unknown_bytes = 0;
    };
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t begin = at;
      const std::int32_t code = next_code(piece, at);
      const std::int32_t id = character_id(piece, begin, at, code);
      if (id >= 0) {
        add_unknown();
        add(id, at - begin);
      } else if (all_bytes_known(piece.substr(begin, at - begin))) {
        for (std::size_t i = begin; i < at; ++i) {
          add(byte_ids_[static_cast<unsigned char>(piece[i])], 1);
        }
      } else if (options_.unknown < 0) {
        covered = at;  // the libraries drop such characters
      } else {
        if (!options_.fuse_unknown) add_unknown();
        unknown_bytes += at - begin;
      }
    }
    add_unknown();
    merges_.apply(word);
    return word;
  }

  // Token id of the character at [begin, end); -1: none.
  std::int32_t character_id(std::string_view piece, std::size_t begin, std::size_t end,
                            std::int32_t code) const {
    const bool has_prefix = begin > 0 && !options_.prefix.empty();
    const bool has_suffix = end == piece.size() && !options_.suffix.empty();
    if (!has_prefix && !has_suffix && code < kSingleCodes) {
      return single_ids_[static_cast<std::size_t>(code)];
    }
    const std::string_view character = piece.substr(begin, end - begin);
    if (!has_prefix && !has_suffix) return vocabulary_->find_in_model(character);
    return vocabulary_->find_in_model((has_prefix ? options_.prefix : "") + std::string(character) +
                                      (has_suffix ? options_.suffix : ""));
  }

  bool all_bytes_known(std::string_view character) const {
    if (byte_ids_.empty()) return false;
    for (const char c : character) {
      if (byte_ids_[static_cast<unsigned char>(c)] < 0) return false;
    }
    return true;
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  Merges merges_;
  BpeModelOptions options_;
  std::array<std::int32_t, kSingleCodes> single_ids_{};  // by code below kSingleCodes
  std::vector<std::int32_t> byte_ids_;                   // ids of "<0x..>"; empty: no fallback
  mutable std::mutex mutex_;                             // guards cache_
  mutable std::unordered_map<std::string, std::vector<Piece>> cache_;
};

}  // namespace

TokenModelPtr bpe_model(std::shared_ptr<const Vocabulary> vocabulary, Merges merges,
                        const BpeModelOptions& options) {
  return std::make_shared<BpeModel>(std::move(vocabulary), std::move(merges), options);
}

}  // namespace attnscope
