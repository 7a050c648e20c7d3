#include <utf8proc.h>

#include "core/text/normalize/normalizer.h"

namespace attnscope {
namespace {

class Lowercase final : public Normalizer {
 public:
  void apply(AlignedText& text) const override { lowercase(text); }
};

}  // namespace

// Converts each character by itself: a final sigma has no special treatment.
void lowercase(AlignedText& text) {
  constexpr std::int32_t kDottedI = 0x130, kDot = 0x307;  // the only character that becomes two
  std::vector<NewCharacter> lower;
  bool changed = false;
  for (std::size_t at = 0; at < text.text().size();) {
    const std::int32_t code = next_code(text.text(), at);
    const bool valid = code >= 0 && code <= 0x10ffff;
    lower.push_back({code == kDottedI ? 'i' : valid ? utf8proc_tolower(code) : code, 0});
    changed = changed || lower.back().code != code;
    if (code == kDottedI) lower.push_back({kDot, 1});
  }
  if (changed) text.rewrite(lower);
}

NormalizerPtr lowercase_normalizer() {
  return std::make_shared<Lowercase>();
}

}  // namespace attnscope
