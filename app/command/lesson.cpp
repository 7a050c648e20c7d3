// attnscope lesson: prints a lesson with its measurements, or exports it as a handout.
#include "core/lesson/lesson.h"

#include <cstdio>
#include <memory>
#include <optional>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/html_page.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/experiment/run.h"
#include "core/figure/plain_text.h"
#include "core/view/export/picture.h"

namespace attnscope::command {
namespace {

struct LessonOptions {
  std::string lesson;
  std::filesystem::path folder;
};

std::string check_mark(const ClaimCheck& result) {
  return result.holds ? "✓" : "✗";
}

void print_step(std::size_t number, const LessonStep& step, const std::vector<ClaimCheck>& checks) {
  print("\n" + std::to_string(number) + ". " + step.title + "\n" + step.text + "\n");
  for (std::size_t i = 0; i < step.claims.size(); ++i) {
    print("  " + check_mark(checks[i]) + " " + step.claims[i].text + "  " +
          to_string(measured_text(step.claims[i], checks[i])) + "\n");
  }
}

std::string handout_section(const LessonStep& step, const std::vector<ClaimCheck>& checks,
                            const std::string& picture) {
  std::string html = "<section>\n<h2>" + markup(step.title) + "</h2>\n<p>" + markup(step.text) +
                     "</p>\n<img src=\"" + picture + "\" alt=\"" + markup(step.title) + "\">\n";
  if (!step.claims.empty()) html += "<ul class=\"claims\">\n";
  for (std::size_t i = 0; i < step.claims.size(); ++i) {
    html += "<li>" + check_mark(checks[i]) + " " + markup(step.claims[i].text) +
            " Measured: " + markup(to_string(measured_text(step.claims[i], checks[i]))) +
            ".</li>\n";
  }
  if (!step.claims.empty()) html += "</ul>\n";
  return html + "</section>\n";
}

void run(const LessonOptions& options) {
  const Lesson lesson = find_lesson(options.lesson);
  print(lesson.title + "\n" + lesson.summary + "\n");
  ExperimentRun runner(backends());
  std::string sections;
  int failures = 0;
  for (std::size_t number = 0; number < lesson.steps.size(); ++number) {
    const LessonStep& step = lesson.steps[number];
    const std::vector<FindingRequest> requests = required_findings(step.session);
    std::optional<ProgressLine> line(runner);
    Traces traces = runner.observe(step.session, requests);
    traces.findings.add(compute_background_findings(step.session, requests, runner,
                                                    [](std::size_t, std::size_t) {}));
    std::vector<ClaimCheck> checks;
    for (const Claim& claim : step.claims) {
      checks.push_back(check(claim, traces));
      if (!checks.back().holds) ++failures;
    }
    line.reset();
    print_step(number + 1, step, checks);
    if (options.folder.empty()) continue;
    make_folder(options.folder);  // after the run, so that a failed run leaves no empty folder
    const std::string picture = "step-" + std::to_string(number + 1) + ".png";
    write_view(options.folder / picture, *traces.trace, step.session, PictureOptions(),
               traces.findings);
    sections += handout_section(step, checks, picture);
  }
  if (!options.folder.empty()) {
    write_html_page(options.folder / "index.html", lesson.title,
                    "<p>" + markup(lesson.summary) + "</p>\n" + sections + "<p>After " +
                        markup(lesson.source) + "</p>\n");
    print("\nHandout: " + (options.folder / "index.html").string() + "\n");
  }
  if (failures > 0) {
    throw WorkError(std::to_string(failures) + (failures == 1 ? " claim does" : " claims do") +
                    " not hold for the measured values");
  }
}

}  // namespace

void add_lesson(Command program) {
  Command command = program.subcommand("lesson", "Print a lesson with measurements of its claims");
  const auto options = std::make_shared<LessonOptions>();
  command.add("LESSON", options->lesson, "Bundled lesson ('attnscope list lessons') or file")
      .required();
  command.add("-o,--output", options->folder,
              "Output folder for a handout: index.html and a picture of each step");
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
