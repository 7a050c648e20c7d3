// Compilation of the shaders in shaders/.
//
// A file can include another file of its folder with a line `#include "name"`. Errors are
// WorkErrors that name the file and line on disk.
#pragma once

#include <epoxy/gl.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attnscope {

// `#define NAME VALUE` lines that select the computation of a shader.
using Defines = std::map<std::string, int>;

// A file's text with its includes inserted, each once, and the origin of each line. The text has no
// #line directives, since some drivers then report errors in the wrong file.
struct ShaderText {
  struct Origin {
    std::string file;
    int line;
    bool operator==(const Origin&) const = default;
  };
  std::string text;
  std::vector<Origin> origins;
};
ShaderText expand_includes(const std::filesystem::path& folder, const std::string& file);

// Converts the first error of a compiler's log, "0:12(3): error: ...", to "attend.glsl:5: ...".
std::string readable_shader_error(const std::string& log,
                                  const std::vector<ShaderText::Origin>& origins);

// Programs of one context, compiled on first use. The context must be current on use and on
// destruction. Defines that a file does not mention do not cause another compilation.
class ShaderLibrary {
 public:
  explicit ShaderLibrary(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~ShaderLibrary();
  ShaderLibrary(const ShaderLibrary&) = delete;
  ShaderLibrary& operator=(const ShaderLibrary&) = delete;

  GLuint compute(const std::string& file, const Defines& defines);
  GLuint drawing(const std::string& vertex_file, const std::string& fragment_file);

 private:
  const ShaderText& text(const std::string& file);
  Defines used_defines(const std::string& file, const Defines& defines);
  GLuint stage(GLenum kind, const std::string& file, const Defines& defines);
  GLuint link(const std::string& name, const std::vector<GLuint>& stages) const;

  std::filesystem::path folder_;
  std::map<std::string, ShaderText> texts_;
  std::map<std::pair<std::string, Defines>, GLuint> programs_;
};

}  // namespace attnscope
