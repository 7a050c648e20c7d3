// attnscope attend: computes one attention operation on tensors of a file (assets/docs/spec.md).
#include "core/experiment/attend.h"

#include <cstdio>
#include <memory>
#include <optional>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope::command {
namespace {

struct AttendOptions {
  std::string input, spec, backend = "auto", output;
  bool terms = false;
};

void run(const AttendOptions& options) {
  const BackendChoice choice = backend_choice(options.backend);
  const SafetensorsFile tensors = read_safetensors(options.input);
  std::optional<std::string> spec;
  if (!options.spec.empty()) spec = read_file(options.spec);
  check_safetensors_output(options.output);
  const BackendProvider provider = backends();
  const AttendResult result = [&] {
    const ProgressLine line("computing");
    return attend(tensors, spec, options.terms, require_backend(provider, choice));
  }();
  if (!result.note.empty()) {
    if (choice == BackendChoice::Gpu) throw InputError("--device gpu: " + result.note);
    print_note("ran on the CPU: " + result.note);
  }
  for (const std::string& remark : result.remarks) print_note(remark);
  write_safetensors(options.output, result.out);
}

}  // namespace

void add_attend(Command program) {
  auto options = std::make_shared<AttendOptions>();
  Command command = program.subcommand(
      "attend", "Compute one attention operation on the tensors of a safetensors file");
  command
      .add("CASE", options->input,
           "Safetensors file with q, k and v, or with x, wq, wk and wv; further tensors of the "
           "operation by name")
      .required();
  command.add("--spec", options->spec,
              "JSON file that specifies the operation; default: metadata of CASE");
  command.add("--device,--backend", options->backend, "Device: auto, cpu or gpu").show_default();
  command.flag("--terms", options->terms,
               "Also write the terms of the scores, such as content and bias");
  command.add("-o,--output", options->output, "Output file (safetensors)").required();
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
