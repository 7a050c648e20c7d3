// HTML pages that show exported pictures.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::command {

// title: plain text; body: HTML.
void write_html_page(const std::filesystem::path& path, const std::string& title,
                     const std::string& body);

}  // namespace attnscope::command
