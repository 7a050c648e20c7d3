#include "core/text/process/decoder.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/text/byte_alphabet.h"
#include "core/text/model/token_model.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxTokenText = std::size_t{1} << 20;  // bytes of a token's text

[[noreturn]] void fail_with_long_token() {
  throw InputError("decoder: expected tokens of at most " + std::to_string(kMaxTokenText) +
                   " bytes of text, found a longer one");
}

// Requires a non-empty `what`.
void replace_all(std::string& text, std::string_view what, std::string_view with) {
  std::string result;
  std::size_t read = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, read)) {
    result.append(text, read, at - read).append(with);
    read = at + what.size();
    if (result.size() > kMaxTokenText) fail_with_long_token();
  }
  text = result.append(text, read);
}

// Removes spaces before English punctuation and contractions.
void clean_up(std::string& text) {
  constexpr std::pair<const char*, const char*> kRules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [what, with] : kRules) replace_all(text, what, with);
}

}  // namespace

void Decoder::add_byte_level() {
  steps_.emplace_back([](std::string token) {
    const auto bytes = from_byte_alphabet(token);
    return bytes ? *bytes : token;
  });
}

void Decoder::add_byte_fallback() {
  steps_.emplace_back([](std::string token) {
    const int byte = byte_of_token(token);
    return byte < 0 ? token : std::string(1, static_cast<char>(byte));
  });
}

void Decoder::add_spaces(std::string mark) {
  steps_.emplace_back([mark = std::move(mark)](std::string token) {
    replace_all(token, mark, " ");
    return token;
  });
}

void Decoder::add_word_pieces(std::string prefix, bool cleanup) {
  steps_.emplace_back([prefix = std::move(prefix), cleanup](std::string token) {
    if (!prefix.empty() && token.starts_with(prefix)) {
      token.erase(0, prefix.size());
    } else {
      token.insert(0, 1, ' ');
    }
    if (cleanup) clean_up(token);
    return token;
  });
  add_strip(' ', 1, 0);
}

void Decoder::add_word_ends(std::string suffix) {
  steps_.emplace_back([suffix = std::move(suffix)](std::string token) {
    replace_all(token, suffix, " ");
    return token;
  });
  add_strip(' ', 0, 1);
}

void Decoder::add_replacement(Expression what, std::string with) {
  steps_.emplace_back([what = std::move(what), with = std::move(with)](std::string token) {
    std::string result;
    std::size_t read = 0;
    what.each(token, [&](std::size_t begin, std::size_t end) {
      result.append(token, read, begin - read).append(with);
      read = end;
      if (result.size() > kMaxTokenText) fail_with_long_token();
    });
    return result.append(token, read);
  });
}

void Decoder::add_strip(char character, std::size_t front, std::size_t back) {
  strips_.push_back({character, front, back});
}

std::string Decoder::bytes(std::string token) const {
  for (const auto& step : steps_) {
    token = step(std::move(token));
    if (token.size() > kMaxTokenText) fail_with_long_token();
  }
  return token;
}

std::string Decoder::finish(std::string text) const {
  for (const Strip& strip : strips_) {
    const std::size_t front = std::min(text.find_first_not_of(strip.character), text.size());
    text.erase(0, std::min(front, strip.front));
    const std::size_t last = text.find_last_not_of(strip.character);
    const std::size_t trailing = text.size() - (last == text.npos ? 0 : last + 1);
    text.erase(text.size() - std::min(trailing, strip.back));
  }
  return text;
}

}  // namespace attnscope
