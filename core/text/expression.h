// Regular expressions of published tokenizers, matched by Oniguruma as in Hugging Face's library.
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

  // Calls match(begin, end) with the byte ranges of non-overlapping matches, in order. Invalid
  // bytes match like control characters. Throws InputError beyond limits of steps and time.
  void each(std::string_view text,
            const std::function<void(std::size_t begin, std::size_t end)>& match) const;
  bool matches(std::string_view text) const;  // true for a match anywhere in the text

 private:
  struct Compiled;
  explicit Expression(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace attnscope
