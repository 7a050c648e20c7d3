// Without a subcommand: the window.
#include "app/window/window.h"

#include <cstdio>
#include <functional>
#include <memory>

#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/view_options.h"
#include "core/base/error.h"
#include "core/base/file.h"

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

void open_window(const Command& program, const window::WindowOptions& options) {
  try {
    window::run_window(options);
  } catch (const window::NoDisplay& e) {
    std::string commands;
    for (const std::string& name : program.subcommands()) {
      if (name == "open" || name == "window") continue;
      commands += (commands.empty() ? "" : ", ") + name;
    }
    throw WorkError(std::string(e.what()) + "; these commands need no display: " + commands);
  }
}

struct Given {
  window::WindowOptions options;
  std::string size, theme, text_file;
  std::optional<std::filesystem::path> input;
  std::vector<std::shared_ptr<ViewOptions>> views;  // one of each command: a later one wins
};

// What both ways to open a window understand.
void add_look(Command command, Given& given) {
  command.add("--size", given.size, "Size of the window: WIDTHxHEIGHT");
  command.add("--scale", given.options.scale, "How large everything is drawn (2: twice)")
      .from_to(0.5, 4.0);
  command.add("--theme", given.theme, "light or dark").one_of({"light", "dark"});
  command.add("--report", given.options.report,
              "File in which to say what the window shows, for tests");
}

void open_window(const Command& program, Given& given) {
  if (!given.size.empty()) parse_size(given.size, given.options);
  if (!given.theme.empty()) given.options.dark = given.theme == "dark";
  if (!given.text_file.empty()) given.options.text = read_file(given.text_file, kMostTextBytes);
  if (given.input) given.options.input = std::filesystem::absolute(*given.input);
  given.options.look = [views = given.views](ViewSettings& settings) {
    for (const auto& view : views) view->apply(settings);
  };
  ViewSettings checked;
  given.options.look(checked);  // refuses what there is not before a window opens
  if (checked == ViewSettings()) given.options.look = {};
  open_window(program, given.options);
}

// What it shows, and how it begins, without a file or beside one.
void add_start(Command command, const std::shared_ptr<Given>& given) {
  command.add("--session", given->options.session, "Session file to open");
  Option text = command.add("--text", given->options.text, "Text to start with");
  Option file = command.add("--text-file", given->text_file, "A file with the text to start with");
  command.add("--target", given->options.target,
              "What a model that reads source and target has written so far");
  Option input = command.add(
      "--input", given->input,
      "A picture, or a file with pixels or a trajectory (safetensors), to be read by the model or, "
      "where it reads no such, by a bundled one that does");
  text.excludes(file).excludes(input);
  file.excludes(input);
  command.add(
      "--model", given->options.model,
      "Bundled model ('attnscope list models'), folder, or org/name of one that the Hugging "
      "Face libraries have downloaded to start with, with a sample for it where there is nothing "
      "that it reads, in the view that shows it best");
  given->views.push_back(std::make_shared<ViewOptions>());
  given->views.back()->add_to(command);
  add_look(command, *given);
  command.add("--lesson", given->options.lesson,
              "Lesson to start with ('attnscope list lessons' names them), or a file");
  command.flag(
      "--present", [given] { given->options.present = true; },
      "Begin on stage, as F5 does: the whole screen, large type, no panels");
  // Not bound to the option: a flag that is not given would be written there as false.
  command.flag(
      "--tour", [given] { given->options.tour = true; },
      "Begin with the tour; by default until it was seen");
  command.flag(
      "--no-tour", [given] { given->options.tour = false; }, "Begin without the tour");
}

// The window by its name, with a file where one is given.
void add_named(Command program, const std::shared_ptr<Given>& given) {
  Command command = program.subcommand(
      "window", "Open the window, as without a command, with what the options or a file say");
  command.add("FILE", given->options.open,
              "What to open: a picture, a session, a lesson, a text, tensors, pixels or a "
              "trajectory, or a model's folder");
  add_start(command, given);
  command.action([program, given] { open_window(program, *given); });
}

// Options of the window may stand before `open` or after it.
void add_open(Command program, const std::shared_ptr<Given>& given) {
  Command command = program.subcommand(
      "open", "Open a window with attention of your own, a session, a picture, a lesson or a text");
  const auto tensors = std::make_shared<TensorOptions>();
  command
      .add("FILE", given->options.open,
           "FILE.npy, FILE.npz or FILE.safetensors with attention [L, L], [h, L_q, L_k] or "
           "[layers, h, L_q, L_k], or with q and k; a session, a PNG made by attnscope, a "
           "lesson, a text or a model's folder")
      .required();
  tensors->add_to(command);
  given->views.push_back(std::make_shared<ViewOptions>());
  given->views.back()->add_to(command);
  add_look(command, *given);
  command.action([program, given, tensors] {
    Experiment named;
    tensors->apply(given->options.open->string(), named);
    given->options.tokens = named.tensors.tokens;
    given->options.key_tokens = named.tensors.key_tokens;
    open_window(program, *given);
  });
}

}  // namespace

void add_window(Command program) {
  const auto given = std::make_shared<Given>();
  add_open(program, given);
  add_start(program, given);
  add_named(program, given);
  program.flag("--measure", given->options.measure,
               "Print how long frames take in each view, while nothing runs, during runs and while "
               "panning, and end");
  program.action([program, given] {
    if (!program.has_subcommand_given()) open_window(program, *given);
  });
}

}  // namespace attnscope::command
