// attnscope generate: continues a text with a model, token by token.
#include "core/model/generate.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/interrupt.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/chosen.h"
#include "core/experiment/notes.h"
#include "core/model/sample.h"
#include "core/text/utf8_stream.h"

namespace attnscope::command {

namespace {

constexpr Index kMostTokens = 1'000'000;

struct GenerateOptions {
  ExperimentOptions experiment;
  Index tokens = 100;
  Sampling sampling{.temperature = 0.8};
  std::uint64_t seed = 0;
  std::string beyond = "slide";
  bool ignore_end = false;
  std::filesystem::path output;
};

void note(const std::string& text) {
  std::fprintf(stderr, "note: %s\n", text.c_str());
}

// Tokens as text on stdout as they come.
class Printer {
 public:
  explicit Printer(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  void add(std::int32_t id) {
    if (!checkpoint_.tokenizer) {
      print((printed_.empty() ? "" : " ") + std::to_string(id));
    } else if (id < checkpoint_.tokenizer->vocabulary_size() &&
               !checkpoint_.tokenizer->is_special(id)) {
      print(stream_.push(checkpoint_.tokenizer->bytes(id)));
    }
  }
  void finish() { print(stream_.finish() + "\n"); }

 private:
  void print(const std::string& text) {
    printed_ += text;
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) throw WorkError("standard output cannot be written");
  }

  const Checkpoint& checkpoint_;
  Utf8Stream stream_;
  std::string printed_;
};

struct Result {
  std::vector<std::int32_t> prompt, ids;
  std::string ended_by;  // "tokens", "end", "context", "interrupt"
};

class Run {
 public:
  explicit Run(const GenerateOptions& options)
      : options_(options),
        experiment_(options.experiment.experiment()),
        held_(model_store()->checkpoint(experiment_.model)),
        checkpoint_(*held_),
        model_(chosen_model(checkpoint_.model, experiment_)) {
    check_options();
    if (!experiment_.interventions.empty()) {
      throw InputError("session: expected one without interventions to go on with, found \"" +
                       to_text(experiment_.interventions.front()) + "\"");
    }
    const std::vector<TraceToken> tokens = chosen_tokens(checkpoint_, experiment_);
    const auto text = std::ranges::find_if(tokens, [](const auto& t) { return !t.special; });
    leading_ = text - tokens.begin();
    for (const TraceToken& token : tokens) result_.prompt.push_back(token.id);
  }

  // Stopped leaves what has come so far in the result.
  void generate(const Stop& stop) {
    for (const std::string& text : notes_on_model(checkpoint_.model, model_)) note(text);
    Generator generator(model_, {&chosen_backend(backends_, experiment_.backend), leading_});
    if (!generator.recomputes().empty()) {
      note(generator.recomputes() + "; every step computes the whole text again");
    }
    Printer printer(checkpoint_);
    try {
      continue_text(generator, printer, stop);
    } catch (const Stopped&) {
      result_.ended_by = "interrupt";
      printer.finish();
      throw;
    }
    printer.finish();
  }

  void save() const {
    if (options_.output.empty()) return;
    const Json object = {{"model", checkpoint_.name},
                         {"prompt", result_.prompt},
                         {"ids", result_.ids},
                         {"text", text()},
                         {"ended_by", result_.ended_by},
                         {"temperature", options_.sampling.temperature},
                         {"top_k", options_.sampling.top_k},
                         {"top_p", options_.sampling.top_p},
                         {"seed", options_.seed}};
    write_file(options_.output, object.dump(2) + "\n");
  }

 private:
  void check_options() const {
    check(options_.sampling);
    if (options_.tokens < 1 || options_.tokens > kMostTokens) {
      throw InputError("--tokens: expected a number from 1 to " + std::to_string(kMostTokens) +
                       ", found " + std::to_string(options_.tokens));
    }
    if (options_.beyond != "slide" && options_.beyond != "stop") {
      throw InputError("--beyond: expected slide or stop, found \"" + options_.beyond + "\"");
    }
  }

