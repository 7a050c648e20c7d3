#include "core/text/normalize/normalizer.h"
#include "core/text/unicode8.h"

namespace attnscope {
namespace {

bool is_chinese(std::int32_t c) {
  const auto in_range = [c](std::int32_t first, std::int32_t last) {
    return c >= first && c <= last;
  };
  return in_range(0x4e00, 0x9fff) || in_range(0x3400, 0x4dbf) || in_range(0x20000, 0x2a6df) ||
         in_range(0x2a700, 0x2b81f) || in_range(0x2b920, 0x2ceaf) || in_range(0xf900, 0xfaff) ||
         in_range(0x2f800, 0x2fa1f);
}

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(const BertOptions& options) : options_(options) {}

  void apply(AlignedText& text) const override {
    if (options_.clean_text) clean(text);
    if (options_.chinese_characters) space_chinese(text);
    if (options_.strip_accents) {
      apply_unicode_form(text, UnicodeForm::Nfd);
      filter_characters(text, [](std::int32_t c) { return !is_unicode8_nonspacing_mark(c); });
    }
    if (options_.lowercase) lowercase(text);
  }

 private:
  static void clean(AlignedText& text) {
    constexpr std::int32_t kReplacement = 0xfffd;
    filter_characters(text, [](std::int32_t c) {
      if (c == '\t' || c == '\n' || c == '\r') return true;
      return c != 0 && c != kReplacement && !is_unicode8_control(c);
    });
    map_characters(text, [](std::int32_t c) { return is_white_space(c) ? std::int32_t{' '} : c; });
  }

  static void space_chinese(AlignedText& text) {
    std::vector<NewCharacter> spaced;
    bool changed = false;
    for (std::size_t at = 0; at < text.text().size();) {
      const std::int32_t code = next_code(text.text(), at);
      const bool chinese = is_chinese(code);
      if (chinese) spaced.push_back({' ', 1});
      spaced.push_back({code, 0});
      if (chinese) spaced.push_back({' ', 1});
      changed = changed || chinese;
    }
    if (changed) text.rewrite(spaced);
  }

  BertOptions options_;
};

class StripAccents final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    filter_characters(text, [](std::int32_t c) { return !is_unicode8_mark(c); });
  }
};

}  // namespace

NormalizerPtr bert_normalizer(const BertOptions& options) {
  return std::make_shared<BertNormalizer>(options);
}

NormalizerPtr strip_accents_normalizer() {
  return std::make_shared<StripAccents>();
}

}  // namespace attnscope
