// Options that describe a run: text, model, variant, encoding, device. All commands parse them
// here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command/options.h"
#include "core/experiment/session.h"
#include "core/trace/trace.h"

namespace attnscope::command {

// Parses "local,window=4,dilation=2" or JSON, {"type": "local", "window": 4}. Lists are JSON too:
// "longformer,window=4,global=[0,5]". Parameters without a default may be omitted: see
// fill_unset_parameters(). Errors begin with "variant" or "position".
Choice variant_from_text(const std::string& text);
Choice encoding_from_text(const std::string& text);

// Parses "1,2,3" with numbers of at least `least`; nullopt for other texts.
std::optional<std::vector<std::int32_t>> numbers_from_text(const std::string& text,
                                                           std::int32_t least);
// Parses token ids. Errors begin with the option's name.
std::vector<std::int32_t> ids_from_text(const std::string& text, const std::string& option,
                                        std::int32_t least);

// Parses "saturation,decay=2". Errors begin with "exits".
Choice exits_from_text(const std::string& text);

// Parses "knn,store=FILE,k=8". Errors begin with "retrieval".
RetrievalChoice retrieval_from_text(const std::string& text);

// Options --architecture, --join, --exits, --segment-length, --variant, --position, --causal and
// --no-causal.
class ChoiceOptions {
 public:
  // otherwise: description of the defaults, for the help.
  // prefix: start of the option names, e.g. "compare-".
  void add_to(Command command, const std::string& otherwise = "as the model was trained",
              const std::string& prefix = "");
  std::optional<Choice> variant() const;
  std::optional<Choice> encoding() const;
  std::optional<bool> causal() const;
  // `structure` with the given options applied.
  Structure structure(Structure structure) const;
  // Throws InputError if any of them is given for imported attention.
  void check_trace(const Trace& trace) const;

 private:
  std::string architecture_, join_, exits_, segment_;
  std::string variant_, encoding_;
  bool causal_ = false, no_causal_ = false;
};

// True if a file holds tensors, or is an image without an embedded session.
bool holds_tensors(const std::filesystem::path& file);

// Options --tokens, --key-tokens and --grid for a file of tensors or an image.
class TensorOptions {
 public:
  void add_to(Command command);
  // Sets the session's tensors if `file` holds any. Throws InputError for token lists without
  // tensors, or if other options of `command` specify a model or another input.
  void apply(const std::string& file, RunSpec& spec) const;

 private:
  std::string tokens_, key_tokens_, grid_;
  std::optional<Command> command_;
};

// Options --text, --text-file, --ids, --session, --model, --group, --device, --overlong,
// --intervene and those above.
class ExperimentOptions {
 public:
  void add_to(Command command);
  // Without --overlong, for commands with their own rule for texts beyond the context.
  void add_all_but_overlong(Command command);
  // The session of --session, if given, with the other options applied. Throws InputError without
  // an input.
  Session session() const;
  bool intervenes() const { return !interventions_.empty(); }
  // Enables samples: if only a model is given, the session is that with which the model opens
  // (core/view/opening.h). say_sample() reports the sample on stderr.
  void offer_samples() { samples_ = true; }
  bool reads_sample() const { return samples_ && has_nothing_to_read() && !model_.empty(); }
  void say_sample(const RunSpec& spec) const;
  void check_trace(const Trace& trace) const { choices_.check_trace(trace); }

 private:
  bool has_nothing_to_read() const;
  // Applies a mask or edges from a file to the variant.
  void apply_drawing(RunSpec& spec) const;

  std::string session_, text_, text_file_, model_, backend_, overlong_, mask_, edges_;
  std::string ids_, target_ids_, target_, second_, input_, retrieval_;
  bool samples_ = false;
  double exit_ = 0;
  Index max_tokens_ = 0;
  std::vector<std::string> groups_;
  std::vector<std::string> interventions_;
  ChoiceOptions choices_;
  TensorOptions tensors_;
  std::optional<Command> command_;
};

// Options of run B: --compare SESSION and --compare-text, --compare-model, --compare-variant,
// --compare-position, --compare-causal, --compare-layer, --compare-head. Defaults to the run itself
// with these changes.
class CompareOptions {
 public:
  void add_to(Command command);
  // Adds run B to the session if any of these options is given. Throws InputError.
  void apply(Session& session) const;
  bool given() const;

 private:
  std::string session_, text_, model_;
  ChoiceOptions choices_;
  Index layer_ = 0, head_ = 0;
  std::optional<Command> command_;
};

}  // namespace attnscope::command
