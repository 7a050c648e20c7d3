// Drawing of flow panels: numbered frames, vectors as colour strips, hit targets.
#pragma once

#include <string>
#include <vector>

#include "core/view/flow/flow_layout.h"

namespace attnscope {

// Vector spaces: a hovered component is marked in all vectors of the same space.
enum class FlowSpace { Query, Value, Model };

// Colour range that only a few of the numbers exceed.
double flow_range(const std::vector<const Tensor*>& tensors);

class FlowPen {
 public:
  // `now`: the current stage.
  FlowPen(Page& page, double unit, FlowStage now) : page_(page), unit_(unit), now_(now) {}

  Page& page() { return page_; }
  const Theme& theme() const { return page_.theme(); }
  double unit() const { return unit_; }
  double small() const { return 0.82 * unit_; }

  // Draws frame, number, title and the first note that fits (right-aligned).
  void panel(const FlowPanel& panel, const std::string& title,
             const std::vector<std::string>& notes = {});
  // Fades a panel unless its stage is current, which gets an outline.
  void veil(const FlowPanel& panel);
  // True for later stages: their elements in other panels are faint.
  bool is_ahead(FlowStage stage) const { return now_ < stage && now_ != FlowStage::Whole; }

  // Draws a vector in colours from -range to range, with numbers if they fit; `name` if hovered.
  void strip(const Box& box, const Tensor& values, double range, FlowSpace space,
             const std::string& name, bool marked = false);
  // Marks the hovered component in all vectors of its space, with its value.
  void mark_components(const Box& within);

  // Draws the text, shortened to `most`; returns its width.
  double words(Point at, const std::string& text, double size, double most, Align align,
               Colour colour, bool bold = false);
  // Draws wrapped text from the top of the box.
  void message(const Box& box, const std::string& text);
  void arrow_along(std::vector<Point> points, FlowStage to);

  Colour hue(FlowStage stage) const;

 private:
  struct Strip {
    Box box;
    Tensor values;
    FlowSpace space;
    std::string name;
  };
  void numbers(const Strip& strip, const HeatMap& map);

  Page& page_;
  double unit_;
  FlowStage now_;
  std::vector<Strip> strips_;
};

}  // namespace attnscope
