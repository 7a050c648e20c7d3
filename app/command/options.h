// Declaration of commands and options: names, bound variables and help.
// Thin layer over CLI11, which only options.cpp includes, since its headers are slow to compile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/index.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace attnscope::command {

// An option; member functions add constraints and help.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& show_default();  // shows the current bound value in the help
  Option& excludes(const Option& other);
  Option& numbers(int count);  // a list of `count` comma-separated numbers
  Option& one_each();          // for list options: one value per occurrence
  Option& positive();
  Option& from_to(Index minimum, Index maximum);
  Option& from_to(double minimum, double maximum);
  Option& one_of(const std::vector<std::string>& values);
  Option& value_name(const std::string& name);        // placeholder in the help, such as FILE
  Option& under_heading(const std::string& heading);  // heading in the help

 private:
  CLI::Option* option_;
};

// Description of an option, for generated pages and completions.
struct OptionHelp {
  std::vector<std::string> names;  // "-o", "--output"; for positional arguments: "session"
  std::string value;               // "TEXT"; empty for flags
  std::string help;
  std::vector<std::string> choices;  // accepted values, if limited
  bool required = false;
  bool is_named() const { return names.front().starts_with('-'); }
};
// Description of a command and its subcommands.
struct CommandHelp {
  std::string name, help;
  std::vector<OptionHelp> options;
  std::vector<CommandHelp> commands;
};

// A subcommand or the program itself. Copies refer to the same command.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  // `names`: "-o,--output"; long names after the first are aliases, which help, manual and
  // completion leave out ("--learning-rate,--rate"). A name without dashes declares a positional
  // argument. Bound values must live as long as the command. T: any type for which options.cpp
  // instantiates this template (ATTNSCOPE_OPTION).
  template <class T>
  Option add(const std::string& names, T& value, const std::string& help);
  Option flag(const std::string& names, bool& value, const std::string& help);
  // `callback` is called only if the flag is given.
  void flag(const std::string& names, std::function<void()> callback, const std::string& help);
  // `callback` is called with the value, before any action.
  Option add(const std::string& names, std::function<void(const std::string&)> callback,
             const std::string& help);

  Command subcommand(const std::string& name, const std::string& help);
  // `action` is called after all values are parsed. Ctrl-C stops it (core/base/stop.h).
  void action(std::function<void()> action);
  // Like action(), but a signal ends the program at once.
  void uninterrupted_action(std::function<void()> action);

  bool is_given(const std::string& name) const;  // false for unknown options
  Option option(const std::string& name) const;
  std::vector<std::string> subcommands() const;  // names of the subcommands
  bool has_parsed_subcommand() const;
  CommandHelp describe() const;

 private:
  CLI::App* app_;
};

// The program's command line. Rejects invalid numbers, and empty values except for input texts.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& help, const std::string& footer);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  Command program() { return Command(app_.get()); }
  // Runs the requested action, or prints help. Throws InputError on invalid usage.
  void run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace attnscope::command
