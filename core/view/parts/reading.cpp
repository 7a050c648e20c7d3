#include "core/view/parts/reading.h"

namespace attnscope {

std::function<ViewReading(const ViewSettings&, const Trace*)> fixed_reading(
    std::string text, std::vector<ViewTerm> terms) {
  return [reading = ViewReading{std::move(text), std::move(terms)}](
             const ViewSettings&, const Trace*) { return reading; };
}

}  // namespace attnscope
