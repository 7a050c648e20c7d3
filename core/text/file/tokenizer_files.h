// Creates tokenizers from the contents of their files.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/text/tokenizer.h"

namespace attnscope {

// `files`: contents by name (tokenizer_file_names()), as load_tokenizer() reads them. `saved`:
// contents that Tokenizer::save() writes, by default `files`. `name` (the folder) begins the
// messages of InputErrors.
std::shared_ptr<const Tokenizer> tokenizer_from_files(
    std::map<std::string, std::string> files, std::string_view name,
    std::map<std::string, std::string> saved = {});

}  // namespace attnscope
