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
  const int matched = std::sscanf(text.c_str(), "%dx%d%c", &options.width, &options.height, &rest);
  constexpr int kMinSide = 320, kMaxSide = 16384;
  const auto is_valid = [](int side) { return side >= kMinSide && side <= kMaxSide; };
  if (matched != 2 || !is_valid(options.width) || !is_valid(options.height)) {
    throw InputError("--size: expected WIDTHxHEIGHT, each from 320 to 16384, found \"" + text +
                     "\"");
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

struct WindowArguments {
  window::WindowOptions options;
  std::string size, theme, controls, text_file;
  std::optional<std::filesystem::path> input;
  std::vector<std::shared_ptr<ViewOptions>> views;  // later elements override earlier ones
};

// Options that the commands `window` and `open` share.
void add_appearance_options(Command command, WindowArguments& args) {
  command.add("--size", args.size, "Window size: WIDTHxHEIGHT");
  command.add("--scale", args.options.scale, "Scale of the user interface (2: twice the size)")
      .from_to(0.5, 4.0);
  command.add("--theme", args.theme, "Colour theme: light or dark").one_of({"light", "dark"});
  command
      .add("--controls", args.controls,
           "Controls of the window: simple (text, model, variant, encoding, view) or full")
      .one_of({"simple", "full"});
  command.add("--report", args.options.report,
              "File for reporting the state of the window, for tests");
}

void open_window(const Command& program, WindowArguments& args) {
  if (!args.size.empty()) parse_size(args.size, args.options);
  if (!args.theme.empty()) args.options.dark = args.theme == "dark";
  if (!args.controls.empty()) args.options.simple = args.controls == "simple";
  if (!args.text_file.empty()) args.options.text = read_file(args.text_file, kMaxTextBytes);
  if (args.input) args.options.input = std::filesystem::absolute(*args.input);
  args.options.apply_view = [views = args.views](ViewSettings& settings) {
    for (const auto& view : views) view->apply(settings);
  };
  ViewSettings settings;
  args.options.apply_view(settings);  // throws before a window opens
  const bool is_given =
      std::ranges::any_of(args.views, [](const auto& view) { return view->is_given(); });
  if (!is_given) args.options.apply_view = {};
  open_window(program, args.options);
}

void add_start_options(Command command, const std::shared_ptr<WindowArguments>& args) {
  command.add("--session", args->options.session, "Session file");
  Option text = command.add("--text", args->options.text, "Input text");
  Option file = command.add("--text-file", args->text_file, "File with the input text");
  command.add("--target", args->options.target, "Target text of an encoder-decoder");
  Option input =
      command.add("--input", args->input,
                  "Input file: an image, or pixels or a trajectory (safetensors). If the "
                  "model cannot read it, a bundled model does");
  text.excludes(file).excludes(input);
  file.excludes(input);
  command.add(
      "--model", args->options.model,
      "Model: bundled name ('attnscope list models'), folder, GGUF file, or org/name in the "
      "Hugging Face cache. Without an input, selects a sample input and a view for the model");
  args->views.push_back(std::make_shared<ViewOptions>());
  args->views.back()->add_to(command);
  add_appearance_options(command, *args);
  command.add("--lesson", args->options.lesson,
              "Bundled lesson ('attnscope list lessons') or file");
  command.flag(
      "--present", [args] { args->options.present = true; },
      "Start in presentation mode (F5): full screen, large type, no panels");
  // A callback, since CLI11 sets a bound variable to false if the flag is not given.
  command.flag(
      "--tour", [args] { args->options.tour = true; },
      "Start with the introduction on three cards (opening moves); default: at the first start "
      "only");
  command.flag(
      "--no-tour", [args] { args->options.tour = false; }, "Start without the introduction");
}

void add_window_command(Command program, const std::shared_ptr<WindowArguments>& args) {
  Command command = program.subcommand(
      "window", "Open the window with the given options or file; the default command");
  command.add("FILE", args->options.open,
              "File to open: a picture, session, lesson, text, tensors, pixels, trajectory or "
              "model folder");
  add_start_options(command, args);
  command.uninterrupted_action([program, args] { open_window(program, *args); });
}

// Command `open`; window options are accepted before and after it.
void add_open_command(Command program, const std::shared_ptr<WindowArguments>& args) {
  Command command = program.subcommand(
      "open", "Open a window with imported attention, a session, picture, lesson or text");
  const auto tensors = std::make_shared<TensorOptions>();
  command
      .add("FILE", args->options.open,
           "FILE.npy, FILE.npz or FILE.safetensors with attention [L, L], [h, L_q, L_k] or "
           "[layers, h, L_q, L_k], or with q and k; a session, a PNG exported by attnscope, a "
           "lesson, a text or a model folder")
      .required();
  tensors->add_to(command);
  args->views.push_back(std::make_shared<ViewOptions>());
  args->views.back()->add_to(command);
  add_appearance_options(command, *args);
  command.uninterrupted_action([program, args, tensors] {
    RunSpec spec;
    tensors->apply(args->options.open->string(), spec);
    args->options.tokens = spec.tensors.tokens;
    args->options.key_tokens = spec.tensors.key_tokens;
    open_window(program, *args);
  });
}

}  // namespace

void add_window(Command program) {
  const auto args = std::make_shared<WindowArguments>();
  add_open_command(program, args);
  add_start_options(program, args);
  add_window_command(program, args);
  program.flag(
      "--measure", args->options.measure,
      "Print the frame times of each view while the pointer moves, during runs and, in views that "
      "zoom, while panning; with a text, model or session, those of its view while the pointer "
      "moves; then exit");
  program.uninterrupted_action([program, args] {
    if (!program.has_parsed_subcommand()) open_window(program, *args);
  });
}

}  // namespace attnscope::command
