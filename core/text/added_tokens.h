// Added tokens such as "<|endoftext|>": matched in a text before normalization or right after it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/text/aligned_text.h"
#include "core/text/byte_trie.h"
#include "core/text/normalize/normalizer.h"

namespace attnscope {

struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool special = false;      // a marker, not text
  bool single_word = false;  // matched only at word boundaries
  bool lstrip = false;       // includes preceding white space
  bool rstrip = false;       // includes following white space
  bool normalized = false;   // its normalized form is matched in the normalized text
};

class AddedTokens {
 public:
  AddedTokens() = default;
  AddedTokens(std::vector<AddedToken> tokens, const std::vector<NormalizerPtr>& normalizers);

  const AddedToken* find_id(std::int32_t id) const;  // null if absent
  const std::vector<AddedToken>& all() const { return tokens_; }

  struct Part {
    Span span;
    std::int32_t id;  // -1: plain text
  };
  // Splits a text into added tokens and plain text; the longest match at a position wins. Matches
  // only tokens with this value of `normalized`.
  std::vector<Part> parts(std::string_view text, bool normalized) const;

 private:
  struct Matcher {
    std::vector<std::string> contents;
    std::vector<std::size_t> tokens;  // index of each content's token
    ByteTrie trie;
    std::array<bool, 256> starts{};  // true for the first bytes of contents
  };
  bool matches_at(const AddedToken& token, std::string_view text, Span& span,
                  std::size_t previous_end) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::int32_t, std::size_t> by_id_;
  Matcher plain_, normalized_;
};

}  // namespace attnscope
