// Without a subcommand: the window.
#include "app/window/window.h"

#include <cstdio>

#include "app/command/commands.h"
#include "core/base/error.h"

namespace attnscope::command {

namespace {

// "1280x800"
void parse_size(const std::string& text, window::WindowOptions& options) {
  char rest = 0;
  const int found = std::sscanf(text.c_str(), "%dx%d%c", &options.width, &options.height, &rest);
  constexpr int kLeast = 320, kMost = 16384;
  const auto sensible = [](int side) { return side >= kLeast && side <= kMost; };
  if (found != 2 || !sensible(options.width) || !sensible(options.height)) {
    throw InputError("--size: expected WIDTHxHEIGHT of at least 320 each, found \"" + text + "\"");
  }
}

void open_window(const CLI::App& app, const window::WindowOptions& options) {
  try {
    window::run_window(options);
  } catch (const window::NoDisplay& e) {
    std::string commands;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      commands += (commands.empty() ? "" : ", ") + command->get_name();
    }
    throw WorkError(std::string(e.what()) + "; these commands need no display: " + commands);
  }
}

struct Given {
  window::WindowOptions options;
  std::string size, theme;
};

}  // namespace

void add_window(CLI::App& app) {
  const auto given = std::make_shared<Given>();
  const auto path = [](std::filesystem::path& to) {
    return [&to](const std::string& text) { to = text; };
  };
  app.add_option("--session", given->options.session, "Session file to open");
  app.add_option("--text", given->options.text, "Text to start with");
  app.add_option("--model", given->options.model, "Bundled model or folder to start with");
  app.add_option("--size", given->size, "Size of the window: WIDTHxHEIGHT");
  app.add_option("--scale", given->options.scale, "How large everything is drawn (2: twice)")
      ->check(CLI::Range(0.5, 4.0));
  app.add_option("--theme", given->theme, "light or dark")->check(CLI::IsMember({"light", "dark"}));
  app.add_option("--lesson", given->options.lesson,
                 "Lesson to start with ('attnscope list lessons' names them), or a file");
  app.add_flag("--tour,!--no-tour", given->options.tour,
               "Begin with the tour, or without; by default with it until it was seen");
  app.add_option_function<std::string>("--report", path(given->options.report),
                                       "File in which to say what the window shows, for tests");
  app.callback([&app, given] {
    if (!app.get_subcommands().empty()) return;
    if (!given->size.empty()) parse_size(given->size, given->options);
    if (!given->theme.empty()) given->options.dark = given->theme == "dark";
    open_window(app, given->options);
  });
}

}  // namespace attnscope::command
