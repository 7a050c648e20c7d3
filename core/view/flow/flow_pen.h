// Drawing of flow panels: numbered frames, vectors as colour strips, hit targets.
#pragma once

#include <string>
#include <vector>

#include "core/view/flow/flow_layout.h"

namespace attnscope {

// Vector spaces: a hovered component is marked in all vectors of the same space.
enum class FlowSpace { Query, Value, Model };

// Upper end of a colour range that only a few numbers of the tensors exceed.
double flow_range(const std::vector<const Tensor*>& tensors);

class FlowPen {
 public:
  // `unit`: font size, the unit of all lengths; `stage`: the current stage.
  FlowPen(Page& page, double unit, FlowStage stage) : page_(page), unit_(unit), current_(stage) {}

  Page& page() { return page_; }
  const Page& page() const { return page_; }
  const Theme& theme() const { return page_.theme(); }
  double unit() const { return unit_; }
  double small() const { return page_.legible(0.82 * unit_); }

  // Draws frame, number, title and the first note that fits (right-aligned).
  void panel(const FlowPanel& panel, const std::string& title,
             const std::vector<std::string>& notes = {});
  // Outlines the panel if its stage is the current one; fades it if another stage is current.
  void highlight_current(const FlowPanel& panel);
  // True if the stage follows the current one; other panels draw its elements faintly.
  bool is_later(FlowStage stage) const { return current_ < stage && current_ != FlowStage::Whole; }

  // Draws a vector as colours in [-range, range], with numbers in wide cells. `name`: hover label.
  void strip(const Box& box, const Tensor& values, double range, FlowSpace space,
             const std::string& name, bool is_marked = false);
  // Marks the hovered component in all vectors of its space, and labels its value.
  void mark_components(const Box& within);

  // Draws the text, shortened to `max_width`; returns its width.
  double text(Point at, const std::string& text, double size, double max_width, Align align,
              Colour colour, bool bold = false);
  // Draws wrapped text from the top of the box.
  void message(const Box& box, const std::string& text);
  void arrow_along(std::vector<Point> points, FlowStage to);

  Colour stage_colour(FlowStage stage) const;

 private:
  struct Strip {
    Box box;
    Tensor values;
    FlowSpace space;
    std::string name;
  };
  void draw_numbers(const Strip& strip, const HeatMap& map);

  Page& page_;
  double unit_;
  FlowStage current_;
  std::vector<Strip> strips_;
};

}  // namespace attnscope
