// attnscope, attnscope window, attnscope open: the window.
#include "app/window/window.h"

#include <memory>

#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/view_options.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope::command {
namespace {

// Parses "1280x800".
void parse_size(const std::string& text, window::WindowOptions& options) {
  char rest = 0;
  const int found = std::sscanf(text.c_str(), "%dx%d%c", &options.width, &options.height, &rest);
  constexpr int kMin = 320, kMost = 16384;
  const auto sensible = [](int side) { return side >= kMin && side <= kMost; };
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
    throw WorkError(std::string(e.what()) + "; commands that need no display: " + commands);
  }
}

struct Given {
  window::WindowOptions options;
  std::string size, theme, text_file;
  std::optional<std::filesystem::path> input;
  std::vector<std::shared_ptr<ViewOptions>> views;  // one per command; later ones win
};

// Options common to both commands.
void add_look(Command command, Given& given) {
  command.add("--size", given.size, "Window size: WIDTHxHEIGHT");
  command.add("--scale", given.options.scale, "Scale of the user interface (2: twice the size)")
      .from_to(0.5, 4.0);
  command.add("--theme", given.theme, "Colour theme: light or dark").one_of({"light", "dark"});
  command.add("--report", given.options.report,
              "File for reporting the state of the window, for tests");
}

void open_window(const Command& program, Given& given) {
  if (!given.size.empty()) parse_size(given.size, given.options);
  if (!given.theme.empty()) given.options.dark = given.theme == "dark";
  if (!given.text_file.empty()) given.options.text = read_file(given.text_file, kMaxTextBytes);
  if (given.input) given.options.input = std::filesystem::absolute(*given.input);
  given.options.look = [views = given.views](ViewSettings& settings) {
    for (const auto& view : views) view->apply(settings);
  };
  ViewSettings checked;
  given.options.look(checked);  // throws before a window opens
  if (checked == ViewSettings()) given.options.look = {};
  open_window(program, given.options);
}

// Options of the content and start of the window.
void add_start(Command command, const std::shared_ptr<Given>& given) {
  command.add("--session", given->options.session, "Session file");
  Option text = command.add("--text", given->options.text, "Input text");
  Option file = command.add("--text-file", given->text_file, "File with the input text");
  command.add("--target", given->options.target, "Target text of an encoder-decoder");
  Option input = command.add("--input", given->input,
                             "Input file: an image, or pixels or a trajectory (safetensors); read "
                             "by the model or, if unsuitable, by a bundled one");
  text.excludes(file).excludes(input);
  file.excludes(input);
  command.add("--model", given->options.model,
              "Model: bundled name ('attnscope list models'), folder, or org/name in the Hugging "
              "Face cache. Without an input: a sample for the model, in its most suitable view");
  given->views.push_back(std::make_shared<ViewOptions>());
  given->views.back()->add_to(command);
  add_look(command, *given);
  command.add("--lesson", given->options.lesson,
              "Bundled lesson ('attnscope list lessons') or file");
  command.flag(
      "--present", [given] { given->options.present = true; },
      "Start in presentation mode (F5): full screen, large type, no panels");
  // Not bound to the option, since CLI11 would write false if the flag is not given.
  command.flag(
      "--tour", [given] { given->options.tour = true; },
      "Start with the tour; default: on the first start");
  command.flag(
      "--no-tour", [given] { given->options.tour = false; }, "Start without the tour");
}

// Command `window`, with an optional file.
void add_named(Command program, const std::shared_ptr<Given>& given) {
  Command command = program.subcommand(
      "window", "Open the window with the given options or file; the default command");
  command.add("FILE", given->options.open,
              "File to open: a picture, session, lesson, text, tensors, pixels, trajectory or "
              "model folder");
  add_start(command, given);
  command.action([program, given] { open_window(program, *given); });
}

// Command `open`; window options are accepted before and after it.
void add_open(Command program, const std::shared_ptr<Given>& given) {
  Command command = program.subcommand(
      "open", "Open a window with imported attention, a session, picture, lesson or text");
  const auto tensors = std::make_shared<TensorOptions>();
  command
      .add("FILE", given->options.open,
           "FILE.npy, FILE.npz or FILE.safetensors with attention [L, L], [h, L_q, L_k] or "
           "[layers, h, L_q, L_k], or with q and k; a session, a PNG exported by attnscope, a "
           "lesson, a text or a model folder")
      .required();
  tensors->add_to(command);
  given->views.push_back(std::make_shared<ViewOptions>());
  given->views.back()->add_to(command);
  add_look(command, *given);
  command.action([program, given, tensors] {
    RunSpec named;
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
  program.flag(
      "--measure", given->options.measure,
      "Print the frame times of each view when idle, during runs and while panning, then exit");
  program.action([program, given] {
    if (!program.has_subcommand_given()) open_window(program, *given);
  });
}

}  // namespace attnscope::command
