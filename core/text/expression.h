// Regular expressions of published tokenizers: Oniguruma (Ruby) syntax, executed by PCRE2.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace attnscope {

class Expression {
 public:
  // InputError, beginning with `where`, for an invalid or too large expression, or one without an
  // equivalent in PCRE2.
  Expression(std::string_view pattern, std::string_view where);
  static Expression literal(std::string_view text);  // matches `text` itself

  // Calls match(begin, end) for the non-overlapping matches, in order, in bytes. Invalid bytes
  // match like control characters. InputError if a match needs too many steps or all matches too
  // much time.
  void each(std::string_view text,
            const std::function<void(std::size_t begin, std::size_t end)>& match) const;
  bool matches(std::string_view text) const;  // anywhere in the text

 private:
  struct Compiled;
  explicit Expression(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

// Translates a pattern to PCRE2 syntax (with UTF, UCP and MULTILINE): \s, \d, \w, \h and \b by
// Unicode properties, scripts by Script only, nested sets and "&&", {n,m}+ as a repetition of a
// repetition. InputError as above.
std::string pcre2_from_oniguruma(std::string_view pattern, std::string_view where);

}  // namespace attnscope
