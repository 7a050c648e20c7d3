// What a view says to those who see it for the first time.
#pragma once

#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

// View::reading of a view that says the same however it is set.
std::function<ViewReading(const ViewSettings&, const Trace*)> reads_as(std::string text,
                                                                       std::vector<ViewTerm> terms);

}  // namespace attnscope
