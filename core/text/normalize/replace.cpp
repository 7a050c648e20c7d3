#include "core/text/normalize/normalizer.h"

namespace attnscope {
namespace {

class Replace final : public Normalizer {
 public:
  Replace(Expression what, std::string with) : what_(std::move(what)), with_(std::move(with)) {}

  // A replacement is aligned with the last character that it replaces.
  void apply(AlignedText& text) const override {
    AlignedText result = text.empty_copy();
    std::size_t read = 0;
    bool any = false;
    what_.each(text.text(), [&](std::size_t begin, std::size_t end) {
      any = true;
      result.append(text, {read, begin});
      std::size_t last = end;  // start of the last replaced character
      while (last > 0 && (static_cast<unsigned char>(text.text()[--last]) & 0xc0) == 0x80) {
      }
      result.append(with_, end > 0 ? text.origin({last, end}) : text.origin({0, 0}));
      read = end;
    });
    if (!any) return;
    result.append(text, {read, text.text().size()});
    text = std::move(result);
  }

 private:
  Expression what_;
  std::string with_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string what) : what_(std::move(what)) {}

  void apply(AlignedText& text) const override {
    if (text.text().empty()) return;
    AlignedText result = text.empty_copy();
    result.append(what_, text.origin({0, 0}));
    result.append(text, {0, text.text().size()});
    text = std::move(result);
  }

 private:
  std::string what_;
};

}  // namespace

NormalizerPtr replace_normalizer(Expression what, std::string with) {
  return std::make_shared<Replace>(std::move(what), std::move(with));
}

NormalizerPtr prepend_normalizer(std::string what) {
  return std::make_shared<Prepend>(std::move(what));
}

}  // namespace attnscope
