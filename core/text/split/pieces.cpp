#include "core/text/split/pieces.h"

#include <algorithm>

namespace attnscope {
namespace {

struct SplitPart {
  Span span;
  bool is_match;
};

// Splits a piece into matches and the text between them.
void split_piece(std::string_view piece, const Finder& finder, bool invert,
                 std::vector<SplitPart>& parts) {
  parts.clear();
  std::size_t read = 0;
  finder(piece, [&](std::size_t begin, std::size_t end) {
    if (begin > read) parts.push_back({{read, begin}, invert});
    parts.push_back({{begin, end}, !invert});
    read = end;
  });
  if (read < piece.size()) parts.push_back({{read, piece.size()}, invert});
}

void merge_with_previous(std::vector<SplitPart>& parts) {
  std::vector<SplitPart> all;
  bool after_match = false;
  for (const SplitPart& part : parts) {
    if (part.is_match && !after_match && !all.empty()) {
      all.back().span.end = part.span.end;
    } else {
      all.push_back(part);
    }
    after_match = part.is_match;
  }
  parts = std::move(all);
}

void merge_with_next(std::vector<SplitPart>& parts) {
  std::vector<SplitPart> all;
  bool before_match = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->is_match && !before_match && !all.empty()) {
      all.back().span.begin = part->span.begin;
    } else {
      all.push_back(*part);
    }
    before_match = part->is_match;
  }
  std::ranges::reverse(all);
  parts = std::move(all);
}

void join_neighbours(std::vector<SplitPart>& parts) {
  std::vector<SplitPart> all;
  for (const SplitPart& part : parts) {
    if (!all.empty() && all.back().is_match == part.is_match) {
      all.back().span.end = part.span.end;
    } else {
      all.push_back(part);
    }
  }
  parts = std::move(all);
}

}  // namespace

void cut_pieces(Pieces& pieces, const Finder& finder, SplitBehavior behavior, bool invert) {
  std::vector<Span> spans;
  spans.reserve(pieces.spans.size());
  std::vector<SplitPart> parts;
  for (std::size_t n = 0; n < pieces.spans.size(); ++n) {
    split_piece(pieces.at(n), finder, invert, parts);
    if (behavior == SplitBehavior::MergedWithPrevious) merge_with_previous(parts);
    if (behavior == SplitBehavior::MergedWithNext) merge_with_next(parts);
    if (behavior == SplitBehavior::Contiguous) join_neighbours(parts);
    const std::size_t at = pieces.spans[n].begin;
    for (const SplitPart& part : parts) {
      if (part.span.begin == part.span.end) continue;
      if (behavior == SplitBehavior::Removed && part.is_match) continue;
      spans.push_back({at + part.span.begin, at + part.span.end});
    }
  }
  pieces.spans = std::move(spans);
}

}  // namespace attnscope
