// Memory compression of the Compressive Transformer (spec-models.md, section 4).
#pragma once

#include "core/attention/remembered.h"
#include "core/base/parameter.h"

namespace attnscope {

// Updates the memory after a segment: stores the last M rows, compresses each whole window of older
// rows to one row, and stores the last C compressed rows. Adds the enabled reconstruction losses.
void remember_compressing(const CompletedSegment& segment, Remembered& remembered);

bool is_convolution(const Values& values);  // function "convolution" or "dilated"

WeightInfo kernel_weight(const char* name, const char* help,
                         std::function<bool(const Values&)> used);  // kernel [rate, d, d]
Parameter loss_weight_parameter(const char* key, const char* label, const char* help);

}  // namespace attnscope
