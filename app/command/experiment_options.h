// Options that describe a run, for all commands: text, model, variant, encoding, device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command/options.h"
#include "core/experiment/partial_choice.h"
#include "core/experiment/session.h"
#include "core/trace/trace.h"

namespace attnscope::command {

// Values of omitted parameters: their default, if they have one, or none, so that
// select_requested() adds illustrative values.
enum class Omitted { Default, Unset };

// Parses "local,window=4,dilation=2" or JSON, {"type": "local", "window": 4}. Lists are written in
// JSON: "longformer,window=4,global=[0,5]". Parameters without a default may be omitted: see
// fill_unset_parameters(). Errors begin with "variant" or "position".
Choice variant_from_text(const std::string& text, Omitted omitted = Omitted::Default);
Choice encoding_from_text(const std::string& text, Omitted omitted = Omitted::Default);

// Parses "1,2,3"; nullopt for other texts and for numbers below `minimum`.
std::optional<std::vector<std::int32_t>> numbers_from_text(const std::string& text,
                                                           std::int32_t minimum);
// Parses token ids. Errors begin with the option's name.
std::vector<std::int32_t> ids_from_text(const std::string& text, const std::string& option,
                                        std::int32_t minimum);

// Parses "saturation,decay=2". Errors begin with "exits".
Choice exits_from_text(const std::string& text);

// Parses "knn,store=FILE,k=8". Errors begin with "retrieval".
RetrievalChoice retrieval_from_text(const std::string& text);

// Options --architecture, --join, --exits, --segment-length, --variant, --position, --causal and
// --no-causal.
class ChoiceOptions {
 public:
  // defaults: description of the default values in the help.
  // prefix: start of the option names, e.g. "compare-".
  void add_to(Command command, const std::string& defaults = "as the model was trained",
              const std::string& prefix = "");
  std::optional<Choice> variant(Omitted omitted = Omitted::Default) const;
  std::optional<Choice> encoding(Omitted omitted = Omitted::Default) const;
  std::optional<bool> causal() const;
  // The options as choices for select_requested().
  RequestedChoices requested() const;
  // Returns `structure` with the given options applied.
  Structure structure(Structure structure) const;
  // Throws InputError if any of these options is given for imported attention.
  void check_trace(const Trace& trace) const;

 private:
  std::string architecture_, join_, exits_, segment_;
  std::string variant_, encoding_;
  bool causal_ = false, no_causal_ = false;
};

// Option --strict of commands that draw or compare, and their selection of choices.
class CompatibleOptions {
 public:
  void add_to(Command command);
  // Applies select_requested() to `viewed` and adds a note about its implied changes. Throws
  // InputError if nothing is compatible or, with --strict, if a change is necessary.
  // prefix: start of the option names that errors mention, e.g. "compare-".
  void apply(RunView& viewed, RequestedChoices requested, std::vector<std::string>& notes,
             const std::string& prefix = "") const;
  // As above, for other tokens than those of the run's input.
  void apply(RunView& viewed, RequestedChoices requested, const RunTokens& input,
             std::vector<std::string>& notes) const;

 private:
  RequestedChoices with_strictness(RequestedChoices requested) const;
  void accept(const CompatibleChoice& choice, RunView& viewed, std::vector<std::string>& notes,
              const std::string& prefix) const;

  bool strict_ = false;
};

// Runs `run`. Adds the nearest compatible settings to its InputError if `viewed` is refused because
// its variant, encoding and direction do not combine.
void with_offer(const RunView& viewed, const std::function<void()>& run);

// True if `file` is a tensor file, or an image without an embedded session.
bool contains_tensors(const std::filesystem::path& file);

// Options --tokens, --key-tokens and --grid for a file of tensors or an image.
class TensorOptions {
 public:
  void add_to(Command command);
  // Sets the run's tensors if `file` contains any. Throws InputError for token lists without
  // tensors, and for tensors together with --text, --text-file, --ids or --model.
  void apply(const std::string& file, RunSpec& spec) const;

 private:
  std::string tokens_, key_tokens_, grid_;
  std::optional<Command> command_;
};

// Options --text, --text-file, --chat, --ids, --session, --model, --group, --device, --overlong,
// --intervene, and the options of ChoiceOptions and TensorOptions.
class ExperimentOptions {
 public:
  void add_to(Command command);
  // Adds the options of add_to() except --overlong, --intervene and those of TensorOptions.
  void add_generation_options(Command command);
  // Session of --session or a new one, with all options applied. Throws InputError without input.
  Session session() const;
  // As session(), with choices completed by illustrative values and implied changes, which are
  // added to `notes`. Requires offer_compatible().
  Session compatible_session(std::vector<std::string>& notes) const;
  // Adds --strict.
  void offer_compatible(Command command) { compatible_.add_to(command); }
  const CompatibleOptions& compatible() const { return compatible_; }
  bool intervenes() const { return !interventions_.empty(); }
  // Enables samples: if only a model is given, session() returns the session that open_model()
  // proposes (core/view/opening.h). report_sample() names the sample on stderr.
  void offer_samples() { offers_samples_ = true; }
  bool uses_sample() const { return offers_samples_ && has_no_input() && !model_.empty(); }
  void report_sample(const RunSpec& spec) const;
  // True if the options give a text or other input for a model, not a session or tensors.
  bool opens_model() const { return session_.empty() && !has_no_input(); }
  void check_trace(const Trace& trace) const { choices_.check_trace(trace); }

 private:
  bool has_no_input() const;
  // Session with all options applied, except the choices in `requested` if it is not null.
  Session session(RequestedChoices* requested) const;
  // Selects a variant with the mask or edges of a file.
  void apply_pattern_file(RunSpec& spec) const;

  std::string session_, text_, text_file_, model_, backend_, overlong_, mask_, edges_;
  std::string ids_, target_ids_, target_, second_, input_, retrieval_;
  bool offers_samples_ = false, chat_ = false;
  double exit_ = 0;
  Index max_tokens_ = 0;
  std::vector<std::string> groups_;
  std::vector<std::string> interventions_;
  ChoiceOptions choices_;
  TensorOptions tensors_;
  CompatibleOptions compatible_;
  std::optional<Command> command_;
};

// Options of run B: --compare SESSION and --compare-text, --compare-model, --compare-variant,
// --compare-position, --compare-causal, --compare-layer, --compare-head. Without --compare, run B
// is run A with the changes of the other options.
class CompareOptions {
 public:
  void add_to(Command command);
  // Adds run B to the session if any of these options is given, and notes about its implied
  // changes. Throws InputError for a bad value.
  void apply(Session& session, const CompatibleOptions& compatible,
             std::vector<std::string>& notes) const;
  bool is_given() const;

 private:
  std::string session_, text_, model_;
  ChoiceOptions choices_;
  Index layer_ = 0, head_ = 0;
  std::optional<Command> command_;
};

}  // namespace attnscope::command
