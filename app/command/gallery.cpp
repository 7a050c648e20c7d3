// attnscope gallery: pictures of every view, light and dark, and a page that shows them.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/html_page.h"
#include "app/command/interrupt.h"
#include "core/experiment/company.h"
#include "core/experiment/runner.h"
#include "core/figure/plain_text.h"
#include "core/view/export/picture.h"

namespace attnscope::command {
namespace {

struct GalleryOptions {
  std::filesystem::path folder;
  std::string model = "default";
  std::string text = "The fisherman mended the net, and then he put the net into the boat.";
  std::string backend = "auto";
  ChoiceOptions choices;
};

std::string image(const View& view, const std::string& file, const std::string& theme) {
  return "<a href=\"" + file + "\"><img src=\"" + file + "\" alt=\"" + markup(view.label) +
         " view, " + theme + " theme\"></a>\n";
}

std::string section(const View& view) {
  return "<section id=\"" + view.id + "\">\n<h2>" + markup(view.label) + "</h2>\n<p>" +
         markup(view.summary) + " Also as <a href=\"" + view.id + ".svg\">SVG</a> and <a href=\"" +
         view.id + ".pdf\">PDF</a>.</p>\n<div class=\"pair\">\n" +
         image(view, view.id + ".png", "light") + image(view, view.id + "-dark.png", "dark") +
         "</div>\n</section>\n";
}

// The head whose rows are sharpest in the mean: something to look at.
void choose_head(const Trace& trace, ViewSettings& settings) {
  double best = 0;
  for (const HeadRef& at : trace.heads(trace.part(settings.part))) {
    Index in_group = 0;
    const AttentionTap* tap = trace.find(at, &in_group);
    if (!tap->kept()) continue;  // looking at all of a huge map takes long
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

void run(const GalleryOptions& options) {
  Experiment experiment;
  experiment.text = options.text;
  experiment.model = options.model;
  experiment.backend = backend_choice(options.backend);
  experiment.structure = options.choices.structure({});
  experiment.variant = options.choices.variant();
  experiment.encoding = options.choices.encoding();
  experiment.causal = options.choices.causal();
  complete_choices(experiment);
  ExperimentRun runner(backends());
  std::string sections;
  for (const View& view : views()) {
    Experiment shown = experiment;
    shown.view.id = view.id;
    if (view.example) view.example(shown);
    const Traces traces = runner.observe(shown, findings_read(shown), stop_on_interrupt());
    make_folder(options.folder);  // not before it is known that there is something to put there
    choose_head(*traces.trace, shown.view);
    for (Experiment& other : shown.others) {
      other.view.layer = shown.view.layer;
      other.view.head = shown.view.head;
    }
    PictureOptions picture;
    for (const char* extension : {".png", ".svg", ".pdf"}) {
      write_view(options.folder / (view.id + extension), *traces.trace, shown, picture,
                 traces.findings);
    }
    picture.dark = true;
    write_view(options.folder / (view.id + "-dark.png"), *traces.trace, shown, picture,
               traces.findings);
    sections += section(view);
  }
  write_html_page(options.folder / "index.html", "What a model attends to",
                  "<p>Every view of attnscope, drawn from one run of the model “" +
                      markup(options.model) +
                      "”. Each PNG carries the experiment that made it.</p>\n<blockquote><p>" +
                      markup(options.text) + "</p></blockquote>\n" + sections);
}

}  // namespace

void add_gallery(Command program) {
  Command command =
      program.subcommand("gallery", "Draw every view, light and dark, with a page to look at them");
  const auto options = std::make_shared<GalleryOptions>();
  command.add("DIR", options->folder, "The folder for the pictures and index.html").required();
  command.add("-m,--model", options->model, "A bundled model's name or a folder").show_default();
  command.add("-t,--text", options->text, "The text to run on").show_default();
  options->choices.add_to(command);
  command.add("--backend", options->backend, "auto, cpu or gpu").show_default();
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
