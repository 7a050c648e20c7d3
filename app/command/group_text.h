// Text format of choices that apply to some layers and heads.
#pragma once

#include <string>

#include "app/command/experiment_options.h"

namespace attnscope::command {

// Parses "layers=0,2;heads=0-3;variant=local,window=4;position=alibi". Applies to all layers or all
// heads by default. Errors begin with "--group", "variant" or "position".
GroupChoice group_from_text(const std::string& text, Omitted omitted = Omitted::Default);

}  // namespace attnscope::command
