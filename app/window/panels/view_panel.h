// The middle of the window: toolbar with the tabs of the views, and the picture.
#pragma once

#include "app/window/panels/parameter_panel.h"
#include "app/window/panels/stage_pair.h"
#include "app/window/panels/view_toolbar.h"
#include "app/window/state.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/ui.h"
#include "core/attention/map_pyramid.h"
#include "core/view/view.h"

namespace attnscope::window {

// The previous picture, fading out over the new one.
struct PreviousPicture {
  unsigned int texture = 0;  // bottom row first
  PixelBox box;              // position on the screen
  float opacity = 0;         // 0: not drawn
};

// The latest layout and its inputs; a change of an input causes a new layout.
struct Picture {
  struct Key {
    std::shared_ptr<const Trace> trace;
    Findings findings;
    ViewSettings view, view_b;  // view settings of A and B
    double width = 0, height = 0, scale = 0;
    bool is_dark = false, is_presenting = false;
    double pointer_x = -1, pointer_y = -1;
    std::uint64_t maps = 0;  // version of the maps under computation
    bool is_flipped = false, adds = false, extends = false;
    Interventions interventions{};
    bool operator==(const Key&) const = default;
  };
  Key key;
  ViewCache cache;
  Findings live;  // see Finding::live
  ViewLayout layout;
  std::string problem;       // reason why there is no layout; empty if there is one
  ParameterWidgets widgets;  // widgets of the view's parameters
  HeadNotes head_notes;
  StagePairs pairs;
  PixelBox box;  // position in the last frame, in pixels; zero width: not drawn
  PreviousPicture previous;

  // True if the maps have become more complete after the last frame.
  bool is_stale() const { return maps() != nullptr && maps()->version() != shown_maps_version; }
  std::shared_ptr<MapPyramid> maps() const { return live.get(Findings::maps); }
  std::uint64_t shown_maps_version = 0;  // version in the last frame
};

void draw_view_panel(Ui& ui, State& state, Picture& picture, Painter& painter);

}  // namespace attnscope::window
