// Library messages that must not reach the user.
#pragma once

#include <string>

namespace attnscope::testing {

// Returns `text` if it contains a message of a library; otherwise "".
inline std::string leaked_library_message(const std::string& text) {
  constexpr const char* kLibraryMessages[] = {"filesystem error",
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
  for (const char* message : kLibraryMessages) {
    if (text.find(message) != std::string::npos) return text;
  }
  return "";
}

}  // namespace attnscope::testing
