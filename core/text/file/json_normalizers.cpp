#include "core/base/base64.h"
#include "core/text/file/json_steps.h"

namespace attnscope {
namespace {

constexpr int kMaxNesting = 16;
constexpr std::size_t kMaxSteps = 64;

void add_steps(const Entry& step, const char* list, int depth, std::vector<Entry>& steps) {
  if (step.type() != "Sequence") {
    steps.push_back(step);
    return;
  }
  if (depth == kMaxNesting) step.unsupported();
  for (const Entry& inner : step.at(list).items()) add_steps(inner, list, depth + 1, steps);
  if (steps.size() > kMaxSteps) {
    throw InputError(step.where + ": more than " + std::to_string(kMaxSteps) +
                     " steps are not supported");
  }
}

// Like Hugging Face's tokenizers, accepts data without padding.
std::string decode_base64(const Entry& entry) {
  std::string text = entry.text();
  text.resize((text.size() + 3) / 4 * 4, '=');
  std::optional<std::string> bytes = from_base64(text);
  if (!bytes) entry.fail("base64 data");
  return *std::move(bytes);
}

NormalizerPtr read_bert(const Entry& step) {
  BertOptions options;
  options.clean_text = step.flag_or("clean_text", true);
  options.chinese_characters = step.flag_or("handle_chinese_chars", true);
  options.lowercase = step.flag_or("lowercase", true);
  options.strip_accents = step.flag_or("strip_accents", options.lowercase);
  return bert_normalizer(options);
}

NormalizerPtr read_normalizer(const Entry& step) {
  const std::string type = step.type();
  if (type == "NFC") return unicode_form_normalizer(UnicodeForm::Nfc);
  if (type == "NFD") return unicode_form_normalizer(UnicodeForm::Nfd);
  if (type == "NFKC") return unicode_form_normalizer(UnicodeForm::Nfkc);
  if (type == "NFKD") return unicode_form_normalizer(UnicodeForm::Nfkd);
  if (type == "Lowercase") return lowercase_normalizer();
  if (type == "StripAccents") return strip_accents_normalizer();
  if (type == "BertNormalizer") return read_bert(step);
  if (type == "Nmt") return nmt_normalizer();
  if (type == "ByteLevel") return byte_level_normalizer();
  if (type == "Prepend") return prepend_normalizer(step.at("prepend").text());
  if (type == "Replace") return replace_normalizer(read_pattern(step), step.at("content").text());
  if (type == "Strip" || type == "StripNormalizer") {
    return strip_normalizer(step.flag_or("strip_left", true), step.flag_or("strip_right", true));
  }
  if (type == "Precompiled") {
    if (!step.has("precompiled_charsmap")) return precompiled_normalizer("", step.where);
    const Entry table = step.at("precompiled_charsmap");
    return precompiled_normalizer(decode_base64(table), table.where);
  }
  step.unsupported();
}

}  // namespace

std::vector<Entry> section_steps(const Entry& root, const char* section, const char* list) {
  std::vector<Entry> steps;
  if (root.has(section)) add_steps(root.at(section), list, 0, steps);
  return steps;
}

Expression read_pattern(const Entry& step) {
  const Entry pattern = step.at("pattern");
  if (pattern.has("String")) {
    const std::string& text = pattern.at("String").text();
    if (text.empty()) pattern.at("String").fail("a non-empty string");
    return Expression::literal(text);
  }
  return Expression(pattern.at("Regex").text(), pattern.where);
}

void read_normalizers(const Entry& root, PipelineSteps& steps) {
  for (const Entry& step : section_steps(root, "normalizer", "normalizers")) {
    steps.normalizers.push_back(read_normalizer(step));
  }
}

}  // namespace attnscope
