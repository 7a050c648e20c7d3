// attnscope datastore: builds a datastore of contexts from texts, for --retrieval.
#include "core/experiment/datastore.h"

#include <filesystem>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/text_progress.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/checkpoint/model_store.h"

namespace attnscope::command {
namespace {

struct DatastoreOptions {
  std::string model = "default";
  std::vector<std::string> texts, ids;
  bool as_float16 = false;
  std::string backend = "auto";
  std::filesystem::path output;
};

std::vector<std::vector<std::int32_t>> read_texts(const DatastoreOptions& options,
                                                  const Checkpoint& checkpoint) {
  std::vector<std::vector<std::int32_t>> texts;
  if (!options.texts.empty() && !options.ids.empty()) {
    throw InputError("--ids: expected either --ids or --text, found both");
  }
  for (const std::string& ids : options.ids) texts.push_back(ids_from_text(ids, "--ids", 0));
  for (const std::string& file : options.texts) {
    if (!checkpoint.tokenizer) {
      throw InputError("--text: model " + checkpoint.name +
                       " has no tokenizer: " + checkpoint.tokenizer_problem);
    }
    texts.emplace_back();
    for (const Token& token :
         checkpoint.tokenizer->encode(read_file(file, limits::kMaxStoredText))) {
      texts.back().push_back(token.id);
    }
  }
  if (texts.empty()) throw InputError("expected --text or --ids, found neither");
  return texts;
}

void build_datastore(const DatastoreOptions& options) {
  const auto shared_checkpoint = model_store()->checkpoint(options.model);
  const Checkpoint& checkpoint = *shared_checkpoint;
  check_safetensors_output(options.output);
  const BackendProvider provider = backends();
  Backend& backend = require_backend(provider, backend_choice(options.backend));
  const auto report = print_progress("storing");
  const Store store =
      make_store(checkpoint.model, read_texts(options, checkpoint), backend,
                 [&](Index completed, Index total) {
                   report(static_cast<std::size_t>(completed), static_cast<std::size_t>(total));
                 });
  write_safetensors(options.output, store_file(store, options.as_float16));
}

}  // namespace

void add_datastore(Command program) {
  Command command = program.subcommand(
      "datastore", "Build a datastore of contexts and next tokens from texts, for --retrieval");
  const auto options = std::make_shared<DatastoreOptions>();
  command.add("-m,--model", options->model, "Model: bundled name, folder or GGUF file");
  command.add("-t,--text", options->texts, "Text files");
  command.add("--ids", options->ids, "Token ids of a text, such as 1,2,3; repeatable").one_each();
  command.flag("--half", options->as_float16, "Store keys as float16");
  command.add("--device,--backend", options->backend, "Device: auto, cpu or gpu");
  command.add("-o,--output", options->output, "Output file (safetensors)").required();
  command.action([options] { build_datastore(*options); });
}

}  // namespace attnscope::command
