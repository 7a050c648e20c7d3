// attnscope generate: continues a text, a target or an image with a model, token by token.
#include "core/model/generate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/generated.h"
#include "app/command/interrupt.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/chosen.h"
#include "core/experiment/continuation.h"
#include "core/experiment/inputs.h"
#include "core/experiment/notes.h"
#include "core/figure/plain_text.h"
#include "core/figure/png.h"
#include "core/model/beam.h"
#include "core/model/input_kind.h"
#include "core/model/sample.h"

namespace attnscope::command {

namespace {

constexpr Index kMostTokens = 1'000'000, kMostBeams = 1024;

struct GenerateOptions {
  ExperimentOptions experiment;
  Index tokens = 100;
  bool tokens_given = false;
  Index rows = -1;  // of a picture; -1: half
  Sampling sampling{.temperature = 0.8};
  std::uint64_t seed = 0;
  Index beams = 0;  // 0: tokens are drawn
  std::string beyond = "slide";
  bool ignore_end = false;
  std::filesystem::path output;
};

void note(const std::string& text) {
  std::fprintf(stderr, "note: %s\n", text.c_str());
}

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
        model_(chosen_model(checkpoint_.model, experiment_)),
        acts_(!reads_tokens(model_.config)) {
    check_options();
    if (!experiment_.interventions.empty()) {
      throw InputError("session: expected one without interventions to go on with, found \"" +
                       to_text(experiment_.interventions.front()) + "\"");
    }
    if (acts_) return;
    from_ = continuation(checkpoint_, model_.config, experiment_, options.rows);
    result_.prompt = from_.prompt;
    retrieval_ = chosen_retrieval(experiment_, model_.config);
    const auto whole = static_cast<Index>(from_.prompt.size()) + from_.room;
    if (from_.levels > 0 && whole > model_.config.context) {  // an image is one, to its end
      model_ = with_context(model_, whole);
    }
  }

  // Stopped leaves what has come so far in the result.
  void generate(const Stop& stop) {
    for (const std::string& text : notes_on_model(checkpoint_.model, model_)) note(text);
    if (acts_) return act(stop);
    if (options_.beams > 0) return search(stop);
    GeneratorOptions how;
    how.backend = &chosen_backend(backends_, experiment_.backend);
    how.kept = from_.kept;
    how.source = from_.source;
    how.exit = experiment_.exit;
    how.retrieval = retrieval_ ? &*retrieval_ : nullptr;
    Generator generator(model_, how);
    if (!generator.recomputes().empty()) {
      note(generator.recomputes() + "; every step computes the whole " +
           (model_.config.segment > 0 ? "segment" : "text") + " again");
    }
    TokenPrinter printer(checkpoint_, from_.columns, whole_rows());
    try {
      continue_text(generator, printer, stop);
    } catch (const Stopped&) {
      result_.ended_by = "interrupt";
      printer.finish();
      throw;
    }
    printer.finish();
    if (experiment_.exit) {
      note("tokens left after " + fixed(layers_ / static_cast<double>(result_.ids.size()), 2) +
           " of " + std::to_string(model_.config.layers) + " layers on average");
    }
  }

  void save() const {
    if (options_.output.empty()) return;
    if (is_picture(options_.output)) {
      write_file(options_.output,
                 encode_png(pixels_image(all_pixels(), from_.columns, from_.levels),
                            {{"Title", "Continued by " + checkpoint_.name}}));
      return;
    }
    Json object = {{"model", checkpoint_.name},
                   {"source", from_.source},
                   {"prompt", result_.prompt},
                   {"ids", result_.ids},
                   {"text", text_of(checkpoint_, result_.ids)},
                   {"ended_by", result_.ended_by}};
    if (beams_.empty()) {
      object["temperature"] = options_.sampling.temperature;
      object["top_k"] = options_.sampling.top_k;
      object["top_p"] = options_.sampling.top_p;
      object["seed"] = options_.seed;
    }
    for (const Beam& beam : beams_) {
      object["beams"].push_back({{"ids", beam.ids},
                                 {"text", text_of(checkpoint_, beam.ids)},
                                 {"log_probability", beam.log_probability},
                                 {"ended", beam.ended}});
    }
    write_file(options_.output, object.dump(2) + "\n");
  }

 private:
  static bool is_picture(const std::filesystem::path& file) { return file.extension() == ".png"; }

