// The pages that show pictures which were written into a folder.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::command {

// Also its parents. WorkError when it cannot be made.
void make_folder(const std::filesystem::path& folder);

// `body` is HTML.
void write_html_page(const std::filesystem::path& path, const std::string& title,
                     const std::string& body);

}  // namespace attnscope::command
