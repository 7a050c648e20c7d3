// Tokens that are found in a text before anything else is done to it ("<|endoftext|>"), or right
// after it was normalized.
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
  bool special = false;      // marks something, stands for no text
  bool single_word = false;  // found only where no word goes on beside it
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // ... behind it
  bool normalized = false;   // found, normalized itself, in the normalized text
};

class AddedTokens {
 public:
  AddedTokens() = default;
  AddedTokens(std::vector<AddedToken> tokens, const std::vector<NormalizerPtr>& normalizers);

  const AddedToken* of_id(std::int32_t id) const;  // null: none has it
  const std::vector<AddedToken>& all() const { return tokens_; }

  struct Part {
    Span span;
    std::int32_t id;  // -1: text
  };
  // All of a text; of several tokens at one place the longest is found.
  std::vector<Part> parts(std::string_view text, bool normalized) const;

 private:
  struct Matcher {
    std::vector<std::string> contents;
    std::vector<std::size_t> tokens;  // the number of each
    ByteTrie trie;
    std::array<bool, 256> starts{};  // first bytes
  };
  bool fits(const AddedToken& token, std::string_view text, Span& span, std::size_t free) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::int32_t, std::size_t> by_id_;
  Matcher plain_, normalized_;
};

}  // namespace attnscope
