// Introductory explanation of a view for first-time users.
#pragma once

#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

// View::reading that does not depend on the settings.
std::function<ViewReading(const ViewSettings&, const Trace*)> fixed_reading(
    std::string text, std::vector<ViewTerm> terms);

}  // namespace attnscope
