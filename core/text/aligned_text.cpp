#include "core/text/aligned_text.h"

#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/base/stop.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

// Steps of a tokenizer file can multiply the length of a text. Each byte has an origin.
void check_size(std::size_t bytes) {
  check_stop();
  const std::size_t most = memory_budget() / (4 * (sizeof(Span) + 1));
  if (bytes <= most) return;
  throw InputError("text: the tokenizer makes it longer than " + std::to_string(most) +
                   " bytes, which the memory limit allows");
}

}  // namespace

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
  check_size(text_.size() + bytes.size());
  store_origins();
  text_ += bytes;
  origins_.insert(origins_.end(), bytes.size(), origin);
}

void AlignedText::append(const AlignedText& other, Span part) {
  check_size(text_.size() + part.end - part.begin);
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
  result.keeps_begin_ = keeps_begin_ || dropped > 0;
  *this = std::move(result);
}

}  // namespace attnscope
