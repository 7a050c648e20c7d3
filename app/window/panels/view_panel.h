// The middle of the window: tabs of the views, which layer and head they show, the picture, and
// the mouse's work on it.
#pragma once

#include "app/window/panels/parameter_panel.h"
#include "app/window/panels/stage_pair.h"
#include "app/window/state.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/ui.h"
#include "core/attention/map_pyramid.h"
#include "core/view/view.h"

namespace attnscope::window {

// A picture of before that goes: what the screen showed, over the new one.
struct Before {
  unsigned int texture = 0;  // its rows from below
  PixelBox box;              // where it was
  float share = 0;           // 0: it is gone
};

// The picture that was laid out last, and for what: it is laid out anew when any of this changes.
struct Picture {
  struct Key {
    std::shared_ptr<const Trace> trace;
    Findings findings;
    ViewSettings view, other_view;  // other_view: of the run beside it
    double width = 0, height = 0, scale = 0;
    bool dark = false, presenting = false;
    double pointer_x = -1, pointer_y = -1;
    std::uint64_t maps = 0;  // version of the maps that come in
    bool flipped = false;
    Interventions interventions{};
    bool operator==(const Key&) const = default;
  };
  Key key;
  ViewCache cache;
  Findings live;  // see Finding::live
  ViewLayout layout;
  std::string problem;  // why there is no layout
  ListTexts texts;      // in the fields of the view's parameters
  StagePairs pairs;
  PixelBox box;  // where it was drawn last, in pixels; without width: nowhere
  Before before;

  // Whether a map that it shows is more complete by now.
  bool stale() const { return maps() != nullptr && maps()->version() != maps_seen; }
  std::shared_ptr<MapPyramid> maps() const { return live.get(Findings::maps); }
  std::uint64_t maps_seen = 0;  // the version that the last frame knew of
};

void draw_view_panel(Ui& ui, State& state, Picture& picture, Painter& painter);

}  // namespace attnscope::window
