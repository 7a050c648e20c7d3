#include "app/command/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <sstream>

#include "app/command/error_text.h"
#include "app/command/interrupt.h"
#include "core/base/error.h"
#include "core/base/near_match.h"

namespace attnscope::command {
namespace {

constexpr const char* kTextOptions[] = {"text", "compare-text"};  // accept an empty value

bool is_text_option(const CLI::Option& option) {
  return std::ranges::any_of(option.get_lnames(), [](const std::string& name) {
    return std::ranges::find(kTextOptions, name) != std::end(kTextOptions);
  });
}

std::string refusal(const std::string& expected, const std::string& found) {
  return "expected " + expected + ", found \"" + found + "\"";
}

// Reason why `text` is no decimal integer; empty if it is one. CLI11 also accepts 0x10, 010.
template <class Integer>
std::string integer_refusal(const std::string& text) {
  const std::string no_integer = refusal("an integer", text);
  Integer value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range && rest == end) {
    return refusal("an integer from " + std::to_string(std::numeric_limits<Integer>::min()) +
                       " to " + std::to_string(std::numeric_limits<Integer>::max()),
                   text);
  }
  const std::size_t digit = text.starts_with('-') ? 1 : 0;
  const bool has_leading_zero = text.size() > digit + 1 && text[digit] == '0';
  if (std::is_unsigned_v<Integer> && digit == 1) return refusal("an integer of at least 0", text);
  return error != std::errc() || rest != end || has_leading_zero ? no_integer : "";
}

std::string number_refusal(const std::string& text) {
  char* rest = nullptr;
  const double value = std::strtod(text.c_str(), &rest);
  const bool is_complete = rest == text.c_str() + text.size();
  return is_complete && std::isfinite(value) ? "" : refusal("a finite number", text);
}

// Help formatter that hides aliases: every long name of an option except its first.
class HelpWithoutAliases : public CLI::Formatter {
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    const std::vector<std::string>& names = option->get_lnames();
    if (is_positional || names.size() < 2) {
      return CLI::Formatter::make_option_name(option, is_positional);
    }
    std::string text;
    for (const std::string& name : option->get_snames()) text += "-" + name + ",";
    return text + "--" + names.front();
  }
};

// Replaces the option name at the start of `message` by the alias that the user typed.
std::string with_typed_aliases(std::string message, const CLI::App& command,
                               std::span<char* const> arguments) {
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string>& names = option->get_lnames();
    for (std::size_t i = 1; i < names.size(); ++i) {
      const std::string name = "--" + names.front(), alias = "--" + names[i];
      const bool is_typed = std::ranges::any_of(arguments, [&](std::string_view argument) {
        return argument == alias || argument.starts_with(alias + "=");
      });
      if (is_typed && message.starts_with(name)) message.replace(0, name.size(), alias);
    }
  }
  for (const CLI::App* subcommand : command.get_subcommands()) {
    message = with_typed_aliases(message, *subcommand, arguments);
  }
  return message;
}

void add_value_checks(CLI::Option& option) {
  if (option.get_expected_max() == 0 || option.get_type_size_max() == 0) return;  // a flag
  const std::string type = option.get_type_name();
  if (type.starts_with("INT")) {
    option.check(integer_refusal<std::int64_t>, "");
  } else if (type.starts_with("UINT")) {
    option.check(integer_refusal<std::uint64_t>, "");
  } else if (type.starts_with("FLOAT")) {
    option.check(number_refusal, "");
  } else if (!is_text_option(option)) {
    option.check(
        [](const std::string& text) { return text.empty() ? refusal("a value", text) : ""; }, "");
  }
}

// Adds value checks to all declared options of the app and its subcommands.
void add_value_checks(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) add_value_checks(*option);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    add_value_checks(*command);
  }
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::numbers(int count) {
  option_->delimiter(',')->expected(count);
  return *this;
}

