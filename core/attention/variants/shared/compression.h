// How a Compressive Transformer turns old rows of memory into fewer (SPEC-MODELS section 4).
#pragma once

#include "core/attention/remembered.h"
#include "core/base/parameter.h"

namespace attnscope {

// After a segment: the last M rows stay; of the older ones whole windows become a row each, of
// which the last C stay. What that loses is added to the losses that are turned on.
void remember_compressing(const SegmentRead& read, Remembered& remembered);

bool is_convolution(const Values& values);  // has a kernel: "convolution", "dilated"

WeightInfo kernel_weight(const char* name, const char* help,
                         std::function<bool(const Values&)> used);  // [rate, d, d]
Parameter loss_weight_parameter(const char* key, const char* label, const char* help);

}  // namespace attnscope
