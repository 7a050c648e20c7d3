#include "core/text/aligned_text.h"

#include "core/text/unicode.h"

namespace attnscope {

Span AlignedText::origin(Span part) const {
  if (origins_.empty()) return {offset_ + part.begin, offset_ + part.end};
  if (part.begin >= part.end) {
    const bool at_end = part.begin > 0 && part.begin == origins_.size();
    const std::size_t at = at_end ? origins_.back().end : origins_[part.begin].begin;
    return {at, at};
  }
  return {origins_[part.begin].begin, origins_[part.end - 1].end};
}

void AlignedText::store_origins() {
  if (!origins_.empty()) return;
  origins_.reserve(text_.size());
  for (std::size_t i = 0; i < text_.size(); ++i) origins_.push_back({offset_ + i, offset_ + i + 1});
}

void AlignedText::append(std::string_view bytes, Span origin) {
  store_origins();
  text_ += bytes;
  origins_.insert(origins_.end(), bytes.size(), origin);
}

void AlignedText::append(const AlignedText& other, Span part) {
  store_origins();
  text_.append(other.text_, part.begin, part.end - part.begin);
  if (!other.origins_.empty()) {
    const auto first = other.origins_.begin();
    origins_.insert(origins_.end(), first + static_cast<std::ptrdiff_t>(part.begin),
                    first + static_cast<std::ptrdiff_t>(part.end));
    return;
  }
  for (std::size_t i = part.begin; i < part.end; ++i) {
    origins_.push_back(other.origin({i, i + 1}));
  }
}

void AlignedText::rewrite(const std::vector<NewCharacter>& characters, std::size_t dropped) {
  AlignedText result = empty_copy();
  std::size_t at = 0;
  Span last_origin{offset_, offset_};  // original span of the character before `at`
  const auto skip_character = [&] {
    if (at >= text_.size()) return;
    const std::size_t size = character_at(text_, at).size;
    last_origin = origin({at, at + size});
    at += size;
  };
  for (std::size_t n = 0; n < dropped; ++n) skip_character();
  for (const NewCharacter& c : characters) {
    std::string bytes;
    append_character(bytes, c.code);
    if (c.change <= 0) skip_character();
    const Span character_origin = last_origin;
    for (int n = 0; n < -c.change; ++n) skip_character();
    result.append(bytes, character_origin);
  }
  *this = std::move(result);
}

}  // namespace attnscope