Option& Option::one_each() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option& Option::from_to(Index minimum, Index maximum) {
  option_->check(CLI::Range(minimum, maximum));
  return *this;
}

Option& Option::from_to(double minimum, double maximum) {
  option_->check(CLI::Range(minimum, maximum));
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option& Option::value_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::under_heading(const std::string& heading) {
  option_->group(heading);
  return *this;
}

template <class T>
Option Command::add(const std::string& names, T& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

#define ATTNSCOPE_OPTION(...) \
  template Option Command::add(const std::string&, __VA_ARGS__&, const std::string&)
ATTNSCOPE_OPTION(std::string);
ATTNSCOPE_OPTION(std::filesystem::path);
ATTNSCOPE_OPTION(int);
ATTNSCOPE_OPTION(Index);
ATTNSCOPE_OPTION(std::uint64_t);
ATTNSCOPE_OPTION(double);
ATTNSCOPE_OPTION(std::optional<std::string>);
ATTNSCOPE_OPTION(std::optional<std::filesystem::path>);
ATTNSCOPE_OPTION(std::optional<int>);
ATTNSCOPE_OPTION(std::optional<Index>);
ATTNSCOPE_OPTION(std::optional<double>);
ATTNSCOPE_OPTION(std::vector<std::string>);
ATTNSCOPE_OPTION(std::vector<Index>);
ATTNSCOPE_OPTION(std::vector<double>);
#undef ATTNSCOPE_OPTION

Option Command::flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_->add_flag(names, value, help));
}

void Command::flag(const std::string& names, std::function<void()> callback,
                   const std::string& help) {
  app_->add_flag_callback(names, std::move(callback), help);
}

Command Command::subcommand(const std::string& name, const std::string& help) {
  return Command(app_->add_subcommand(name, help));
}

Option Command::add(const std::string& names, std::function<void(const std::string&)> callback,
                    const std::string& help) {
  return Option(app_->add_option_function<std::string>(names, std::move(callback), help));
}

void Command::action(std::function<void()> action) {
  app_->callback([action = std::move(action)] {
    const StopScope scope(stop_on_interrupt());
    action();
  });
}

void Command::uninterrupted_action(std::function<void()> action) {
  app_->callback(std::move(action));
}

