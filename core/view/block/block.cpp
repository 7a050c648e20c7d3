// Block view: the parts of a transformer block, on the user's text (Vaswani et al., 2017).
#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/finding.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/view/block/block_picture.h"
#include "core/view/parts/describe.h"
#include "core/view/view_list.h"
#include "core/view/view_values.h"

namespace attnscope {
namespace {

constexpr const char* kBlock = "block";

const BlockPicture& selected_picture(const ViewSettings& settings) {
  const std::string id = view_values(settings, kBlock).choice("picture");
  return *std::ranges::find(block_pictures(), id, &BlockPicture::id);
}

std::string block_objection(const Trace& trace) {
  if (trace.is_imported) return "The attention was read from a file: there is no model.";
  if (!trace.config || trace.tokens.empty()) return "Nothing has run yet.";
  return objection_without_attention(trace);
}

// Token of the pinned row; -1 if nothing is pinned.
Index pinned_token(const ViewInput& input) {
  const SelectedTap found = find_tap(input);
  const Index pinned = input.session.view.pinned_query;
  if (found.tap == nullptr || pinned < 0 || pinned >= found.tap->queries()) return -1;
  return input.trace.token_index(found.tap->query_rows, found.tap->queries(), pinned);
}

BlockInput block_input(const ViewInput& input) {
  const TracePart part = input.part();
  const std::vector<TraceToken>& tokens =
      part.stack == Stack::Encoder ? input.trace.text_tokens() : input.trace.tokens;
  const auto count = static_cast<Index>(tokens.size());
  const Values values = view_values(input.session.view, kBlock);
  const Index pinned = pinned_token(input);
  Index token = values.has("token") ? values.integer("token") : pinned >= 0 ? pinned : count - 1;
  token = std::clamp<Index>(token, 0, std::max<Index>(count - 1, 0));
  return {input, part, input.session.view.layer, tokens, token};
}

ViewLayout lay_out_block(const ViewInput& input) {
  Page page(input);
  if (const std::string objection = block_objection(input.trace); !objection.empty())
    return page.message("No block", objection);
  const SelectedTap found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  const BlockPicture& picture = selected_picture(input.session.view);
  const BlockInput in = block_input(input);
  if (const Refusal refusal = picture.refusal(in)) {
    const bool is_pending = refusal.headline == kComputing;
    return page.message(refusal.headline, refusal.advice, is_pending ? picture.label : "");
  }
  const Box inside =
      page.frame(title_with_part(input), caption(input.trace, capitalised(picture.content) + "."));
  const BlockLayout drawn = picture.draw(page, inside, in);
  if (drawn.is_too_small) return no_space(page);
  ViewLayout layout;
  layout.hit = [token_at = drawn.token_at, layer = input.session.view.layer,
                head = input.session.view.head](Point p) -> std::optional<Hit> {
    const Index token = token_at ? token_at(p) : -1;
    if (token < 0) return std::nullopt;
    return Hit{layer, head, token, -1};
  };
  layout.list = page.take(drawn.bottom);
  return layout;
}

ViewData block_data(const ViewInput& input) {
  if (const std::string objection = block_objection(input.trace); !objection.empty())
    throw InputError("block: " + objection);
  require_tap(input);
  const BlockInput in = block_input(input);
  const BlockPicture& picture = selected_picture(input.session.view);
  picture.refusal(in).throw_if_refused();
  return {picture.data(in)};
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  const BlockPicture& picture = selected_picture(settings);
  controls.head = false;
  if (picture.has_colours) {
    controls.colours = ViewControls::Colours::Sequential;
    controls.colour_ends.clear();
  } else {
    controls.hide_colours();
  }
  const auto affects = [&](const std::string& key) {
    return key == "picture" ||
           std::ranges::find(picture.parameters, key) != picture.parameters.end();
  };
  std::erase_if(controls.parameters, [&](const Parameter& p) { return !affects(p.key); });
  if (trace == nullptr) return;
  const auto last = static_cast<double>(trace->tokens.size()) - 1;
  for (Parameter& p : controls.parameters) {
    if (p.key == "token") p.slider.max = std::max(1.0, last);
  }
  if (!affects("token") || last < 1) {
    controls.animation.reset();
  } else if (controls.animation) {
    controls.animation->to = last;
  }
}

std::vector<Parameter> block_parameters() {
  Parameter picture{.key = "picture",
                    .label = "Picture",
                    .help = "The part of the block to show.",
                    .kind = Parameter::Kind::Choice,
                    .initial = block_pictures().front().id};
  for (const BlockPicture& p : block_pictures()) picture.choices.emplace_back(p.id, p.label);
  return {
      picture,
      {.key = "token",
       .label = "Token",
       .help = "The token to show; by default the pinned one.",
       .optional = true,
       .unset_label = "pinned",
       .initial = Index{0},
       .slider = {.max = 64}},
      {.key = "norm",
       .label = "Norm",
       .help = "The block that the norm belongs to.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("attention"),
       .choices = {{"attention", "attention"},
                   {"cross_attention", "cross-attention"},
                   {"feed_forward", "feed-forward"}}},
      {.key = "chunks",
       .label = "Chunks",
       .help = "Number of chunks of positions; by default that of the model, or 4 if it has none.",
       .optional = true,
       .unset_label = "automatic",
       .initial = Index{4},
       .limits = {.min = 1},
       .slider = {.min = 1, .max = 16}}};
}

ViewReading block_reading(const ViewSettings& settings, const Trace*) {
  const BlockPicture& picture = selected_picture(settings);
  return {"One part of a transformer block on this text: " + picture.content +
          ". Select another part under Picture."};
}

std::vector<ViewFinding> block_findings() {
  std::vector<ViewFinding> findings;
  for (const char* id : {Findings::block.id, Findings::gradients.id, Findings::inverse.id}) {
    findings.push_back({id, [id](const RunView& viewed) -> std::optional<FindingSettings> {
                          const BlockPicture& picture = selected_picture(viewed.view);
                          if (!picture.finding || picture.finding->id != id) return std::nullopt;
                          return picture.finding->settings(viewed);
                        }});
  }
  return findings;
}

}  // namespace

std::string BlockInput::word() const {
  return "“" + tokens[static_cast<std::size_t>(token)].label + "”";
}

std::optional<FindingSettings> block_settings(const RunView& viewed) {
  return FindingSettings(BlockSettings{viewed.view.layer, viewed.view.part});
}

std::string block_choice(const BlockInput& in, std::string_view key) {
  return view_values(in.input.session.view, kBlock).choice(std::string(key));
}

std::shared_ptr<const BlockStudy> block_study(const BlockInput& in) {
  return in.input.findings.get(Findings::block);
}

std::string bytes_text(double bytes) {
  if (bytes >= 1e6) return brief(bytes / 1e6, 3) + " MB";
  if (bytes >= 1e3) return brief(bytes / 1e3, 3) + " kB";
  return brief(bytes, 3) + " bytes";
}

Tensor row_of(const Tensor& rows, Index row) {
  return rows.slice(row, 1).reshaped({rows.dim(1)});
}

const std::vector<BlockPicture>& block_pictures() {
  static const std::vector<BlockPicture> list{
      shapes_picture(),   norm_picture(),    stream_picture(), feed_forward_picture(),
      gradient_picture(), inverse_picture(), chunks_picture(), storage_picture()};
  return list;
}

View block_view() {
  return {.id = kBlock,
          .label = "Block",
          .group = "Model",
          .summary =
              "Parts of a transformer block: matrix shapes, norms, residual stream, "
              "feed-forward, gradients, reversible layers, memory of training.",
          .lay_out = lay_out_block,
          .reading = block_reading,
          .data = block_data,
          .findings = block_findings(),
          .options = {.parameters = block_parameters(),
                      .animation = Animation{"token", 0, 64, 12},
                      .restrict_controls = restrict_controls},
          .content = {.objection = block_objection}};
}

}  // namespace attnscope
