// How the two index sets A1 and A2 of factorised attention are shared out (Child et al., 2019).
#pragma once

#include "core/attention/variants/shared/rows.h"

namespace attnscope {

Parameter factorised_mode_parameter();
Parameter stride_parameter(const char* help);

// The pattern of a mode: add_first and add_second add the runs of A1 and A2 for query i.
Pattern factorised_pattern(
    const PatternInput& input, std::vector<std::string> rules,
    const std::function<void(PatternBuilder&, int rule, Index i)>& add_first,
    const std::function<void(PatternBuilder&, int rule, Index i)>& add_second);

}  // namespace attnscope