  // Numbers of the prompt that stand in the row where the first new one comes.
  Index whole_rows() const {
    if (from_.columns == 0) return 0;
    return (static_cast<Index>(from_.prompt.size()) - 1) % from_.columns;  // without the start
  }

  std::vector<std::int32_t> all_pixels() const {
    std::vector<std::int32_t> all(result_.prompt.begin() + 1, result_.prompt.end());
    all.insert(all.end(), result_.ids.begin(), result_.ids.end());
    return all;
  }

  void check_options() const {
    check(options_.sampling);
    check_beams();
    if (options_.tokens < 1 || options_.tokens > kMostTokens) {
      throw InputError("--tokens: expected a number from 1 to " + std::to_string(kMostTokens) +
                       ", found " + std::to_string(options_.tokens));
    }
    if (options_.beyond != "slide" && options_.beyond != "stop") {
      throw InputError("--beyond: expected slide or stop, found \"" + options_.beyond + "\"");
    }
    const bool image = !input_kind(model_.config.input.id).is_text;
    if (!image && (options_.rows >= 0 || is_picture(options_.output))) {
      throw InputError(std::string(options_.rows >= 0 ? "--rows" : "--output") +
                       ": expected a picture with a model of images alone, found one of " +
                       model_.config.input.id);
    }
    if (experiment_.exit && !model_.config.exits) {
      throw InputError("--exit: expected a model with exits, found " + checkpoint_.name);
    }
  }

  // The likeliest whole rather than likely tokens. The text is not cut: its context is its end.
  void search(const Stop& stop) {
    const Index left = model_.config.context - static_cast<Index>(from_.prompt.size());
    const bool segments = model_.config.segment > 0;
    BeamOptions how;
    how.width = options_.beams;
    how.most = from_.room >= 0 ? from_.room : segments ? options_.tokens : left + 1;
    how.most = std::min(how.most, options_.tokens);
    if (how.most < 1) throw InputError("--beams: the context of the model is full");
    if (!options_.ignore_end) how.ends = from_.ends;
    how.source = from_.source;
    how.exit = experiment_.exit;
    how.backend = &chosen_backend(backends_, experiment_.backend);
    const BeamSearch found = beam_search(model_, from_.prompt, how, stop);
    beams_ = found.steps.back();
    result_.ids = found.best().ids;
    const bool all = static_cast<Index>(result_.ids.size()) == options_.tokens;
    result_.ended_by = found.best().ended ? "end" : all ? "tokens" : "context";
    TokenPrinter printer(checkpoint_, 0, 0);
    for (const std::int32_t id : result_.ids) printer.add(id);
    printer.finish();
    for (const Beam& beam : beams_) {
      note("probability " + brief(std::exp(beam.log_probability), 3) + ": " +
           text_of(checkpoint_, beam.ids) + (beam.ended ? "" : " …"));
    }
  }

  // Why tokens cannot be searched for with beams.
  void check_beams() const {
    if (options_.beams < 0 || options_.beams > kMostBeams) {
      throw InputError("--beams: expected a number from 1 to " + std::to_string(kMostBeams) +
                       ", found " + std::to_string(options_.beams));
    }
    if (options_.beams == 0) return;
    const auto refuse = [](const std::string& found) {
      throw InputError("--beams: expected with a model that writes text or a target, found " +
                       found);
    };
    if (acts_) refuse("one that acts");
    if (!input_kind(model_.config.input.id).is_text) refuse("one of images");
    if (experiment_.retrieval) refuse("--retrieval");
  }

  // The one action that a trajectory leaves open: what follows it, only its world knows.
  void act(const Stop& stop) {
    const Tensor logits = action_logits(checkpoint_, model_, experiment_,
                                        chosen_backend(backends_, experiment_.backend), stop);
    Random random(options_.seed);
    result_.ids.push_back(sample(probabilities(logits, options_.sampling), random));
    result_.ended_by = "state";
    std::printf("%d\n", result_.ids.front());
  }

  // Only what can come: no start within an image.
  Tensor possible(Tensor logits) const {
    if (from_.levels == 0) return logits;
    logits = logits.copy();
    std::fill(logits.begin() + from_.levels, logits.end(), -std::numeric_limits<float>::infinity());
    return logits;
  }

