// attnscope gallery: pictures of every view, variant and encoding, light and dark, with HTML pages.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/error_text.h"
#include "app/command/experiment_options.h"
#include "app/command/gallery_methods.h"
#include "app/command/html_page.h"
#include "app/command/interrupt.h"
#include "app/command/text_progress.h"
#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/compatible_choice.h"
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
  ChoiceOptions choices;
};

std::string image(const std::string& file, const std::string& alt) {
  return "<a href=\"" + file + "\"><img src=\"" + file + "\" alt=\"" + markup(alt) + "\"></a>\n";
}

// Section with a heading, text and a picture in both themes.
std::string section(const std::string& id, const std::string& heading, const std::string& words) {
  return "<section id=\"" + id + "\">\n<h2>" + markup(heading) + "</h2>\n<p>" + words +
         "</p>\n<div class=\"pair\">\n" + image(id + ".png", heading + ", light theme") +
         image(id + "-dark.png", heading + ", dark theme") + "</div>\n</section>\n";
}

std::string section(const View& view) {
  return section(view.id, view.label,
                 markup(view.summary) + " Also as <a href=\"" + view.id +
                     ".svg\">SVG</a> and <a href=\"" + view.id + ".pdf\">PDF</a>.");
}

// Selects the head with the lowest mean entropy.
void choose_head(const Trace& trace, ViewSettings& settings) {
  double best = 0;
  for (const HeadRef& at : trace.heads(trace.part(settings.part))) {
    Index in_group = 0;
    const AttentionTap* tap = trace.find(at, &in_group);
    if (!tap->is_kept()) continue;  // computing all of a huge map is slow
    const Tensor weights = tap->attention(in_group);
    double sum = 0;
    for (Index i = 0; i < weights.dim(0); ++i) {
      const float* row = weights.data() + i * weights.dim(1);
      sum += *std::max_element(row, row + weights.dim(1));
    }
    if (sum <= best) continue;
    best = sum;
    settings.layer = at.layer;
    settings.head = at.head;
  }
}

class Gallery {
 public:
  explicit Gallery(const GalleryOptions& options) : options_(options), runner_(backends()) {
    session_.run.text = options.text;
    session_.run.model = options.model;
    session_.run.backend = backend_choice(options.backend);
    session_.run.structure = options.choices.structure({});
    session_.run.variant = options.choices.variant();
    session_.run.encoding = options.choices.encoding();
    session_.run.causal = options.choices.causal();
    fill_unset_parameters(session_.run);
  }

  std::string views_page() {
    std::string sections;
    for (const View& view : views()) {
      Session shown = session_;
      shown.view.id = view.id;
      if (view.content.example) view.content.example(shown);
      try {
        draw(view.id, shown, {}, {".svg", ".pdf"});
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

  // kind: "variant" or "position", the prefix of its file names.
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

  std::vector<MethodPicture> methods() const {
    Session plain = session_;
    plain.run.variant.reset();
    plain.run.encoding.reset();
    plain.run.causal.reset();
    return method_pictures(plain);
  }

 private:
  // Draws PNGs in both themes, and further formats if requested.
  void draw(const std::string& id, Session shown, PictureOptions picture,
            const std::vector<std::string>& endings) {
    picture.scale = options_.scale;
    const std::vector<FindingRequest> requests = required_findings(shown);
    const StopScope scope(stop_on_interrupt());
    const ProgressLine line("drawing " + id);
    Traces traces = runner_.observe(shown, requests);
    traces.findings.add(compute_background_findings(shown, requests, runner_, {}));
    make_folder(options_.folder);  // created only once there is something to save
    choose_head(*traces.trace, shown.view);
    if (shown.b) {
      shown.b->view.layer = shown.view.layer;
      shown.b->view.head = shown.view.head;
    }
    const auto write = [&](const std::string& ending) {
      write_view(options_.folder / (id + ending), *traces.trace, shown, picture, traces.findings);
    };
    write(".png");
    for (const std::string& ending : endings) write(ending);
    picture.dark = true;
    write("-dark.png");
  }
  const GalleryOptions& options_;
  ExperimentRun runner_;
  Session session_;
};

void run(const GalleryOptions& options) {
  model_store()->checkpoint(options.model);  // throws before anything is drawn
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
}

}  // namespace

void add_gallery(Command program) {
  Command command = program.subcommand(
      "gallery", "Draw every view, variant and encoding, light and dark, with HTML pages");
  const auto options = std::make_shared<GalleryOptions>();
  command.add("DIR", options->folder, "Output folder for the pictures and index.html").required();
  command.add("-m,--model", options->model, "Model: bundled name or folder").show_default();
  command.add("-t,--text", options->text, "Input text").show_default();
  options->choices.add_to(command);
  command.add("--scale", options->scale, "Pixels per unit of 1/96 inch, for PNG").show_default();
  command.add("--device,--backend", options->backend, "Device: auto, cpu or gpu").show_default();
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
