// Finding "maps": tiles of maps that are too large to keep. The visible region determines the tiles
// and their resolution, and tiles are cached for later; so one object serves all maps of a window,
// and the view requests the visible tiles from it.
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
