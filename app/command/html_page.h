// The pages that show pictures which were written into a folder.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::command {

// `body` is HTML.
void write_html_page(const std::filesystem::path& path, const std::string& title,
                     const std::string& body);

}  // namespace attnscope::command
