#include "core/text/byte_alphabet.h"
#include "core/text/normalize/normalizer.h"

namespace attnscope {
namespace {

class ByteLevelNormalizer final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    AlignedText result = text.empty_copy();
    const std::string& all = text.text();
    for (std::size_t at = 0; at < all.size(); ++at) {
      result.append(to_byte_alphabet(std::string_view(all).substr(at, 1)),
                    text.origin({at, at + 1}));
    }
    if (!all.empty()) text = std::move(result);
  }
};

}  // namespace

NormalizerPtr byte_level_normalizer() {
  return std::make_shared<ByteLevelNormalizer>();
}

}  // namespace attnscope
