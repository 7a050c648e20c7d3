// Output of the commands. Text from files and models reaches a terminal only through these
// functions, which remove control sequences (core/text/terminal_text.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace attnscope::command {

// Thrown if the reader of stdout closed the pipe, as `head` does. Exit status 1, no message.
struct OutputClosed : WorkError {
  OutputClosed() : WorkError("standard output: closed by its reader") {}
};

// Flushes stdout. Throws OutputClosed after the reader has closed it, and WorkError on other
// errors. Call before printing to stderr, so that a failure is reported in one line.
void flush_output();

// Writes text to stdout: bytes unchanged into files and pipes, terminal_text() on a terminal.
void print(std::string_view text);

// Writes "note: TEXT" to stderr, in one line.
void print_note(std::string_view text);

// Throws InputError for an output file whose name promises another format than safetensors, and
// WorkError if it cannot be written.
void check_safetensors_output(const std::filesystem::path& path);

}  // namespace attnscope::command
