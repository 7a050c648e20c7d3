// Regular expressions of published tokenizers, matched by Oniguruma as in their reference library.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace attnscope {

class Expression {
 public:
  // Throws InputError, beginning with `where`, for an invalid or too large expression.
  Expression(std::string_view pattern, std::string_view where);
  static Expression literal(std::string_view text);  // matches `text` itself

  // Calls match(begin, end) for the non-overlapping matches, in order, in bytes. Invalid bytes
  // match like control characters. Throws InputError if matching takes too many steps or too long.
  void each(std::string_view text,
            const std::function<void(std::size_t begin, std::size_t end)>& match) const;
  bool matches(std::string_view text) const;  // anywhere in the text

 private:
  struct Compiled;
  explicit Expression(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace attnscope
