// Configuration of models that consist of recurrent cells and have no transformer layers.
#pragma once

#include <string>

#include "core/model/config.h"

namespace attnscope {

// Reason why the settings of layers do not fit a recurrent model ("architecture: .."); empty if
// they do.
std::string recurrent_refusal(const ModelConfig& config);
// Replaces layers by a recurrent cell.
void adapt_to_recurrent(ModelConfig& config);

}  // namespace attnscope
