// BPE as in SentencePiece's bpe_model.cc (Kudo and Richardson, 2018).
#include <algorithm>
#include <cmath>

#include "core/text/byte_trie.h"
#include "core/text/model/token_model.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

class SentencePieceBpe final : public TokenModel {
 public:
  SentencePieceBpe(std::shared_ptr<const Vocabulary> vocabulary, const std::vector<double>& scores,
                   SentencePieceBpeOptions options)
      : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {
    std::vector<double> order;  // distinct scores, descending: an index is a rank
    for (const double score : scores) {
      if (!std::isnan(score)) order.push_back(score);
    }
    std::ranges::sort(order, std::greater<>());
    order.erase(std::ranges::unique(order).begin(), order.end());
    for (std::size_t id = 0; id < scores.size(); ++id) {
      std::ptrdiff_t rank = -1;
      if (!std::isnan(scores[id])) {
        rank = std::ranges::lower_bound(order, scores[id], std::greater<>()) - order.begin();
      }
      merges_.push_back({static_cast<std::int32_t>(rank), static_cast<std::int32_t>(id)});
    }
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    is_whole_.resize(scores.size());
    for (const std::string& token : options_.whole) {
      const std::int32_t id = vocabulary_->find(token);
      keys.emplace_back(token, id);
      is_whole_[static_cast<std::size_t>(id)] = true;
    }
    whole_ = ByteTrie(std::move(keys));
    if (options_.byte_fallback) byte_ids_ = byte_token_ids(*vocabulary_);
  }

  std::string kind() const override {
    return options_.byte_fallback ? "SentencePiece BPE with byte fallback" : "SentencePiece BPE";
  }
  std::int32_t unknown_token() const override { return options_.unknown; }

  void encode(std::string_view piece, std::vector<Piece>& tokens) const override {
    std::vector<Piece> parts;
    for (std::size_t at = 0; at < piece.size();) {
      std::int32_t id = -1;
      std::size_t size = whole_.longest(piece, at, id);
      if (size == 0) {
        size = character_at(piece, at).size;
        id = id_if_used(vocabulary_->find(piece.substr(at, size)));
      }
      parts.push_back({id, at, at + size});
      at += size;
    }
    merge_best_pairs(parts, [&](const Piece& left, const Piece& right) -> const Merge* {
      if (is_whole(left.id) || is_whole(right.id)) return nullptr;
      const std::int32_t id =
          id_if_used(vocabulary_->find(piece.substr(left.begin, right.end - left.begin)));
      return id < 0 ? nullptr : &merges_[static_cast<std::size_t>(id)];
    });
    bool after_unknown = false;
    for (Piece part : parts) {
      if (part.id < 0 && add_bytes(piece, part, tokens)) continue;
      const bool unknown = part.id < 0 || part.id == options_.unknown;
      if (unknown && options_.unknown < 0) {
        fail_no_token(piece.substr(part.begin, part.end - part.begin));
      }
      if (unknown) part.id = options_.unknown;
      if (unknown && after_unknown) {
        tokens.back().end = part.end;
      } else {
        tokens.push_back(part);
      }
      after_unknown = unknown;
    }
  }

 private:
  std::int32_t id_if_used(std::int32_t id) const {
    const bool in_range = id >= 0 && static_cast<std::size_t>(id) < merges_.size();
    return in_range && merges_[static_cast<std::size_t>(id)].rank >= 0 ? id : -1;
  }
  bool is_whole(std::int32_t id) const {
    return id >= 0 && is_whole_[static_cast<std::size_t>(id)];
  }

  bool add_bytes(std::string_view piece, const Piece& part, std::vector<Piece>& tokens) const {
    if (byte_ids_.empty()) return false;
    for (std::size_t at = part.begin; at < part.end; ++at) {
      const std::int32_t id = byte_ids_[static_cast<unsigned char>(piece[at])];
      if (id < 0) return false;
    }
    for (std::size_t at = part.begin; at < part.end; ++at) {
      tokens.push_back({byte_ids_[static_cast<unsigned char>(piece[at])], at, at + 1});
    }
    return true;
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  SentencePieceBpeOptions options_;
  std::vector<Merge> merges_;  // by id: merge that yields the token; rank -1: unused
  std::vector<bool> is_whole_;
  ByteTrie whole_;
  std::vector<std::int32_t> byte_ids_;
};

}  // namespace

TokenModelPtr sentencepiece_bpe_model(std::shared_ptr<const Vocabulary> vocabulary,
                                      std::vector<double> scores,
                                      const SentencePieceBpeOptions& options) {
  return std::make_shared<SentencePieceBpe>(std::move(vocabulary), scores, options);
}

}  // namespace attnscope
