#include "app/command/completion.h"

#include <algorithm>

#include "core/attention/variant.h"
#include "core/checkpoint/checkpoint.h"
#include "core/figure/colour_map.h"
#include "core/lesson/lesson.h"
#include "core/position/encoding.h"
#include "core/view/view.h"

namespace attnscope::command {
namespace {

template <class List>
std::vector<std::string> ids_of(const List& list) {
  std::vector<std::string> result;
  for (const auto& entry : list) result.push_back(entry.id);
  return result;
}

std::vector<std::string> lesson_ids() {
  std::vector<std::string> result;
  for (const Lesson& lesson : bundled_lessons()) result.push_back(lesson.id);
  return result;
}

// Candidates for an option's value. Parameters may follow a candidate; empty: files.
std::vector<std::string> values_of(const CommandHelp& command, const OptionHelp& option) {
  if (!option.choices.empty()) return option.choices;
  const std::string& name = option.names.back();
  const auto is_any = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* listed) { return name == listed; });
  };
  if (is_any({"--model", "--compare-model"})) return bundled_models();
  if (is_any({"--view"})) return ids_of(views());
  if (is_any({"--variant", "--compare-variant"})) return ids_of(variants());
  if (is_any({"--position", "--compare-position"})) return ids_of(encodings());
  if (is_any({"--colour-map"})) return ids_of(colour_maps());
  if (is_any({"--lesson"}) || (command.name == "lesson" && !option.is_named())) return lesson_ids();
  if (is_any({"--device"})) return {"auto", "cpu", "gpu"};
  if (is_any({"--overlong"})) return {"first", "last", "all"};
  if (is_any({"--theme"})) return {"light", "dark"};
  return {};
}

// Makes a text valid between single quotes in all three shells.
std::string quotable(std::string text) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"'", "’"}, {"\n", " "}}) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

// First sentence or clause of a help text.
std::string brief_help(const std::string& help) {
  const std::size_t end = std::min({help.find("; "), help.find(". "), help.find(": ")});
  return quotable(help.substr(0, end));
}