  void continue_text(Generator& generator, Printer& printer, const Stop& stop) {
    const bool slides = options_.beyond == "slide";
    const Index context = model_.config.context;
    const auto room = [&] { return static_cast<Index>(generator.tokens().size()) < context; };
    if (!slides && static_cast<Index>(result_.prompt.size()) > context) {
      throw InputError("--beyond stop: the text has " + std::to_string(result_.prompt.size()) +
                       " tokens, the context of the model only " + std::to_string(context));
    }
    Random random(options_.seed);
    Tensor logits = generator.step(result_.prompt, stop);
    note_forgotten(generator);
    while (true) {
      const std::int32_t id = sample(probabilities(logits, options_.sampling), random);
      result_.ids.push_back(id);
      printer.add(id);
      result_.ended_by = "tokens";
      if (static_cast<Index>(result_.ids.size()) == options_.tokens) return;
      result_.ended_by = "end";
      if (!options_.ignore_end && std::ranges::count(checkpoint_.end_tokens, id) > 0) return;
      result_.ended_by = "context";
      if (!slides && !room()) break;
      logits = generator.step({id}, stop);
      note_forgotten(generator);
    }
    note("the context of " + std::to_string(context) + " tokens is full");
  }

  // Once: what follows depends on less than all of the text.
  void note_forgotten(const Generator& generator) {
    if (noted_ || generator.forgotten() == 0) return;
    noted_ = true;
    note("the context of " + std::to_string(model_.config.context) +
         " tokens is full: from here on the older half is forgotten whenever it is");
  }

  std::string text() const {
    if (!checkpoint_.tokenizer) return "";
    Utf8Stream stream;
    std::string whole;
    for (const std::int32_t id : result_.ids) {
      if (id < checkpoint_.tokenizer->vocabulary_size() && !checkpoint_.tokenizer->is_special(id)) {
        whole += stream.push(checkpoint_.tokenizer->bytes(id));
      }
    }
    return whole + stream.finish();
  }

  const GenerateOptions& options_;
  BackendProvider backends_ = backends();
  Experiment experiment_;
  std::shared_ptr<const Checkpoint> held_;
  const Checkpoint& checkpoint_;
  Model model_;
  Index leading_ = 0;  // special tokens at the beginning, which are never forgotten
  Result result_;
  bool noted_ = false;
};

void generate(const GenerateOptions& options) {
  const Stop stop = stop_on_interrupt();
  Run run(options);
  if (!options.output.empty()) check_writable(options.output);
  try {
    run.generate(stop);
  } catch (const Stopped&) {
    run.save();
    throw;
  }
  run.save();
}

}  // namespace

void add_generate(Command program) {
  Command command = program.subcommand(
      "generate",
      "Continue a text with a model; the continuation goes to standard output token by token. "
      "Ctrl-C ends it and keeps what has come");
  const auto options = std::make_shared<GenerateOptions>();
  options->experiment.add_all_but_overlong(command);
  command.add("-n,--tokens", options->tokens, "How many tokens at most; default: 100");
  command.add("--temperature", options->sampling.temperature,
              "Below 1 likely tokens become likelier, 0 takes the likeliest; default: 0.8");
  command.add("--top-k", options->sampling.top_k,
              "Only so many of the likeliest tokens; 0, the default: all");
  command.add("--top-p", options->sampling.top_p,
              "Only the likeliest tokens that together have this probability; default: 1");
  command.add("--seed", options->seed, "The same seed gives the same continuation; default: 0");
  command.add("--beyond", options->beyond,
              "When the model's context is full: slide (the default) forgets the older half "
              "of the text, stop ends");
  command.flag("--ignore-end", options->ignore_end,
               "Go on when the model ends its text (eos_token_id of its config.json)");
  command.add("-o,--output", options->output,
              "A JSON file for the ids of prompt and continuation and how they were made");
  command.action([options] { generate(*options); });
}

}  // namespace attnscope::command
