// Patterns from matrices of zeros and ones.
#pragma once

#include "core/attention/variants/shared/rows.h"

namespace attnscope {

// S_i from the weight `name`, [rows, columns] or [h, rows, columns]. Uses the first rows and
// columns of a larger weight; a smaller one is an InputError. `self`: the diagonal counts as set.
Pattern painted_pattern(const PatternInput& input, const char* name, const char* rule, bool self);

}  // namespace attnscope
