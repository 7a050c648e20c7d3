#include "core/text/normalize/normalizer.h"

namespace attnscope {
namespace {

class Nmt final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    filter_characters(text, [](std::int32_t c) {
      const bool control = (c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f ||
                           c == 0x8f || c == 0x9f;
      return !control;
    });
    map_characters(text, [](std::int32_t c) {
      const bool space = c == 9 || c == 0xa || c == 0xc || c == 0xd || c == 0x1680 ||
                         (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 ||
                         c == 0x2581 || c == 0xfeff || c == 0xfffd;
      return space ? std::int32_t{' '} : c;
    });
  }
};

}  // namespace

NormalizerPtr nmt_normalizer() {
  return std::make_shared<Nmt>();
}

}  // namespace attnscope