  // Why no token may come behind those that are there; empty: one may.
  const char* ended(const Generator& generator) const {
    const auto count = static_cast<Index>(result_.ids.size());
    if (count == options_.tokens && from_.levels == 0) return "tokens";
    if (from_.levels > 0 && count == std::min(from_.room, tokens_of_image())) {
      return count == from_.room ? "end" : "tokens";
    }
    const std::int32_t id = result_.ids.back();
    if (!options_.ignore_end && std::ranges::count(from_.ends, id) > 0) return "end";
    if (from_.room >= 0 && count >= from_.room) return "context";
    const bool full = static_cast<Index>(generator.tokens().size()) >= model_.config.context;
    const bool limited = options_.beyond == "stop" && model_.config.segment == 0;
    return limited && full ? "context" : "";
  }

  // An image is made to its end unless a number is given.
  Index tokens_of_image() const { return options_.tokens_given ? options_.tokens : kMostTokens; }

  void continue_text(Generator& generator, TokenPrinter& printer, const Stop& stop) {
    const Index context = model_.config.context;
    const bool stops = options_.beyond == "stop" && model_.config.segment == 0;
    if (stops && static_cast<Index>(result_.prompt.size()) > context) {
      throw InputError("--beyond stop: the text has " + std::to_string(result_.prompt.size()) +
                       " tokens, the context of the model only " + std::to_string(context));
    }
    Random random(options_.seed);
    Tensor logits = generator.step(result_.prompt, stop);
    note_forgotten(generator);
    while (true) {
      layers_ += static_cast<double>(generator.exit_layer());
      const std::int32_t id = sample(probabilities(possible(logits), options_.sampling), random);
      result_.ids.push_back(id);
      printer.add(id);
      result_.ended_by = ended(generator);
      if (!result_.ended_by.empty()) break;
      logits = generator.step({id}, stop);
      note_forgotten(generator);
    }
    if (result_.ended_by == "context") {
      note("the context of " + std::to_string(context) + " tokens is full");
    }
  }

  // Once: what follows depends on less than all of the text.
  void note_forgotten(const Generator& generator) {
    if (noted_ || generator.forgotten() == 0) return;
    noted_ = true;
    note("the context of " + std::to_string(model_.config.context) +
         " tokens is full: from here on the older half is forgotten whenever it is");
  }

  const GenerateOptions& options_;
  BackendProvider backends_ = backends();
  Experiment experiment_;
  std::shared_ptr<const Checkpoint> held_;
  const Checkpoint& checkpoint_;
  Model model_;
  bool acts_;  // it writes actions
  Continuation from_;
  std::optional<Retrieval> retrieval_;
  Result result_;
  std::vector<Beam> beams_;  // of a search
  double layers_ = 0;        // made for the tokens, with exits
  bool noted_ = false;
};

void generate(GenerateOptions options, bool tokens_given) {
  options.tokens_given = tokens_given;
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
      "Continue a text, an image (--input, --ids), a target (of a source, --text), or say the next "
      "action of a trajectory (--input); what comes goes to standard output token by token. Ctrl-C "
      "ends it and keeps what has come");
  const auto options = std::make_shared<GenerateOptions>();
  options->experiment.add_all_but_overlong(command);
  command.add("-n,--tokens", options->tokens,
              "How many tokens at most; default: 100, of an image all");
  command.add("--rows", options->rows,
              "Of a picture of --input, how many rows the image begins with; default: half");
  command.add("--temperature", options->sampling.temperature,
              "Below 1 likely tokens become likelier, 0 takes the likeliest; default: 0.8");
  command.add("--top-k", options->sampling.top_k,
              "Only so many of the likeliest tokens; 0, the default: all");
  command.add("--top-p", options->sampling.top_p,
              "Only the likeliest tokens that together have this probability; default: 1");
  command.add("--seed", options->seed, "The same seed gives the same continuation; default: 0");
  command.add("--beams", options->beams,
              "Beam search in place of drawing: so many beginnings are kept from token to token, "
              "and the likeliest whole is written (1: always the likeliest token); what the others "
              "became is said on standard error");
  command.add("--beyond", options->beyond,
              "When the model's context is full: slide (the default) forgets the older half "
              "of the text, stop ends");
  command.flag("--ignore-end", options->ignore_end,
               "Go on when the model ends its text (eos_token_id of its config.json, or the start "
               "of a target)");
  command.add("-o,--output", options->output,
              "A JSON file for the ids of prompt and continuation and how they were made; of an "
              "image maybe a picture, FILE.png");
  command.action([options, command] { generate(*options, command.given("--tokens")); });
}

}  // namespace attnscope::command
