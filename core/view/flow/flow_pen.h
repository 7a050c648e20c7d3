// What the panels of the view Flow are drawn with: frames with a number, vectors as strips of
// colours, and what lies under the pointer.
#pragma once

#include <string>
#include <vector>

#include "core/view/flow/flow_places.h"

namespace attnscope {

// Vectors of one kind have the same components: a component is marked in all of them.
enum class FlowSpace { Query, Value, Model };

// Where few numbers are larger: what colours end at.
double flow_range(const std::vector<const Tensor*>& of);

class FlowPen {
 public:
  // `now`: the stage that is looked at.
  FlowPen(Page& page, double unit, FlowStage now) : page_(page), unit_(unit), now_(now) {}

  Page& page() { return page_; }
  const Theme& theme() const { return page_.theme(); }
  double unit() const { return unit_; }
  double small() const { return 0.82 * unit_; }

  // The frame, its number, its title, and at its right end the first note that there is room for.
  void panel(const FlowPanel& panel, const std::string& title,
             const std::vector<std::string>& notes = {});
  // Faint where it is not what is looked at now.
  void veil(const FlowPanel& panel);
  // Whether the stage is still to come: what belongs to it, but stands in another's panel, is
  // faint.
  bool is_ahead(FlowStage stage) const { return now_ < stage && now_ != FlowStage::Whole; }

  // A vector in colours from -range to range, with numbers where they fit. `name`: for the pointer.
  void strip(const Box& box, const Tensor& values, double range, FlowSpace space,
             const std::string& name, bool marked = false);
  // The component under the pointer, in all vectors of its kind, and its number.
  void mark_components(const Box& within);

  // As much as fits; returns its width.
  double words(Point at, const std::string& text, double size, double most, Align align,
               Colour colour, bool bold = false);
  // Several lines from the top of the box.
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
