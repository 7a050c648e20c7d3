#include "core/text/normalize/normalizer.h"

namespace attnscope {
namespace {

class Replace final : public Normalizer {
 public:
  Replace(Expression pattern, std::string replacement)
      : pattern_(std::move(pattern)), replacement_(std::move(replacement)) {}

  // A replacement is aligned with the last character that it replaces.
  void apply(AlignedText& text) const override {
    AlignedText result = text.empty_copy();
    std::size_t read = 0;
    bool changed = false;
    pattern_.each(text.text(), [&](std::size_t begin, std::size_t end) {
      changed = true;
      result.append(text, {read, begin});
      std::size_t last = end;  // start of the last replaced character
      while (last > 0 && (static_cast<unsigned char>(text.text()[--last]) & 0xc0) == 0x80) {
      }
      result.append(replacement_, end > 0 ? text.origin({last, end}) : text.origin({0, 0}));
      read = end;
    });
    if (!changed) return;
    result.append(text, {read, text.text().size()});
    text = std::move(result);
  }

 private:
  Expression pattern_;
  std::string replacement_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}

  void apply(AlignedText& text) const override {
    if (text.text().empty()) return;
    AlignedText result = text.empty_copy();
    result.append(prefix_, text.origin({0, 0}));
    result.append(text, {0, text.text().size()});
    text = std::move(result);
  }

 private:
  std::string prefix_;
};

}  // namespace

NormalizerPtr replace_normalizer(Expression pattern, std::string replacement) {
  return std::make_shared<Replace>(std::move(pattern), std::move(replacement));
}

NormalizerPtr prepend_normalizer(std::string prefix) {
  return std::make_shared<Prepend>(std::move(prefix));
}

}  // namespace attnscope
