// Byte-level BPE: tokens are byte strings, so that every text has an encoding.
#include <algorithm>
#include <array>
#include <mutex>

#include "core/base/error.h"
#include "core/text/bpe_tokenizer.h"
#include "core/text/byte_alphabet.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

constexpr std::size_t kMostCached = 1 << 16;  // pieces
constexpr std::size_t kLongestCached = 64;    // bytes

class ByteLevelBpe final : public BpeTokenizer {
 public:
  ByteLevelBpe(BpeData data, ByteLevelOptions options, std::string_view name)
      : BpeTokenizer(std::move(data)), options_(options) {
    bytes_.resize(this->data().tokens.size());
    byte_ids_.fill(-1);
    for (std::size_t id = 0; id < bytes_.size(); ++id) {
      const std::string& token = this->data().tokens[id];
      const auto bytes = from_byte_alphabet(token);
      if (bytes) {
        bytes_[id] = *bytes;
      } else if (!is_added(static_cast<std::int32_t>(id))) {
        throw InputError(std::string(name) + ": token \"" + token +
                         "\" is not written in the byte-level alphabet");
      }
      if (bytes_[id].size() == 1 && !is_added(static_cast<std::int32_t>(id))) {
        byte_ids_[static_cast<unsigned char>(bytes_[id][0])] = static_cast<std::int32_t>(id);
      }
    }
  }

  std::string kind() const override { return data().merges.empty() ? "bytes" : "byte-level BPE"; }

 protected:
  std::vector<Piece> encode_stretch(std::string_view text, bool) const override {
    std::string spaced;
    std::size_t added = 0;  // bytes of `spaced` before the text's own
    if (options_.prefix_space && !text.starts_with(' ')) {
      added = 1;
      spaced = " ";
      text = spaced.append(text);
    }
    std::vector<Piece> all;
    std::size_t at = 0;
    const auto take = [&](std::string_view piece) {
      for (const Piece& p : encode_piece(piece)) {
        const auto own = [&](std::size_t i) { return at + i - std::min(at + i, added); };
        all.push_back({p.id, own(p.begin), own(p.end)});
      }
      at += piece.size();
    };
    split(text, 0, take);
    return all;
  }

  std::string bytes_of(std::int32_t id) const override {
    return bytes_[static_cast<std::size_t>(id)];
  }

 private:
  // By the splits from number `next` on.
  void split(std::string_view text, std::size_t next,
             const std::function<void(std::string_view)>& take) const {
    if (next == options_.splits.size()) return take(text);
    options_.splits[next](text, [&](std::string_view piece) { split(piece, next + 1, take); });
  }

  bool is_added(std::int32_t id) const {
    for (const AddedToken& token : data().added) {
      if (token.id == id) return true;
    }
    return false;
  }

  std::vector<Piece> encode_piece(std::string_view piece) const {
    const bool cached = piece.size() <= kLongestCached;
    std::string key(cached ? piece : std::string_view());
    if (cached) {
      const std::lock_guard lock(mutex_);
      const auto found = cache_.find(key);
      if (found != cache_.end()) return found->second;
    }
    std::vector<Piece> pieces = merged(piece);
    if (cached) {
      const std::lock_guard lock(mutex_);
      if (cache_.size() >= kMostCached) cache_.clear();
      cache_.emplace(std::move(key), pieces);
    }
    return pieces;
  }

  std::vector<Piece> merged(std::string_view piece) const {
    if (options_.whole_words) {
      const std::int32_t whole = find(to_byte_alphabet(piece));
      if (whole >= 0) return {{whole, 0, piece.size()}};
    }
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const std::int32_t id = byte_ids_[static_cast<unsigned char>(piece[i])];
      if (id < 0) {
        throw InputError("text: the tokenizer has no token for \"" +
                         visible(piece.substr(i, character_at(piece, i).size)) + "\"");
      }
      pieces.push_back({id, i, i + 1});
    }
    data().merges.apply(pieces);
    return pieces;
  }

  ByteLevelOptions options_;
  std::vector<std::string> bytes_;          // by id
  std::array<std::int32_t, 256> byte_ids_;  // -1 where the vocabulary lacks a byte
  mutable std::mutex mutex_;                // encode() may run on several threads
  mutable std::unordered_map<std::string, std::vector<Piece>> cache_;
};

}  // namespace

std::shared_ptr<const Tokenizer> byte_level_tokenizer(BpeData data, ByteLevelOptions options,
                                                      std::string_view name) {
  return std::make_shared<ByteLevelBpe>(std::move(data), options, name);
}

}  // namespace attnscope
