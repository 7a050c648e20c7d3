#include "app/command/html_page.h"

#include "core/base/file.h"
#include "core/figure/plain_text.h"

namespace attnscope::command {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --page: #fbfbfa; --card: #fff; --text: #1b1f24; --faint: #5b636e;
  --line: #dfe2e6; }
@media (prefers-color-scheme: dark) {
  :root { --page: #121418; --card: #181a1f; --text: #e9ecf0; --faint: #a0a8b4; --line: #2c313a; }
}
body { margin: 0 auto; max-width: 1240px; padding: 2.5rem 1.5rem 4rem; background: var(--page);
  color: var(--text); font: 16px/1.55 Inter, "DejaVu Sans", Verdana, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .4rem; }
h2 { font-size: 1.2rem; margin: 0; }
p { margin: .3rem 0 1rem; color: var(--faint); }
blockquote { margin: 1rem 0 2.5rem; padding: .2rem 1rem; border-left: 3px solid var(--line);
  color: var(--faint); }
section { margin: 0 0 2.5rem; }
.claims { list-style: none; padding: 0; }
.claims li { margin: .3rem 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(340px, 1fr)); gap: 1rem; }
img { display: block; width: 100%; height: auto; border: 1px solid var(--line);
  border-radius: 8px; }
.group { margin: 3rem 0 1.5rem; font-size: 1.4rem; }
cite { font-size: .85em; }
a { color: inherit; }
)";

}  // namespace

void write_html_page(const std::filesystem::path& path, const std::string& title,
                     const std::string& body) {
  write_file(path,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
                 markup(title) + " – attnscope</title>\n<style>" + std::string(kStyle) +
                 "</style>\n</head>\n<body>\n<h1>" + markup(title) + "</h1>\n" + body +
                 "</body>\n</html>\n");
}

}  // namespace attnscope::command
