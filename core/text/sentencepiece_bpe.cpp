// BPE over characters with spaces written as "▁" and unknown characters as their bytes, as
// SentencePiece trains it (Kudo and Richardson, 2018) and Llama's tokenizers store it.
#include <array>
#include <charconv>

#include "core/base/error.h"
#include "core/text/bpe_tokenizer.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

// "<0xE4>" -> 0xE4; -1 for other texts.
int byte_of(std::string_view token) {
  int value = -1;
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return -1;
  const auto result = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  return result.ec == std::errc() && result.ptr == token.data() + 5 ? value : -1;
}

class SentencePieceBpe final : public BpeTokenizer {
 public:
  SentencePieceBpe(BpeData data, SentencePieceOptions options)
      : BpeTokenizer(std::move(data)), options_(std::move(options)) {
    byte_ids_.fill(-1);
    if (!options_.byte_fallback) return;
    for (std::size_t id = 0; id < this->data().tokens.size(); ++id) {
      const int byte = byte_of(this->data().tokens[id]);
      if (byte >= 0) byte_ids_[static_cast<std::size_t>(byte)] = static_cast<std::int32_t>(id);
    }
  }

  std::string kind() const override {
    return options_.byte_fallback ? "SentencePiece-style BPE with byte fallback"
                                  : "SentencePiece-style BPE";
  }

  std::string decode(const std::vector<std::int32_t>& ids) const override {
    std::string text = Tokenizer::decode(ids);
    if (options_.strip_space && text.starts_with(' ')) text.erase(0, 1);
    return text;
  }

 protected:
  std::vector<Piece> encode_stretch(std::string_view text, bool first) const override {
    std::vector<Piece> all, word;
    const bool prepend = options_.prepend == SentencePieceOptions::Prepend::Always ||
                         (options_.prepend == SentencePieceOptions::Prepend::First && first);
    const bool spaced = text.starts_with(' ') || text.starts_with(options_.space);
    if (prepend && !(spaced && !options_.prepend_even_to_space)) {
      add_character(word, options_.space, 0, 0);
    }
    const auto finish_word = [&] {
      data().merges.apply(word);
      all.insert(all.end(), word.begin(), word.end());
      word.clear();
    };
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = at + character_at(text, at).size;
      const std::string_view c = text.substr(at, end - at);
      const bool space = c == " " || c == options_.space;
      if (space && options_.split_at_spaces && !word.empty()) finish_word();
      add_character(word, c == " " ? std::string_view(options_.space) : c, at, end);
      at = end;
    }
    finish_word();
    return all;
  }

  std::string bytes_of(std::int32_t id) const override {
    const std::string& token = data().tokens[static_cast<std::size_t>(id)];
    if (options_.byte_fallback) {
      const int byte = byte_of(token);
      if (byte >= 0) return std::string(1, static_cast<char>(byte));
    }
    std::string bytes;
    for (std::size_t at = 0; at < token.size();) {
      if (token.compare(at, options_.space.size(), options_.space) == 0) {
        bytes += ' ';
        at += options_.space.size();
      } else {
        bytes += token[at++];
      }
    }
    return bytes;
  }

 private:
  // The tokens of one character, which covers [begin, end) of the stretch.
  void add_character(std::vector<Piece>& word, std::string_view character, std::size_t begin,
                     std::size_t end) const {
    const std::int32_t id = find(std::string(character));
    if (id >= 0) {
      word.push_back({id, begin, end});
      return;
    }
    if (all_bytes_known(character)) {
      // A token for each byte; a character that stands for another has no bytes of its own.
      const bool own = end - begin == character.size();
      for (std::size_t i = 0; i < character.size(); ++i) {
        word.push_back({byte_ids_[static_cast<unsigned char>(character[i])],
                        own ? begin + i : begin, own ? begin + i + 1 : end});
      }
      return;
    }
    if (options_.unknown < 0) {
      throw InputError("text: the tokenizer has no token for \"" + visible(character) + "\"");
    }
    if (options_.fuse_unknown && !word.empty() && word.back().id == options_.unknown) {
      word.back().end = end;
    } else {
      word.push_back({options_.unknown, begin, end});
    }
  }

  bool all_bytes_known(std::string_view character) const {
    for (const char c : character) {
      if (byte_ids_[static_cast<unsigned char>(c)] < 0) return false;
    }
    return true;
  }

  SentencePieceOptions options_;
  std::array<std::int32_t, 256> byte_ids_;  // of "<0x..>"; -1 where there is none
};

}  // namespace

std::shared_ptr<const Tokenizer> sentencepiece_tokenizer(BpeData data,
                                                         SentencePieceOptions options) {
  return std::make_shared<SentencePieceBpe>(std::move(data), std::move(options));
}

}  // namespace attnscope
