// Patterns from matrices of zeros and ones.
#pragma once

#include "core/attention/variants/shared/rows.h"

namespace attnscope {

// S_i from the weight `name`, [rows, columns] or [h, rows, columns]. Uses the first rows and
// columns of a larger weight; throws InputError for a smaller weight. self: allows the diagonal.
Pattern painted_pattern(const PatternInput& input, const char* name, const char* rule, bool self);

}  // namespace attnscope
