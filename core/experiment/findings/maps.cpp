// Finding "maps": attention maps that are too large to store, computed in tiles. One MapPyramid
// computes and caches the tiles of all maps of a window. A view requests the tiles of its visible
// region at its display resolution.
#include "core/attention/map_pyramid.h"
#include "core/experiment/finding.h"

namespace attnscope {

Finding maps_finding() {
  return {.id = Findings::maps.id,
          .summary = "Maps too large to keep, computed in tiles on demand.",
          .exists = [](const Session&) { return true; },
          .live =
              [](std::function<void()> wake, Findings& results) {
                results.set(Findings::maps, std::make_shared<MapPyramid>(std::move(wake)));
              }};
}

}  // namespace attnscope
