// Library messages that must not reach the user.
#pragma once

#include <string>

namespace attnscope::testing {

// The first text that contains such a message; otherwise "".
inline std::string foreign_words(const std::string& text) {
  constexpr const char* kForeign[] = {"filesystem error",
                                      "cannot create directories",
                                      "json.exception",
                                      "nlohmann",
                                      "libpng",
                                      "libzip",
                                      "Zip archive",
                                      "stbi",
                                      "Pango",
                                      "Cairo",
                                      "cairo_",
                                      "GLFW",
                                      "GLib",
                                      "Fontconfig",
                                      "libEGL",
                                      "libGL",
                                      "LLVM ERROR",
                                      "MESA",
                                      "std::",
                                      "basic_string",
                                      "what():",
                                      "terminate",
                                      "_M_",
                                      "vector::"};
  for (const char* words : kForeign) {
    if (text.find(words) != std::string::npos) return text;
  }
  return "";
}

}  // namespace attnscope::testing
