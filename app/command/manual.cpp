// attnscope manual, attnscope completion: texts generated from the declared commands.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/command/commands.h"
#include "app/command/completion.h"
#include "app/command/output.h"
#include "core/base/file.h"

namespace attnscope::command {
namespace {

constexpr const char* kDescription =
    "Without a command, attnscope opens its window: select an attention variant and a positional "
    "encoding, type a text, and see the attention of a trained model, its mechanism and its cost. "
    "Commands export the same pictures, and run, train and evaluate models. Only the window needs "
    "a display.";

// Escapes leading control characters and hyphens for troff.
std::string roff(const std::string& text) {
  std::string result = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\n') {
      result += ' ';
    } else {
      result += c;
    }
  }
  return result;
}

std::string option_section(const OptionHelp& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  }
  std::string value;
  if (option.is_named() && !option.value.empty()) value = " \\fI" + roff(option.value) + "\\fR";
  std::string choices;
  for (const std::string& id : option.choices) choices += (choices.empty() ? "" : ", ") + id;
  std::string help = option.help;
  if (!choices.empty()) help += " (" + choices + ")";
  return ".TP\n" + names + value + "\n" + roff(help) + "\n";
}

// "attnscope render [OPTIONS] [session]".
std::string usage(const CommandHelp& command) {
  std::string text = "\\fB" + roff("attnscope " + command.name) + "\\fR [\\fIOPTIONS\\fR]";
  for (const OptionHelp& option : command.options) {
    if (option.is_named()) continue;
    const std::string name = "\\fI" + roff(option.names.front()) + "\\fR";
    text += option.required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string manual_page(const CommandHelp& program) {
  std::string text = ".TH ATTNSCOPE 1 \"\" \"attnscope " ATTNSCOPE_VERSION
                     "\" \"User Commands\"\n"
                     ".SH NAME\nattnscope \\- a laboratory for transformer attention\n"
                     ".SH SYNOPSIS\n.B attnscope\n[\\fIOPTIONS\\fR] [\\fICOMMAND\\fR]\n"
                     ".SH DESCRIPTION\n" +
                     roff(kDescription) + "\n.SH OPTIONS\n";
  for (const OptionHelp& option : program.options) text += option_section(option);
  text += ".SH COMMANDS\n";
  for (const CommandHelp& command : program.commands) {
    text += ".SS " + usage(command) + "\n" + roff(command.help) + ".\n";
    for (const OptionHelp& option : command.options) {
      if (option.names.back() == "--help") continue;
      text += option_section(option);
    }
  }
  text +=
      ".SH \"EXIT STATUS\"\n0 success, 1 failure, 2 invalid usage or input (reported in one line "
      "on standard error), 130 interrupted by Ctrl\\-C (results so far are kept).\n.SH "
      "ENVIRONMENT\n.TP\n.B ATTNSCOPE_HOME\nFolder with assets and shaders; default: the installed "
      "one.\n.TP\n.B ATTNSCOPE_THREADS\nNumber of threads that compute; default: the usable "
      "processors.\n.TP\n.B HF_HUB_CACHE, HF_HOME\nCache of the Hugging Face libraries; default: "
      "~/.cache/huggingface/hub. Nothing is downloaded.\n.TP\n.B XDG_CONFIG_HOME\nParent of the "
      "folder attnscope with the window's settings and last session; default: ~/.config.\n.SH "
      "EXAMPLES\n.nf\nattnscope render \\-\\-text \"she gave him the lamp\" \\-o "
      "map.png\nattnscope render \\-\\-variant local,window=4 \\-\\-view pattern \\-o "
      "pattern.svg\nattnscope open attention.npz\n.fi\n";
  return text;
}

struct PageOptions {
  std::string shell;
  std::filesystem::path output;
};

void print_page(const std::string& text, const std::filesystem::path& output) {
  if (output.empty()) {
    print(text);
  } else {
    write_file(output, text);
  }
}

}  // namespace

void add_manual(Command program) {
  const auto options = std::make_shared<PageOptions>();
  Command manual = program.subcommand("manual", "Print the manual page, for man -l");
  manual.add("-o,--output", options->output, "Output file; default: standard output");
  manual.action([=] { print_page(manual_page(program.describe()), options->output); });
  Command completion = program.subcommand("completion", "Print a shell completion script");
  completion.add("SHELL", options->shell, "Shell").required().one_of({"bash", "zsh", "fish"});
  completion.add("-o,--output", options->output, "Output file; default: standard output");
  completion.action([program, options] {
    print_page(completion_script(options->shell, program.describe()), options->output);
  });
}

}  // namespace attnscope::command