std::string joined_by(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::vector<std::string> option_names(const CommandHelp& command) {
  std::vector<std::string> names;
  for (const OptionHelp& option : command.options) {
    if (option.is_named()) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<const CommandHelp*> program_and_commands(const CommandHelp& program) {
  std::vector<const CommandHelp*> list{&program};
  for (const CommandHelp& command : program.commands) list.push_back(&command);
  return list;
}

std::vector<std::string> command_names(const CommandHelp& program) {
  std::vector<std::string> names;
  for (const CommandHelp& command : program.commands) names.push_back(command.name);
  return names;
}

// Case of a command in the bash function, with its words and values.
std::string bash_case(const CommandHelp& program, const CommandHelp& command) {
  const bool is_program = &command == &program;
  std::string text = is_program ? "    '')\n" : "    " + command.name + ")\n";
  text += "      words='" + joined_by(option_names(command), " ") + "'\n";
  if (is_program) text += "      words=\"$words " + joined_by(command_names(program), " ") + "\"\n";
  text += "      case \"$before\" in\n";
  for (const OptionHelp& option : command.options) {
    if (!option.is_named() || option.value.empty()) continue;
    const std::vector<std::string> values = values_of(command, option);
    text += "        " + joined_by(option.names, "|") + ") ";
    text += values.empty() ? "files=1" : "words='" + joined_by(values, " ") + "'; files=1";
    text += " ;;\n";
  }
  text += "      esac\n";
  for (const OptionHelp& option : command.options) {
    if (option.is_named()) continue;
    const std::vector<std::string> values = values_of(command, option);
    text += "      words=\"$words " + joined_by(values, " ") + "\"; others=1\n";
  }
  return text + "      ;;\n";
}

std::string bash_script(const CommandHelp& program) {
  std::string text =
      "# Completion of attnscope in bash; made by `attnscope completion bash`.\n"
      "_attnscope() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command='' words='' files='' others='' n\n"
      "  for ((n = 1; n < COMP_CWORD; ++n)); do\n"
      "    case \"${COMP_WORDS[n]}\" in\n"
      "      " +
      joined_by(command_names(program), "|") +
      ") command=${COMP_WORDS[n]}; break ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command\" in\n";
  for (const CommandHelp* command : program_and_commands(program))
    text += bash_case(program, *command);
  return text +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  if [ -n \"$files\" ] || { [ -n \"$others\" ] && [ \"${word#-}\" = \"$word\" ]; }; "
         "then\n"
         "    COMPREPLY+=($(compgen -f -- \"$word\"))\n"
         "    compopt -o filenames 2> /dev/null\n"
         "  fi\n"
         "}\n"
         "complete -F _attnscope attnscope\n";
}

std::string zsh_quotable(std::string text) {
  std::string result;
  for (const char c : quotable(std::move(text))) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// "'*'{-o,--output}'[Output file]:FILE:_files'"
std::string zsh_option(const CommandHelp& command, const OptionHelp& option) {
  const std::vector<std::string> values = values_of(command, option);
  const std::string action = values.empty() ? "_files" : "(" + joined_by(values, " ") + ")";
  const std::string help = zsh_quotable(brief_help(option.help));
  if (!option.is_named()) return "'*:" + zsh_quotable(option.names.front()) + ":" + action + "'";
  std::string text = option.names.size() == 1 ? "'" + option.names.front()
                                              : "'*'{" + joined_by(option.names, ",") + "}'";
  text += "[" + help + "]";
  if (!option.value.empty()) text += ":" + zsh_quotable(option.value) + ":" + action;
  return text + "'";
}

std::string zsh_script(const CommandHelp& program) {
  const auto arguments = [](const CommandHelp& command, const std::string& indent) {
    std::string text = "_arguments -s";
    for (const OptionHelp& option : command.options) {
      text += " \\\n" + indent + zsh_option(command, option);
    }
    return text;
  };
  std::string text =
      "#compdef attnscope\n"
      "# Completion of attnscope in zsh; made by `attnscope completion zsh`.\n"
      "_attnscope() {\n"
      "  local -a commands=(\n";
  for (const CommandHelp& command : program.commands) {
    text += "    '" + command.name + ":" + zsh_quotable(brief_help(command.help)) + "'\n";
  }
  text +=
      "  )\n"
      "  local -i at=${words[(i)(" +
      joined_by(command_names(program), "|") +
      ")]}\n"
      "  local command=''\n"
      "  if ((at < CURRENT)); then\n"
      "    command=${words[at]}\n"
      "    shift $((at - 1)) words\n"
      "    ((CURRENT -= at - 1))\n"
      "  fi\n"
      "  case $command in\n";
  for (const CommandHelp& command : program.commands) {
    text += "    " + command.name + ") " + arguments(command, "      ") + " ;;\n";
  }
  return text + "    *) _describe -t commands command commands; " + arguments(program, "      ") +
         " ;;\n"
         "  esac\n"
         "}\n"
         "_attnscope \"$@\"\n";
}

std::string fish_option(const CommandHelp& command, const OptionHelp& option,
                        const std::string& condition) {
  const std::vector<std::string> values = values_of(command, option);
  std::string text = "complete -c attnscope -n '" + condition + "'";
  if (option.is_named()) {
    for (const std::string& name : option.names) {
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!option.value.empty()) text += " -r";
    text += " -d '" + brief_help(option.help) + "'";
  } else if (values.empty()) {
    return "";  // fish completes files by default
  }
  if (!values.empty()) text += " -a '" + joined_by(values, " ") + "'";
  return text + "\n";
}

std::string fish_script(const CommandHelp& program) {
  std::string text = "# Completion of attnscope in fish; made by `attnscope completion fish`.\n";
  const std::string no_command = "__fish_use_subcommand";
  for (const CommandHelp& command : program.commands) {
    text += "complete -c attnscope -n '" + no_command + "' -a '" + command.name + "' -d '" +
            brief_help(command.help) + "'\n";
  }
  for (const OptionHelp& option : program.options) text += fish_option(program, option, no_command);
  for (const CommandHelp& command : program.commands) {
    for (const OptionHelp& option : command.options) {
      text += fish_option(command, option, "__fish_seen_subcommand_from " + command.name);
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const std::string& shell, const CommandHelp& program) {
  if (shell == "zsh") return zsh_script(program);
  return shell == "fish" ? fish_script(program) : bash_script(program);
}

}  // namespace attnscope::command
