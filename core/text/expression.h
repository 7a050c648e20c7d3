// Regular expressions as published tokenizers write them: Oniguruma's (Ruby) syntax, run by PCRE2.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace attnscope {

class Expression {
 public:
  // InputError, beginning with `where`, on an expression that is faulty, too large, or means
  // something that cannot be said alike.
  Expression(std::string_view pattern, std::string_view where);
  static Expression literal(std::string_view text);  // of which no character means anything else

  // The matches that do not overlap, in order, as bytes [begin, end) of the text. Bytes that belong
  // to no character match as a control character would. InputError when a match takes too many
  // steps, or all of them too long.
  void each(std::string_view text,
            const std::function<void(std::size_t begin, std::size_t end)>& match) const;
  bool matches(std::string_view text) const;  // somewhere

 private:
  struct Compiled;
  explicit Expression(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

// The same in PCRE2's syntax (with UTF, UCP and MULTILINE): \s, \d, \w, \h and \b by Unicode's
// properties, scripts by Script alone, sets within sets and "&&", {n,m}+ as a repetition of a
// repetition. InputError as above.
std::string pcre2_from_oniguruma(std::string_view pattern, std::string_view where);

}  // namespace attnscope
