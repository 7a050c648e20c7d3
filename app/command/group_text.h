// A choice for some heads as text.
#pragma once

#include <string>

#include "core/experiment/experiment.h"

namespace attnscope::command {

// "layers=0,2;heads=0-3;variant=local,window=4;position=alibi". Without `layers` all layers,
// without `heads` all heads. InputError begins with "--group", or as those of the choices.
GroupChoice group_from_text(const std::string& text);

}  // namespace attnscope::command
