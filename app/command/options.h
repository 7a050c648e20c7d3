// How commands declare their options: names, what they are bound to, and what is said of them.
// A thin layer over CLI11, whose headers options.cpp alone includes: they take seconds to compile.
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

// One option; what its members ask for holds from then on.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& show_default();  // in the help: what the bound value is now
  Option& excludes(const Option& other);
  Option& numbers(int count);  // that many, with commas between
  Option& one_each();          // of a list: one value each time the option is given
  Option& positive();
  Option& from_to(Index least, Index most);
  Option& from_to(double least, double most);
  Option& one_of(const std::vector<std::string>& words);
  Option& value_name(const std::string& name);   // in the help, in place of TEXT and the like
  Option& under_heading(const std::string& of);  // in the help

 private:
  CLI::Option* option_;
};

// What is said of an option ...
struct OptionWords {
  std::vector<std::string> names;  // "-o", "--output"; of what stands without a name: "session"
  std::string value;               // "TEXT"; empty: a flag
  std::string help;
  std::vector<std::string> choices;  // the words that it takes, where these are all
  bool required = false;
  bool named() const { return names.front().starts_with('-'); }
};
// ... and of a command, for pages and completions that are made from it.
struct CommandWords {
  std::string name, help;
  std::vector<OptionWords> options;
  std::vector<CommandWords> commands;
};

// A subcommand, or the program itself. Copies are the same command.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  // `names`: "-o,--output"; without dashes what is not named on the command line but stands there.
  // Bound values must live as long as the command. T: std::string, std::filesystem::path, int,
  // Index, std::uint64_t, double, those in std::vector and std::optional that options.cpp lists.
  template <class T>
  Option add(const std::string& names, T& value, const std::string& help);
  Option flag(const std::string& names, bool& value, const std::string& help);
  // Called only where the flag is given.
  void flag(const std::string& names, std::function<void()> given, const std::string& help);
  // Called with what is given, before any action.
  Option add(const std::string& names, std::function<void(const std::string&)> given,
             const std::string& help);

  Command subcommand(const std::string& name, const std::string& help);
  void action(std::function<void()> action);  // once everything is read

  bool given(const std::string& name) const;  // false also where there is no such option
  Option option(const std::string& name) const;
  std::vector<std::string> subcommands() const;  // all, by name
  bool has_subcommand_given() const;
  CommandWords words() const;

 private:
  CLI::App* app_;
};

// The program's command line. Empty values are refused whatever an option is for, texts to run on
// excepted, and so are numbers that are none.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& help, const std::string& footer);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  Command program() { return Command(app_.get()); }
  // Calls the action asked for, or prints help. InputError for wrong use.
  void run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace attnscope::command
