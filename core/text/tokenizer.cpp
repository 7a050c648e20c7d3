#include "core/text/tokenizer.h"

namespace attnscope {

std::string Tokenizer::decode(const std::vector<std::int32_t>& ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    const std::string part = bytes(id);  // checks the id
    if (!is_special(id)) text += part;
  }
  return text;
}

std::vector<Token> Tokenizer::encode_pair(std::string_view first, std::string_view second) const {
  std::vector<Token> tokens = encode(first);
  for (Token token : encode(second)) {
    token.segment = token.text = 1;
    tokens.push_back(token);
  }
  return tokens;
}

std::string Tokenizer::label(std::int32_t id) const {
  return visible(bytes(id));
}

std::int32_t Tokenizer::id_of(std::string_view) const {
  return -1;
}

}  // namespace attnscope
