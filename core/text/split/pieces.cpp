#include "core/text/split/pieces.h"

#include <algorithm>

namespace attnscope {
namespace {

struct FoundPart {
  Span span;
  bool found;
};

// Divides a piece into matches and the text between them.
void parts_of(std::string_view piece, const Finder& finder, bool invert,
              std::vector<FoundPart>& parts) {
  parts.clear();
  std::size_t read = 0;
  finder(piece, [&](std::size_t begin, std::size_t end) {
    if (begin > read) parts.push_back({{read, begin}, invert});
    parts.push_back({{begin, end}, !invert});
    read = end;
  });
  if (read < piece.size()) parts.push_back({{read, piece.size()}, invert});
}

void merge_with_previous(std::vector<FoundPart>& parts) {
  std::vector<FoundPart> all;
  bool previous = false;
  for (const FoundPart& part : parts) {
    if (part.found && !previous && !all.empty()) {
      all.back().span.end = part.span.end;
    } else {
      all.push_back(part);
    }
    previous = part.found;
  }
  parts = std::move(all);
}

void merge_with_next(std::vector<FoundPart>& parts) {
  std::vector<FoundPart> all;
  bool next = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->found && !next && !all.empty()) {
      all.back().span.begin = part->span.begin;
    } else {
      all.push_back(*part);
    }
    next = part->found;
  }
  std::ranges::reverse(all);
  parts = std::move(all);
}

void join_neighbours(std::vector<FoundPart>& parts) {
  std::vector<FoundPart> all;
  for (const FoundPart& part : parts) {
    if (!all.empty() && all.back().found == part.found) {
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
  std::vector<FoundPart> parts;
  for (std::size_t n = 0; n < pieces.spans.size(); ++n) {
    parts_of(pieces.at(n), finder, invert, parts);
    if (behavior == SplitBehavior::MergedWithPrevious) merge_with_previous(parts);
    if (behavior == SplitBehavior::MergedWithNext) merge_with_next(parts);
    if (behavior == SplitBehavior::Contiguous) join_neighbours(parts);
    const std::size_t at = pieces.spans[n].begin;
    for (const FoundPart& part : parts) {
      if (part.span.begin == part.span.end) continue;
      if (behavior == SplitBehavior::Removed && part.found) continue;
      spans.push_back({at + part.span.begin, at + part.span.end});
    }
  }
  pieces.spans = std::move(spans);
}

}  // namespace attnscope
