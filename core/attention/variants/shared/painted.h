// Patterns from matrices of zeros and ones.
#pragma once

#include "core/attention/variants/shared/rows.h"

namespace attnscope {

// S_i from the weight `name`, [rows, columns] or [h, rows, columns]; a larger one serves with its
// first rows and columns, a smaller one is an InputError. `self`: the diagonal counts as set.
Pattern painted_pattern(const PatternInput& input, const char* name, const char* rule, bool self);

}  // namespace attnscope
