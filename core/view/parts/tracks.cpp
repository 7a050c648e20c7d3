#include "core/view/parts/tracks.h"

#include <algorithm>

namespace attnscope {
namespace {

struct Growing {
  Track* track;
  double weight;
};

// Distributes `space` by weight up to the tracks' limits; returns the remainder.
double grow(std::vector<Growing> tracks, double space) {
  while (space > 0 && !tracks.empty()) {
    double weights = 0;
    for (const Growing& g : tracks) weights += g.weight;
    const double space_per_weight = space / weights;
    const auto is_limited = [&](const Growing& g) {
      return g.track->most - g.track->size <= space_per_weight * g.weight;
    };
    const bool any_limited = std::ranges::any_of(tracks, is_limited);
    for (const Growing& g : tracks) {
      const double limit = g.track->most - g.track->size;
      const double added = any_limited ? (is_limited(g) ? limit : 0) : space_per_weight * g.weight;
      g.track->size += added;
      space -= added;
    }
    if (!any_limited) return 0;
    std::erase_if(tracks, [](const Growing& g) { return g.track->size >= g.track->most; });
  }
  return space;
}

// Start and size of each track, from 0.
struct Span {
  double start = 0, size = 0;
};
std::vector<Span> spans(const Tracks& tracks) {
  std::vector<Span> result;
  double end = 0, gap = 0;
  for (const Track& t : tracks) {
    if (t.is_present()) end += gap;
    result.push_back({end, t.size});
    end += t.size;
    if (t.is_present()) gap = t.gap;
  }
  return result;
}

}  // namespace

bool fit(Tracks& tracks, double space) {
  const double free = space - extent(tracks);
  if (free < 0) return false;
  std::vector<Growing> weighted, unweighted;
  for (Track& t : tracks) {
    if (t.most > t.size)
      (t.weight > 0 ? weighted : unweighted).push_back({&t, t.weight > 0 ? t.weight : 1});
  }
  grow(std::move(unweighted), grow(std::move(weighted), free));
  return true;
}

double extent(const Tracks& tracks) {
  if (tracks.empty()) return 0;
  const Span last = spans(tracks).back();
  return last.start + last.size;
}

std::vector<Box> rows(const Box& box, const Tracks& tracks, double unit) {
  std::vector<Box> boxes;
  for (const Span& s : spans(tracks)) {
    boxes.push_back({box.x, box.y + s.start * unit, box.width, s.size * unit});
  }
  return boxes;
}

std::vector<Box> columns(const Box& box, const Tracks& tracks, double unit) {
  std::vector<Box> boxes;
  for (const Span& s : spans(tracks)) {
    boxes.push_back({box.x + s.start * unit, box.y, s.size * unit, box.height});
  }
  return boxes;
}

}  // namespace attnscope
