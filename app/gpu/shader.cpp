#include "app/gpu/shader.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxShaderBytes = 1 << 20;  // size of a shader file

std::string read_shader(const std::filesystem::path& path) {
  try {
    return read_file(path, kMaxShaderBytes);
  } catch (const InputError& e) {  // a missing shader is not the user's error
    throw WorkError(std::string("GPU: ") + e.what());
  }
}

// File name in `#include "name"`; empty for any other line.
std::string included_file(const std::string& line) {
  char name[256];
  int end = 0;  // set after the closing quote only
  const int count = std::sscanf(line.c_str(), " #include \"%255[^\"]\" %n", name, &end);
  return count == 1 && static_cast<std::size_t>(end) == line.size() ? name : std::string();
}

void append(const std::filesystem::path& folder, const std::string& file,
            std::set<std::string>& included, ShaderText& expanded) {
  if (!included.insert(file).second) return;
  std::istringstream lines(read_shader(folder / file));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string name = included_file(line);
    if (name.empty()) {
      expanded.text += line + "\n";
      expanded.origins.push_back({file, number});
    } else {
      append(folder, name, included, expanded);
    }
  }
}

template <class GetNumber, class GetLog>
std::string info_log(GLuint object, GetNumber get_number, GetLog get_log) {
  GLint length = 0;
  get_number(object, GL_INFO_LOG_LENGTH, &length);
  std::string log(static_cast<std::size_t>(std::max(length, 1)), '\0');
  GLsizei written = 0;
  get_log(object, static_cast<GLsizei>(log.size()), &written, log.data());
  log.resize(static_cast<std::size_t>(written));
  return log;
}

}  // namespace

ShaderText expand_includes(const std::filesystem::path& folder, const std::string& file) {
  ShaderText expanded;
  std::set<std::string> included;
  append(folder, file, included, expanded);
  return expanded;
}

std::string readable_shader_error(const std::string& log,
                                  const std::vector<ShaderText::Origin>& origins) {
  // Mesa: "0:12(3): error: text"; NVIDIA: "0(12) : error C0000: text".
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    unsigned number = 0;
    int end = 0;
    if (std::sscanf(line.c_str(), "%*u%*1[:(]%9u%n", &number, &end) != 1) continue;
    // The column in parentheses and spaces may precede the colon.
    const std::size_t colon =
        line.find_first_not_of("()0123456789 ", static_cast<std::size_t>(end));
    const std::size_t text =
        colon == std::string::npos ? colon : line.find_first_not_of(' ', colon + 1);
    if (text == std::string::npos || line[colon] != ':') continue;
    if (line.find("error", text) == std::string::npos) continue;
    if (number == 0 || number > origins.size()) continue;
    const ShaderText::Origin& origin = origins[number - 1];
    return origin.file + ":" + std::to_string(origin.line) + ": " + line.substr(text);
  }
  return log.substr(0, log.find('\n'));
}

ShaderLibrary::~ShaderLibrary() {
  for (const auto& [key, program] : programs_) glDeleteProgram(program);
}

const ShaderText& ShaderLibrary::text(const std::string& file) {
  const auto found = texts_.find(file);
  return found != texts_.end() ? found->second : texts_[file] = expand_includes(folder_, file);
}

Defines ShaderLibrary::used_defines(const std::string& file, const Defines& defines) {
  const std::string& source = text(file).text;
  Defines result;
  for (const auto& define : defines) {
    if (source.find(define.first) != std::string::npos) result.insert(define);
  }
  return result;
}

GLuint ShaderLibrary::compute(const std::string& file, const Defines& defines) {
  const auto key = std::make_pair(file, used_defines(file, defines));
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  const GLuint program = link(file, {stage(GL_COMPUTE_SHADER, file, key.second)});
  return programs_[key] = program;
}

GLuint ShaderLibrary::drawing(const std::string& vertex_file, const std::string& fragment_file) {
  const auto key = std::make_pair(vertex_file + "+" + fragment_file, Defines{});
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  const GLuint vertex = stage(GL_VERTEX_SHADER, vertex_file, {});
  GLuint fragment = 0;
  try {
    fragment = stage(GL_FRAGMENT_SHADER, fragment_file, {});
  } catch (...) {
    glDeleteShader(vertex);
    throw;
  }
  return programs_[key] = link(key.first, {vertex, fragment});
}

GLuint ShaderLibrary::stage(GLenum kind, const std::string& file, const Defines& defines) {
  std::string header = "#version 430 core\n";
  for (const auto& [name, value] : defines) {
    header += "#define " + name + " " + std::to_string(value) + "\n";
  }
  header += "#line 1\n";
  const ShaderText& expanded = text(file);
  const std::array<const char*, 2> strings{header.c_str(), expanded.text.c_str()};
  const GLuint shader = glCreateShader(kind);
  glShaderSource(shader, static_cast<GLsizei>(strings.size()), strings.data(), nullptr);
  glCompileShader(shader);
  GLint compiled = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  if (compiled == GL_TRUE) return shader;
  const std::string log = info_log(shader, glGetShaderiv, glGetShaderInfoLog);
  glDeleteShader(shader);
  const std::string error = readable_shader_error(log, expanded.origins);
  const bool names_file =
      error.find(".glsl") != std::string::npos || error.find(file) != std::string::npos;
  throw WorkError("GPU: shader " + (names_file ? "" : file + " ") +
                  "does not compile: " + (error.empty() ? "the driver reports no reason" : error));
}

GLuint ShaderLibrary::link(const std::string& name, const std::vector<GLuint>& stages) const {
  const GLuint program = glCreateProgram();
  for (const GLuint shader : stages) glAttachShader(program, shader);
  glLinkProgram(program);
  for (const GLuint shader : stages) {
    glDetachShader(program, shader);
    glDeleteShader(shader);
  }
  GLint linked = GL_FALSE;
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  if (linked == GL_TRUE) return program;
  const std::string log = info_log(program, glGetProgramiv, glGetProgramInfoLog);
  glDeleteProgram(program);
  throw WorkError("GPU: shader " + name + " does not link: " + log.substr(0, log.find('\n')));
}

}  // namespace attnscope
