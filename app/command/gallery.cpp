// attnscope gallery: pictures of every view, variant and encoding, light and dark, with HTML pages.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/error_text.h"
#include "app/command/experiment_options.h"
#include "app/command/gallery_methods.h"
#include "app/command/html_page.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "core/base/file.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/run.h"
#include "core/figure/plain_text.h"
#include "core/view/export/picture.h"

namespace attnscope::command {
namespace {

struct GalleryOptions {
  std::filesystem::path folder;
  std::string model = "default";
  std::string text = "The fisherman mended the net, and then he put the net into the boat.";
  std::string backend = "auto";
  double scale = PictureOptions().scale;
  bool omits_session = false;
  ChoiceOptions choices;
  CompatibleOptions compatible;
};

std::string linked_image(const std::string& file, const std::string& alt) {
  return "<a href=\"" + file + "\"><img src=\"" + file + "\" alt=\"" + markup(alt) + "\"></a>\n";
}

std::string section(const std::string& id, const std::string& heading, const std::string& html) {
  return "<section id=\"" + id + "\">\n<h2>" + markup(heading) + "</h2>\n<p>" + html +
         "</p>\n<div class=\"pair\">\n" + linked_image(id + ".png", heading + ", light theme") +
         linked_image(id + "-dark.png", heading + ", dark theme") + "</div>\n</section>\n";
}

std::string section(const View& view) {
  return section(view.id, view.label,
                 markup(view.summary) + " Also as <a href=\"" + view.id +
                     ".svg\">SVG</a> and <a href=\"" + view.id + ".pdf\">PDF</a>.");
}

// Selects the head whose rows have the highest maximum weights on average.
void select_sharpest_head(const Trace& trace, ViewSettings& settings) {
  double best_sum = 0;
  for (const HeadRef& ref : trace.heads(trace.part(settings.part))) {
    Index group_head = 0;
    const AttentionTap* tap = trace.find(ref, &group_head);
    if (!tap->stores_map()) continue;  // computing all of a huge map is slow
    const Tensor weights = tap->attention(group_head);
    double sum = 0;
    for (Index i = 0; i < weights.dim(0); ++i) {
      const float* row = weights.data() + i * weights.dim(1);
      sum += *std::max_element(row, row + weights.dim(1));
    }
    if (sum <= best_sum) continue;
    best_sum = sum;
    settings.layer = ref.layer;
    settings.head = ref.head;
  }
}

class Gallery {
 public:
  explicit Gallery(const GalleryOptions& options) : options_(options), runner_(backends()) {
    session_.run.text = options.text;
    session_.run.model = options.model;
    session_.run.backend = backend_choice(options.backend);
    session_.run.structure = options.choices.structure({});
    as_trained_ = session_;
    session_.run.causal = options.choices.causal();
    options.compatible.apply(session_, options.choices.requested(), notes_);
  }

  const std::vector<std::string>& notes() const { return notes_; }

  std::string views_page() {
    std::string sections;
    for (const View& view : views()) {
      Session session = session_;
      session.view.id = view.id;
      if (view.content.example) view.content.example(session);
      try {
        draw(view.id, session, {}, {".svg", ".pdf"});
        sections += section(view);
      } catch (const InputError& e) {  // the view has no content for this model
        if (!view.content.objection) throw;
        sections += "<section><h2>" + markup(view.label) +
                    "</h2>\n<p>Not available for this model: " + markup(error_text(e)) +
                    "</p></section>\n";
      }
    }
    return sections;
  }

