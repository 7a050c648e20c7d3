// Causal order of variants that are not causal in their basic form.
#pragma once

#include <string>

#include "core/attention/variant.h"

namespace attnscope {

// Reason why causal order is refused with these values; empty if it is allowed. A variant with a
// form for causal order has the flag "decoder", which selects this form.
std::string causal_refusal(const Variant& variant, const Values& values);

}  // namespace attnscope