bool Command::is_given(const std::string& name) const {
  const CLI::Option* option = app_->get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

Option Command::option(const std::string& name) const {
  return Option(app_->get_option(name));
}

std::vector<std::string> Command::subcommands() const {
  std::vector<std::string> names;
  for (const CLI::App* command : app_->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

bool Command::has_parsed_subcommand() const {
  return !app_->get_subcommands().empty();
}

namespace {

// Splits the type, to which CLI11 appends the accepted values: "TEXT:{light,dark}".
OptionHelp describe(const CLI::Option& option, std::vector<std::string> names) {
  OptionHelp description;
  description.names = std::move(names);
  description.help = option.get_description();
  description.required = option.get_required();
  if (option.get_expected_max() == 0 || option.get_type_size_max() == 0) return description;
  const std::string type = option.get_type_name();
  description.value = type.substr(0, type.find(':'));
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return description;
  for (std::size_t begin = open + 1; begin < close;) {
    const std::size_t end = std::min(type.find(',', begin), close);
    description.choices.push_back(type.substr(begin, end - begin));
    begin = end + 1;
  }
  return description;
}

CommandHelp describe(const CLI::App& app) {
  CommandHelp description{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    std::vector<std::string> names;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
    // Some options are both positional and named.
    if (option->get_positional())
      description.options.push_back(describe(*option, {option->get_name(true)}));
    if (!names.empty()) description.options.push_back(describe(*option, names));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    description.commands.push_back(describe(*command));
  }
  return description;
}

}  // namespace

CommandHelp Command::describe() const {
  return command::describe(*app_);
}

namespace {

// Suggestion for a misspelt option, command or value in an error of CLI11; empty if none is near.
std::string suggested_name(const CLI::App& program, const std::string& message) {
  constexpr std::string_view kNotIn = " not in {", kNotExpected = "not expected: ";
  std::vector<std::string> names;
  if (const std::size_t list = message.find(kNotIn); list != std::string::npos) {
    const std::size_t begin = message.rfind(' ', list - 1) + 1, end = message.find('}', list);
    std::istringstream values(message.substr(list + kNotIn.size(), end - list - kNotIn.size()));
    for (std::string value; std::getline(values, value, ',');) names.push_back(value);
    return suggestion(message.substr(begin, list - begin), names);
  }
  const std::size_t end_of_text = message.find(kNotExpected);
  if (end_of_text == std::string::npos) return "";
  std::string typed = message.substr(end_of_text + kNotExpected.size());
  typed.resize(std::min(typed.find_first_of(" ="), typed.size()));
  const auto add_options = [&](const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  };
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  add_options(chosen.empty() ? program : *chosen.front());
  if (chosen.empty()) {
    for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(command->get_name());
    }
  }
  return suggestion(typed, names);
}

// Option that avoids `refusal`: "; use --no-causal"; empty if no option is known, or if the refusal
// names options itself.
std::string suggested_option(const CLI::App& program, const std::string& refusal) {
  if (refusal.find("; use --") != std::string::npos) return "";
  struct Suggestion {
    const char *key, *expected, *option, *text;
  };
  constexpr std::array kSuggestions{
      Suggestion{"causal: ", "expected false", "--no-causal", "--no-causal"},
      Suggestion{"position.type: ", "expected none", "--position", "--position none"},
      Suggestion{"weights, too many to be exported", "expected a part of it", "--tile", "--tile"}};
  for (const CLI::App* command : program.get_subcommands()) {
    for (const Suggestion& suggestion : kSuggestions) {
      if (refusal.find(suggestion.key) != std::string::npos &&
          refusal.find(suggestion.expected) != std::string::npos &&
          command->get_option_no_throw(suggestion.option) != nullptr) {
        return std::string("; use ") + suggestion.text;
      }
    }
  }
  return "";
}

// Throws InputError if an option of the command is before the command: the program has the same
// option for the window, and the command would ignore it. "open" and "window" share the window's
// options.
void require_options_after_command(const CLI::App& program) {
  for (const CLI::App* command : program.get_subcommands()) {
    if (command->get_name() == "open" || command->get_name() == "window") continue;
    for (const CLI::Option* option : program.get_options()) {
      if (option->count() == 0 || command->get_option_no_throw(option->get_name()) == nullptr) {
        continue;
      }
      throw InputError(option->get_name() + ": expected after the command " + command->get_name() +
                       ", found before it");
    }
  }
}

}  // namespace

CommandLine::CommandLine(const std::string& name, const std::string& help,
                         const std::string& footer)
    : app_(std::make_unique<CLI::App>(help, name)) {
  app_->footer(footer);
  app_->formatter(std::make_shared<HelpWithoutAliases>());  // subcommands inherit the formatter
  app_->fallthrough();  // program options are accepted after a command, too
  app_->parse_complete_callback([app = app_.get()] { require_options_after_command(*app); });
  app_->set_version_flag("--version", name + " " ATTNSCOPE_VERSION, "Print the version and exit");
}

CommandLine::~CommandLine() = default;

void CommandLine::run(int argc, char** argv) {
  add_value_checks(*app_);
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  const auto input_error = [&](const std::string& message) {
    return InputError(with_typed_aliases(message, *app_, arguments));
  };
  try {
    app_->parse(argc, argv);
  } catch (const InputError& e) {
    throw input_error(error_text(e) + suggested_option(*app_, e.what()));
  } catch (const CLI::Success& e) {  // help or the version was requested
    app_->exit(e);
  } catch (const CLI::ParseError& e) {
    throw input_error(e.what() + suggested_name(*app_, e.what()));
  }
}

}  // namespace attnscope::command
