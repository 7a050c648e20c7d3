// Tokenizers from the texts of their files.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/text/tokenizer.h"

namespace attnscope {

// `files` by name, as tokenizer_file_names() lists them: what load_tokenizer() reads from a folder.
// `saved` is what save() writes; empty: these. `name` (the folder) begins the messages of
// InputErrors.
std::shared_ptr<const Tokenizer> tokenizer_from_files(
    std::map<std::string, std::string> files, std::string_view name,
    std::map<std::string, std::string> saved = {});

}  // namespace attnscope
