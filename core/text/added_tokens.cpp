#include "core/text/added_tokens.h"

#include <algorithm>
#include <set>

#include "core/text/expression.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

bool has_word_character(std::string_view text) {
  static const Expression word(R"([\w\x{200c}\x{200d}])", "word");
  return word.matches(text);
}

// Begin of the last character of text[0, end).
std::size_t character_before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && end - at < 4 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at + character_at(text, at).size == end ? at : end - 1;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens,
                         const std::vector<NormalizerPtr>& normalizers)
    : tokens_(std::move(tokens)) {
  std::vector<std::size_t> order;
  for (const bool special : {true, false}) {
    for (std::size_t n = 0; n < tokens_.size(); ++n) {
      if (tokens_[n].special == special) order.push_back(n);
      by_id_.insert_or_assign(tokens_[n].id, n);
    }
  }
  std::set<std::pair<bool, std::string>> unique;
  for (const std::size_t n : order) {
    std::string content = tokens_[n].content;
    if (tokens_[n].normalized) {
      AlignedText text(content, 0);
      for (const NormalizerPtr& normalizer : normalizers) normalizer->apply(text);
      content = text.text();
    }
    if (content.empty() || !unique.emplace(tokens_[n].normalized, content).second) continue;
    Matcher& matcher = tokens_[n].normalized ? normalized_ : plain_;
    matcher.starts[static_cast<unsigned char>(content[0])] = true;
    matcher.contents.push_back(std::move(content));
    matcher.tokens.push_back(n);
  }
  for (Matcher* matcher : {&plain_, &normalized_}) {
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    for (std::size_t n = 0; n < matcher->contents.size(); ++n) {
      keys.emplace_back(matcher->contents[n], static_cast<std::int32_t>(n));
    }
    matcher->trie = ByteTrie(std::move(keys));
  }
}

const AddedToken* AddedTokens::find_id(std::int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

// True if the match `span` satisfies the token's conditions. Extends `span` by the white space that
// the token includes, but not before `previous_end`, the end of the previous token.
bool AddedTokens::matches_at(const AddedToken& token, std::string_view text, Span& span,
                             std::size_t previous_end) const {
  if (token.single_word) {
    const std::size_t before = span.begin > 0 ? character_before(text, span.begin) : 0;
    if (has_word_character(text.substr(before, span.begin - before))) return false;
    const std::string_view rest = text.substr(span.end);
    if (!rest.empty() && has_word_character(rest.substr(0, character_at(rest, 0).size))) {
      return false;
    }
  }
  if (token.lstrip) {
    std::size_t begin = span.begin;
    while (begin > previous_end) {
      const std::size_t before = character_before(text, begin);
      if (!is_white_space(character_at(text, before).code)) break;
      begin = before;
    }
    span.begin = std::max(begin, previous_end);
  }
  if (token.rstrip) {
    while (span.end < text.size()) {
      const Character c = character_at(text, span.end);
      if (!is_white_space(c.code)) break;
      span.end += c.size;
    }
  }
  return true;
}

std::vector<AddedTokens::Part> AddedTokens::parts(std::string_view text, bool normalized) const {
  const Matcher& matcher = normalized ? normalized_ : plain_;
  std::vector<Part> all;
  std::size_t read = 0;
  for (std::size_t at = 0; at < text.size() && !matcher.contents.empty();) {
    std::int32_t number = -1;
    const bool can_start = matcher.starts[static_cast<unsigned char>(text[at])];
    const std::size_t size = can_start ? matcher.trie.longest(text, at, number) : 0;
    if (size == 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[matcher.tokens[static_cast<std::size_t>(number)]];
    Span span{at, at + size};
    at += size;
    if (span.begin < read || !matches_at(token, text, span, read)) continue;
    if (read < span.begin) all.push_back({{read, span.begin}, -1});
    all.push_back({span, token.id});
    read = span.end;
  }
  if (read < text.size()) all.push_back({{read, text.size()}, -1});
  return all;
}

}  // namespace attnscope
