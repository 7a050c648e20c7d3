// Compiling the files under shaders/.
//
// A file may hold lines `#include "name"`, looked up in the same folder. Errors come as WorkErrors
// that name file and line as they lie on disk.
#pragma once

#include <epoxy/gl.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attnscope {

// `#define NAME VALUE` lines that choose what a shader computes.
using Defines = std::map<std::string, int>;

// A file's text with its includes put in, each once, and where each of its lines is from. (#line
// would say so too, but drivers report some errors in the wrong file.)
struct ShaderText {
  struct Origin {
    std::string file;
    int line;
    bool operator==(const Origin&) const = default;
  };
  std::string text;
  std::vector<Origin> origins;
};
ShaderText join_shader(const std::filesystem::path& folder, const std::string& file);

// "0:12(3): error: ..." of a compiler's log into "attend.glsl:5: error: ..."; the first error only.
std::string readable_shader_error(const std::string& log,
                                  const std::vector<ShaderText::Origin>& origins);

// Programs of one context, compiled when first asked for. Use and destroy with it current. Defines
// that a file does not mention make no other program of it.
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
  Defines mentioned(const std::string& file, const Defines& defines);
  GLuint stage(GLenum kind, const std::string& file, const Defines& defines);
  GLuint link(const std::string& name, const std::vector<GLuint>& stages) const;

  std::filesystem::path folder_;
  std::map<std::string, ShaderText> texts_;
  std::map<std::pair<std::string, Defines>, GLuint> programs_;
};

}  // namespace attnscope
