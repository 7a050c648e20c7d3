// Lower case of ASCII letters, independent of the locale. Other bytes stay unchanged.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope {

char lower_case(char c);
std::string lower_case(std::string text);
std::string lower_extension(const std::filesystem::path& path);  // ".png" for "a/B.PNG"

}  // namespace attnscope
