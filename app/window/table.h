// The numbers of a picture as comma-separated text.
#pragma once

#include <string>

#include "core/experiment/experiment.h"
#include "core/experiment/trace.h"

namespace attnscope::window {

// The attention of the view's layer and head: a first row of key tokens, then a row for each query
// that begins with its token.
std::string picture_csv(const Trace& trace, const Experiment& experiment);

// Quoted where commas, quotes or line ends make it necessary (RFC 4180).
std::string csv_field(const std::string& text);

}  // namespace attnscope::window
