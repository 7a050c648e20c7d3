// Memory compression of the Compressive Transformer (spec-models.md, section 4).
#pragma once

#include "core/attention/remembered.h"
#include "core/base/parameter.h"

namespace attnscope {

// Updates the memory after a segment: the last M rows stay; whole windows of older ones become one
// row each, of which the last C stay. Adds the enabled reconstruction losses.
void remember_compressing(const SegmentRead& read, Remembered& remembered);

bool is_convolution(const Values& values);  // has a kernel: "convolution", "dilated"

WeightInfo kernel_weight(const char* name, const char* help,
                         std::function<bool(const Values&)> used);  // [rate, d, d]
Parameter loss_weight_parameter(const char* key, const char* label, const char* help);

}  // namespace attnscope
