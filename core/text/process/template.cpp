#include "core/text/process/template.h"

#include <algorithm>

namespace attnscope {

Template bert_template(std::int32_t begin, std::int32_t separator) {
  return {{{-1, begin, 0}, {0, 0, 0}, {-1, separator, 0}},
          {{-1, begin, 0}, {0, 0, 0}, {-1, separator, 0}, {1, 0, 1}, {-1, separator, 1}}};
}

Template roberta_template(std::int32_t begin, std::int32_t separator) {
  return {{{-1, begin, 0}, {0, 0, 0}, {-1, separator, 0}},
          {{-1, begin, 0},
           {0, 0, 0},
           {-1, separator, 0},
           {-1, separator, 0},
           {1, 0, 0},
           {-1, separator, 0}}};
}

namespace {

bool is_token(const TemplatePart& part, std::int32_t id) {
  return part.text < 0 && part.id == id;
}

}  // namespace

void set_before(Template& all, std::int32_t id, bool enabled) {
  const bool present = !all.single.empty() && is_token(all.single.front(), id);
  if (present == enabled) return;
  if (!enabled) {
    all.single.erase(all.single.begin());
    std::erase_if(all.pair, [&](const TemplatePart& part) { return is_token(part, id); });
    return;
  }
  all.single.insert(all.single.begin(), {-1, id, 0});
  for (std::size_t n = 0; n < all.pair.size(); ++n) {
    if (all.pair[n].text < 0) continue;
    const TemplatePart token{-1, id, all.pair[n].segment};
    all.pair.insert(all.pair.begin() + static_cast<std::ptrdiff_t>(n++), token);
  }
}

void set_after(Template& all, std::int32_t id, bool enabled) {
  const bool present = !all.single.empty() && is_token(all.single.back(), id);
  if (present == enabled) return;
  if (!enabled) {
    all.single.pop_back();
    std::erase_if(all.pair, [&](const TemplatePart& part) { return is_token(part, id); });
    return;
  }
  all.single.push_back({-1, id, 0});
  for (std::size_t n = 0; n < all.pair.size(); ++n) {
    if (all.pair[n].text < 0) continue;
    const TemplatePart token{-1, id, all.pair[n].segment};
    all.pair.insert(all.pair.begin() + static_cast<std::ptrdiff_t>(++n), token);
  }
}

std::vector<Token> assemble(const std::vector<TemplatePart>& parts,
                            const std::vector<EncodedText>& texts) {
  std::vector<Token> all;
  int text = 0;  // Token::text of the last tokens
  std::size_t at = 0, count = parts.size();
  for (const EncodedText& encoded : texts) count += encoded.tokens.size();
  all.reserve(count);
  for (const TemplatePart& part : parts) {
    if (part.text < 0) {
      all.push_back({part.id, at, at, true, part.segment, text});
      continue;
    }
    const EncodedText& encoded = texts[static_cast<std::size_t>(part.text)];
    text = part.text;
    at = encoded.size;
    for (Token token : encoded.tokens) {
      token.segment = part.segment;
      token.text = text;
      all.push_back(token);
    }
  }
  return all;
}

}  // namespace attnscope
