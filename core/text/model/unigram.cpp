#include <algorithm>
#include <cmath>

#include "core/text/byte_trie.h"
#include "core/text/model/token_model.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

class UnigramModel final : public TokenModel {
 public:
  UnigramModel(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
               const UnigramOptions& options)
      : vocabulary_(std::move(vocabulary)), scores_(std::move(scores)), options_(options) {
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(scores_.size()); ++id) {
      if (std::isnan(scores_[static_cast<std::size_t>(id)])) continue;
      const std::string& token = vocabulary_->token(id);
      if (vocabulary_->find(token) == id) keys.emplace_back(token, id);  // the last of equal tokens
    }
    trie_ = ByteTrie(std::move(keys));
    if (options_.byte_fallback) byte_ids_ = byte_token_ids(*vocabulary_);
  }

  std::string kind() const override {
    return options_.byte_fallback ? "Unigram with byte fallback" : "Unigram";
  }
  std::int32_t unknown_token() const override { return options_.unknown; }

  void encode(std::string_view piece, std::vector<Piece>& tokens) const override {
    const std::vector<Piece> path =
        options_.single_precision ? best_path<float>(piece) : best_path<double>(piece);
    for (std::size_t n = 0; n < path.size(); ++n) {
      Piece token = path[n];
      if (token.id == options_.unknown) {  // merge a run of unknown tokens
        while (n + 1 < path.size() && path[n + 1].id == options_.unknown) token.end = path[++n].end;
        const auto text = piece.substr(token.begin, token.end - token.begin);
        const std::int32_t text_id =
            options_.single_precision ? -1 : vocabulary_->find_in_model(text);
        if (text_id < 0 && add_bytes(piece, token, tokens)) continue;
        if (text_id >= 0) token.id = text_id;  // the run itself is a token: "<unk>"
      }
      tokens.push_back(token);
    }
  }

 private:
  // Last token of the best path to a position (Viterbi); the first path found wins a tie.
  template <class Number>
  struct Node {
    std::int32_t id = 0;
    Number score = 0;
    std::size_t begin = static_cast<std::size_t>(-1);
  };

  template <class Number>
  std::vector<Piece> best_path(std::string_view piece) const {
    std::vector<Node<Number>> ends(piece.size() + 1);
    for (std::size_t at = 0; at < piece.size();) {
      const Number path_score = ends[at].score;
      const std::size_t size = character_at(piece, at).size;
      const auto relax = [&](std::size_t length, std::int32_t id, Number score) {
        Node<Number>& node = ends[at + length];
        const Number sum = score + path_score;
        if (node.begin != static_cast<std::size_t>(-1) && !(sum > node.score)) return;
        node = {id, sum, at};
      };
      bool has_character = false;  // the character is a token
      trie_.prefixes(piece, at, [&](std::size_t length, std::int32_t id) {
        relax(length, id, static_cast<Number>(scores_[static_cast<std::size_t>(id)]));
        has_character = has_character || length == size;
      });
      if (!has_character) {
        if (options_.unknown < 0) fail_no_token(piece.substr(at, size));
        relax(size, options_.unknown, static_cast<Number>(options_.unknown_score));
      }
      at += size;
    }
    std::vector<Piece> path;
    for (std::size_t end = piece.size(); end > 0; end = ends[end].begin) {
      path.push_back({ends[end].id, ends[end].begin, end});
    }
    std::ranges::reverse(path);
    return path;
  }

  // Appends one token per byte of an unknown span. Returns false if a byte has no token.
  bool add_bytes(std::string_view piece, const Piece& token, std::vector<Piece>& tokens) const {
    if (byte_ids_.empty()) return false;
    for (std::size_t at = token.begin; at < token.end; ++at) {
      if (byte_ids_[static_cast<unsigned char>(piece[at])] < 0) return false;
    }
    for (std::size_t at = token.begin; at < token.end; ++at) {
      tokens.push_back({byte_ids_[static_cast<unsigned char>(piece[at])], at, at + 1});
    }
    return true;
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<double> scores_;
  UnigramOptions options_;
  ByteTrie trie_;
  std::vector<std::int32_t> byte_ids_;  // ids of "<0x..>"; empty: no fallback
};

}  // namespace

TokenModelPtr unigram_model(std::shared_ptr<const Vocabulary> vocabulary,
                            std::vector<double> scores, const UnigramOptions& options) {
  return std::make_shared<UnigramModel>(std::move(vocabulary), std::move(scores), options);
}

}  // namespace attnscope
