// One file without scripts or external resources can be mailed, archived and opened without a network. All text is
// escaped: names, messages and commands come from users and their programs.

#include "src/cli/plot/report.h"

#include <cctype>
#include <string_view>

#include "fmt/format.h"
#include "src/cli/plot/svg_renderer.h"

namespace vernier::plot {
namespace {

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;margin:0;color:#222;background:#fff}
main{max-width:920px;margin:0 auto;padding:24px 20px 48px}
h1{font-size:26px;line-height:1.2;margin:8px 0 4px;overflow-wrap:anywhere}
h2{font-size:19px;margin:36px 0 10px;padding-bottom:4px;border-bottom:1px solid #e4e4e4}
p{margin:6px 0}
.lead,footer{color:#6b6b6b}
nav{margin:14px 0;font-size:14px}
nav a{margin-right:14px;white-space:nowrap}
a{color:#0072b2}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 18px;margin:8px 0}
dt{color:#6b6b6b}
dd{margin:0;overflow-wrap:anywhere}
figure{margin:14px 0 22px}
figure svg{max-width:100%;height:auto;display:block}
.wide{overflow-x:auto;max-height:640px;overflow-y:auto;border:1px solid #e4e4e4;border-radius:4px}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:3px 10px;text-align:left;vertical-align:top;border-bottom:1px solid #eee}
th{position:sticky;top:0;background:#f6f6f6;white-space:nowrap}
td{max-width:420px;overflow-wrap:break-word}
.n{text-align:right;white-space:nowrap}
.best td{font-weight:600;background:#eaf4fb}
pre{font:13px/1.45 ui-monospace,'DejaVu Sans Mono',monospace;background:#f6f6f6;border-radius:4px;padding:12px 14px;overflow-x:auto;white-space:pre}
summary{cursor:pointer;color:#0072b2}
footer{margin-top:40px;font-size:13px}
@media screen and (prefers-color-scheme:dark){
body{color:#e8e8e8;background:#16191d}
h2{border-color:#33383e}
.lead,footer,dt{color:#9aa0a6}
a,summary{color:#7cc8f2}
.wide{border-color:#33383e}
th{background:#22262b}
th,td{border-color:#2a2f35}
.best td{background:#17303f}
pre{background:#1e2227}
}
@media print{
main{max-width:none;padding:0}
nav{display:none}
h2{break-after:avoid}
figure,dl{break-inside:avoid}
.wide{max-height:none;overflow:visible;border:0}
th{position:static}
table{font-size:9px}
th,td{padding:1px 4px}
pre{white-space:pre-wrap;font-size:10px}

}
)";

// The anchor of a section: lower case letters and digits, other characters as dashes.
std::string AnchorOf(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    anchor += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '-';
  }
  return anchor;
}

std::string Facts(const ReportSection& section) {
  if (section.facts.empty()) return "";
  std::string html = "<dl>\n";
  for (const auto& [name, value] : section.facts) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", EscapeXml(name), EscapeXml(value));
  }
  return html + "</dl>\n";
}

std::string Table(const ReportTable& table) {
  if (table.rows.empty()) return "";
  // With a tabindex, the keyboard can scroll the table.
  std::string html = "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>";
  for (const ReportTable::Column& column : table.columns) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>",
                        column.is_number ? " class=\"n\"" : "",
                        EscapeXml(column.name));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const ReportTable::Row& row : table.rows) {
    html += row.is_best ? "<tr class=\"best\">" : "<tr>";
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      html += fmt::format("<td{}>{}</td>",
                          table.columns[i].is_number ? " class=\"n\"" : "",
                          EscapeXml(row.cells[i]));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string Section(const ReportSection& section) {
  std::string html = fmt::format(
      "<section id=\"{}\">\n<h2>{}</h2>\n", AnchorOf(section.heading), EscapeXml(section.heading));
  if (!section.text.empty()) html += fmt::format("<p>{}</p>\n", EscapeXml(section.text));
  html += Facts(section);
  for (const Figure& figure : section.figures) {
    html += fmt::format("<figure>{}</figure>\n",
                        // 880 is the width of <main> without its padding; the page has the styles.
                        RenderSvg(figure, {.width = 880, .standalone = false}));
  }
  html += Table(section.table);
  if (!section.code.empty()) {
    html += fmt::format("<details open=\"\"><summary>Show</summary><pre>{}</pre></details>\n",
                        EscapeXml(section.code));
  }
  return html + "</section>\n";
}

}  // namespace

std::string RenderHtml(const Report& report) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n"
      "<p class=\"lead\">{}</p>\n<nav>",
      EscapeXml(report.title),
      kStyle,
      SvgStyle(),
      EscapeXml(report.title),
      EscapeXml(report.subtitle));
  for (const ReportSection& section : report.sections) {
    html += fmt::format(
        "<a href=\"#{}\">{}</a> ", AnchorOf(section.heading), EscapeXml(section.heading));
  }
  html += "</nav>\n";
  for (const ReportSection& section : report.sections) html += Section(section);
  return html +
         fmt::format("<footer>{}</footer>\n</main>\n</body>\n</html>\n", EscapeXml(report.footer));
}

}  // namespace vernier::plot
