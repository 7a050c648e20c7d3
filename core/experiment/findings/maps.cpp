// Maps too large to keep, tile by tile. Nobody could compute them whole: which tiles there are to
// compute, at which resolution, follows from what is in sight, and tiles of a map that is looked at
// again must still be there. So this is one object for all maps of a window, which a view asks for
// what it shows and which remembers by itself; it only comes to the view as other findings do.
#include "core/attention/map_pyramid.h"
#include "core/experiment/finding.h"

namespace attnscope {

Finding maps_finding() {
  return {.id = Findings::maps.id,
          .summary = "Maps too large to keep, computed where somebody looks.",
          .exists = [](const Experiment&) { return true; },
          .holds = {},
          .live =
              [](std::function<void()> wake, Findings& results) {
                results.set(Findings::maps, std::make_shared<MapPyramid>(std::move(wake)));
              }};
}

}  // namespace attnscope
