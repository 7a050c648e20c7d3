#include "core/text/normalize/normalizer.h"

namespace attnscope {
namespace {

class StripNormalizer final : public Normalizer {
 public:
  StripNormalizer(bool left, bool right) : left_(left), right_(right) {}

  void apply(AlignedText& text) const override {
    const std::string& all = text.text();
    std::size_t begin = all.size(), end = 0;  // range of the text without white space at its ends
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t first = at;
      if (is_white_space(next_code(all, at))) continue;
      begin = std::min(begin, first);
      end = at;
    }
    if (!left_) begin = 0;
    if (!right_) end = all.size();
    if (begin == 0 && end == all.size()) return;
    AlignedText kept = text.empty_copy();
    if (begin < end) kept.append(text, {begin, end});
    text = std::move(kept);
  }

 private:
  bool left_, right_;
};

}  // namespace

NormalizerPtr strip_normalizer(bool left, bool right) {
  return std::make_shared<StripNormalizer>(left, right);
}

}  // namespace attnscope
