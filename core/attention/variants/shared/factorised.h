// Division of factorised attention into the index sets A1 and A2 (Child et al., 2019).
#pragma once

#include "core/attention/variants/shared/rows.h"

namespace attnscope {

Parameter factorised_mode_parameter();
Parameter stride_parameter(const char* help);

// Pattern of A1, A2 or both, as the parameter "mode" selects. add_first() and add_second() add
// query i's runs of A1 and A2.
Pattern factorised_pattern(
    const PatternInput& input, std::vector<std::string> rules,
    const std::function<void(PatternBuilder&, int rule, Index i)>& add_first,
    const std::function<void(PatternBuilder&, int rule, Index i)>& add_second);

}  // namespace attnscope
