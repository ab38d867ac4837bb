#include "inkwell.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace inkwell {
namespace {

struct Problem {
    int line;
    std::string rule, message;
};

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) count++;
    return count;
}

std::string block_text(const Block& block) {
    std::string text = block.text;
    for (const auto& item : block.items) text += " " + item;
    return text;
}

std::vector<Problem> find_problems(const std::vector<Block>& blocks, const std::string& text) {
    std::vector<Problem> problems;
    std::set<std::string> anchors;
    int level = 0, number = 0;
    for (const auto& block : blocks) {
        if (block.kind == Kind::Code && !block.closed) problems.push_back({block.line, "open-fence", "code fence is never closed"});
        if (block.kind != Kind::Code && count_of(block_text(block), "](") && count_of(block_text(block), "]()"))
            problems.push_back({block.line, "empty-link", "link without a target"});
        if (block.kind != Kind::Heading) continue;
        std::string anchor = slug(inline_text(block.text, Style::Text));
        if (block.level > level + 1)
            problems.push_back({block.line, "heading-jump", "heading level goes from " + std::to_string(level) + " to " + std::to_string(block.level)});
        if (!anchors.insert(anchor).second) problems.push_back({block.line, "same-anchor", "anchor '" + anchor + "' is used before"});
        level = block.level;
    }
    for (const auto& line : split_lines(text)) {
        number++;
        if (!line.empty() && (line.back() == ' ' || line.back() == '\t')) problems.push_back({number, "trailing-blank", "blank at the end of the line"});
    }
    std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) { return a.line < b.line; });
    return problems;
}

}  // namespace

std::pair<std::string, bool> check(const std::vector<Block>& blocks, const std::string& text,
                                   const std::string& label, const Options& options) {
    std::ostringstream out;
    auto problems = find_problems(blocks, text);
    if (options.format == "csv") out << "line,rule\n";
    if (options.format == "json") out << '[';
    for (std::size_t i = 0; i < problems.size(); i++) {
        const auto& [line, rule, message] = problems[i];
        if (options.format == "text") out << label << ':' << line << ": " << message << " [" << rule << "]\n";
        else if (options.format == "csv") out << line << ',' << rule << '\n';
        else out << (i ? "," : "") << "\n  {\"line\": " << line << ", \"rule\": \"" << rule << "\", \"message\": " << json_string(message) << '}';
    }
    if (options.format == "json") out << (problems.empty() ? "]\n" : "\n]\n");
    if (options.format == "text" && problems.empty()) out << label << ": ok\n";
    return {out.str(), !problems.empty()};
}

std::string statistics(const std::vector<Block>& blocks, const Options& options) {
    std::size_t headings = 0, paragraphs = 0, items = 0, code = 0, quotes = 0, links = 0, words = 0;
    for (const auto& block : blocks) {
        headings += block.kind == Kind::Heading;
        paragraphs += block.kind == Kind::Paragraph;
        quotes += block.kind == Kind::Quote;
        code += block.kind == Kind::Code;
        items += block.items.size();
        if (block.kind == Kind::Code) continue;
        links += count_of(block_text(block), "](");
        std::istringstream stream(inline_text(block_text(block), Style::Text));
        for (std::string word; stream >> word;) words++;
    }
    const std::pair<const char*, std::size_t> rows[] = {
        {"headings", headings}, {"paragraphs", paragraphs}, {"items", items}, {"code blocks", code},
        {"quotes", quotes},     {"links", links},           {"words", words},
    };
    std::ostringstream out;
    if (options.format == "csv") out << "measure,count\n";
    std::string separator = "{";
    for (const auto& [name, count] : rows) {
        if (options.format == "json") out << separator << '"' << name << "\": " << count;
        else if (options.format == "csv") out << name << ',' << count << '\n';
        else out << name << std::string(13 - std::string(name).size(), ' ') << count << '\n';
        separator = ", ";
    }
    if (options.format == "json") out << "}\n";
    return out.str();
}

}  // namespace inkwell