  // kind: prefix of the file names, "variant" or "position".
  std::string methods_page(const std::vector<MethodPicture>& methods, const std::string& kind) {
    std::string sections, group;
    PictureOptions size;
    size.width = 960;
    size.height = 820;
    for (const MethodPicture& method : methods) {
      if (!method.id.starts_with(kind)) continue;
      if (method.group != group) {
        group = method.group;
        sections += "<h2 class=\"group\">" + markup(group) + "</h2>\n";
      }
      if (!method.refusal.empty()) {
        sections += "<section><h2>" + markup(method.label) +
                    "</h2>\n<p>Not available for this model: " + markup(method.refusal) +
                    "</p></section>\n";
        continue;
      }
      draw(method.id, Session{method.viewed}, size, {});
      sections += section(method.id, method.label,
                          markup(method.summary) + " <cite>" + markup(method.source) + "</cite>");
    }
    return sections;
  }

  std::vector<MethodPicture> methods() const { return method_pictures(as_trained_); }

 private:
  // Draws PNGs in both themes, and further formats if requested.
  void draw(const std::string& id, Session session, PictureOptions picture,
            const std::vector<std::string>& suffixes) {
    picture.scale = options_.scale;
    picture.embeds_session = !options_.omits_session;
    const std::vector<FindingRequest> requests = required_findings(session);
    const ProgressLine line("drawing " + id);
    Traces traces = runner_.observe(session, requests);
    traces.findings.add(compute_background_findings(session, requests, runner_, {}));
    make_folder(options_.folder);  // after the run, so that a failed run leaves no empty folder
    select_sharpest_head(*traces.trace, session.view);
    if (session.b) {
      session.b->view.layer = session.view.layer;
      session.b->view.head = session.view.head;
    }
    const auto write = [&](const std::string& suffix) {
      write_view(options_.folder / (id + suffix), *traces.trace, session, picture, traces.findings);
    };
    write(".png");
    for (const std::string& suffix : suffixes) write(suffix);
    picture.dark = true;
    write("-dark.png");
  }
  const GalleryOptions& options_;
  ExperimentRun runner_;
  Session session_, as_trained_;    // with and without the user's choices
  std::vector<std::string> notes_;  // implied changes
};

void run(const GalleryOptions& options) {
  model_store()->checkpoint(options.model);  // throws before drawing if the model cannot be read
  Gallery gallery(options);
  const std::string views = gallery.views_page();
  const std::string text = "<blockquote><p>" + markup(options.text) + "</p></blockquote>\n";
  const std::vector<MethodPicture> methods = gallery.methods();
  write_html_page(options.folder / "variants.html", "Attention variants",
                  "<p>Mechanism of every attention variant.</p>\n" + text +
                      gallery.methods_page(methods, "variant"));
  write_html_page(options.folder / "encodings.html", "Positional encodings",
                  "<p>Mechanism of every positional encoding.</p>\n" + text +
                      gallery.methods_page(methods, "position"));
  write_html_page(options.folder / "index.html", "Views of attention",
                  "<p>Every view of attnscope, drawn from one run of the model “" +
                      markup(options.model) +
                      "”. Each PNG embeds its session. See also the mechanisms of all <a "
                      "href=\"variants.html\">attention variants</a> and <a "
                      "href=\"encodings.html\">positional encodings</a>.</p>\n" +
                      text + views);
  for (const std::string& note : gallery.notes()) print_note(note);
}

}  // namespace

void add_gallery(Command program) {
  Command command = program.subcommand(
      "gallery", "Draw every view, variant and encoding, light and dark, with HTML pages");
  const auto options = std::make_shared<GalleryOptions>();
  command.add("DIR", options->folder, "Output folder for the pictures and index.html").required();
  command.add("-m,--model", options->model, "Model: bundled name, folder or GGUF file")
      .show_default();
  command.add("-t,--text", options->text, "Input text").show_default();
  options->choices.add_to(command);
  options->compatible.add_to(command);
  command.add("--scale", options->scale, "Pixels per unit of 1/96 inch, for PNG").show_default();
  command.flag("--no-session", options->omits_session,
               "Leave the session (text, paths of the model) out of the pictures");
  command.add("--device,--backend", options->backend, "Device: auto, cpu or gpu").show_default();
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
