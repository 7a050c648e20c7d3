// Tokenizers with reference results (references/, written by make_references.py).
//
// A folder contains the files of a tokenizer, the ids and spans that its reference library finds
// (expected), and the kind of tokenizer for the documentation (kind). A folder with a file
// `vocabulary_of` names another folder, and contains tokenizer_config.json only: it represents the
// older files vocab.txt, or vocab.json and merges.txt, with the vocabulary and the results of that
// folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/text/tokenizer.h"

namespace attnscope::testing {

std::filesystem::path reference_folder(const std::string& name);
std::vector<std::string> reference_names();  // in ascending order
std::shared_ptr<const Tokenizer> reference_tokenizer(const std::string& name);
// Lines of the file `expected`.
std::vector<std::string> reference_results(const std::string& name);
std::vector<std::string> lines_of(const std::filesystem::path& file);

}  // namespace attnscope::testing
