// The options by which commands say what to run: text, model, variant, encoding, backend. The one
// place where they are parsed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command/options.h"
#include "core/experiment/experiment.h"
#include "core/trace/trace.h"

namespace attnscope::command {

// "local,window=4,dilation=2", or JSON, {"type": "local", "window": 4}. A value that is a list is
// JSON too: "longformer,window=4,global=[0,5]". What has no default may be left out: see
// complete_choices(). InputError begins with "variant" or "position".
Choice variant_from_text(const std::string& text);
Choice encoding_from_text(const std::string& text);

// "1,2,3"; no number is below `least`. Nothing where it is anything else.
std::optional<std::vector<std::int32_t>> numbers_from_text(const std::string& text,
                                                           std::int32_t least);
// Likewise of tokens. InputError begins with the option's name.
std::vector<std::int32_t> ids_from_text(const std::string& text, const std::string& option,
                                        std::int32_t least);

// "saturation,decay=2". InputError begins with "exits".
Choice exits_from_text(const std::string& text);

// "knn,store=FILE,k=8". InputError begins with "retrieval".
RetrievalChoice retrieval_from_text(const std::string& text);

// --architecture, --join, --exits, --segment-length, --variant, --position, --causal, --no-causal.
class ChoiceOptions {
 public:
  // `otherwise` says in the help what holds where an option is not given.
  // `prefix` begins the options' names: "compare-".
  void add_to(Command command, const std::string& otherwise = "as the model was trained",
              const std::string& prefix = "");
  std::optional<Choice> variant() const;
  std::optional<Choice> encoding() const;
  std::optional<bool> causal() const;
  // `structure` with what the options say in place of what it has.
  Structure structure(Structure structure) const;
  // InputError where any of them is given for attention that is there already.
  void check_trace(const Trace& trace) const;

 private:
  std::string architecture_, join_, exits_, segment_;
  std::string variant_, encoding_;
  bool causal_ = false, no_causal_ = false;
};

// --tokens, --key-tokens, --grid: what goes with a file of tensors or a picture.
// Whether a file of this name is one of tensors, or a picture that carries no experiment.
bool holds_tensors(const std::filesystem::path& file);

class TensorOptions {
 public:
  void add_to(Command command);
  // Makes the experiment one of `file`, where that holds tensors. InputError for tokens without, or
  // where options of `command` say to run a model on something else.
  void apply(const std::string& file, Experiment& experiment) const;

 private:
  std::string tokens_, key_tokens_, grid_;
  std::optional<Command> command_;
};

// --text, --text-file, --ids, --session, --model, --group, --backend, --overlong, --intervene and
// the above.
class ExperimentOptions {
 public:
  void add_to(Command command);
  // Without --overlong, for commands that have a rule of their own for what is beyond the context.
  void add_all_but_overlong(Command command);
  // What the session file says, where one is given, changed by the other options. InputError when
  // there is nothing to run.
  Experiment experiment() const;
  bool intervenes() const { return !interventions_.empty(); }
  // Whether the model is all that is given, to a command that offers it: then the experiment is
  // what it opens on (core/view/opening.h). say_sample() notes what that is on stderr.
  void offer_samples() { samples_ = true; }
  bool reads_sample() const { return samples_ && has_nothing_to_read() && !model_.empty(); }
  void say_sample(const Experiment& experiment) const;
  void check_trace(const Trace& trace) const { choices_.check_trace(trace); }

 private:
  bool has_nothing_to_read() const;
  // What a file of a mask or of edges says of the variant.
  void take_drawn(Experiment& experiment) const;

  std::string session_, text_, text_file_, model_, backend_, overlong_, mask_, edges_;
  std::string ids_, target_ids_, target_, second_, input_, retrieval_;
  bool samples_ = false;
  double exit_ = 0;
  Index most_tokens_ = 0;
  std::vector<std::string> groups_;
  std::vector<std::string> interventions_;
  ChoiceOptions choices_;
  TensorOptions tensors_;
  std::optional<Command> command_;
};

// What to compare with: --compare SESSION and --compare-text, --compare-model, --compare-variant,
// --compare-position, --compare-causal, --compare-layer, --compare-head. The run itself, but for
// what these name.
class CompareOptions {
 public:
  void add_to(Command command);
  // Gives the experiment another one to stand beside it where any of these options is there.
  // InputError.
  void apply(Experiment& experiment) const;
  bool given() const;

 private:
  std::string session_, text_, model_;
  ChoiceOptions choices_;
  Index layer_ = 0, head_ = 0;
  std::optional<Command> command_;
};

}  // namespace attnscope::command
