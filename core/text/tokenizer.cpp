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

}  // namespace attnscope
