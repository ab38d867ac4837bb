#include "inkwell.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace inkwell {
namespace {

/// Characters, not bytes.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string wrap(const std::string& text, std::size_t width, const std::string& first, const std::string& rest) {
    std::istringstream words(text);
    std::string out, line = first, word;
    bool empty = true;
    while (words >> word) {
        if (!empty && width_of(line) + 1 + width_of(word) > width) {
            out += line + "\n";
            line = rest;
            empty = true;
        }
        line += (empty ? "" : " ") + word;
        empty = false;
    }
    return out + line + "\n";
}

/// "1.2 " for the second heading under the first; counts every heading it is asked about.
class Numbering {
public:
    explicit Numbering(bool enabled) : enabled_(enabled) {}
    std::string next(int level) {
        counts_.resize(static_cast<std::size_t>(level));
        counts_.back()++;
        std::string text;
        for (int count : counts_) text += (text.empty() ? "" : ".") + std::to_string(count);
        return enabled_ ? text + " " : "";
    }

private:
    bool enabled_;
    std::vector<int> counts_;
};

std::string html_list(const Block& block, const std::string& tag) {
    std::string out = "<" + tag + ">\n";
    for (const auto& item : block.items) out += "<li>" + inline_text(item, Style::Html) + "</li>\n";
    return out + "</" + tag + ">\n";
}

std::string html_block(const Block& block, const std::string& number) {
    std::string text = block.kind == Kind::Code ? escape_html(block.text) : inline_text(block.text, Style::Html);
    std::string level = std::to_string(block.level);
    switch (block.kind) {
    case Kind::Heading: return "<h" + level + " id=\"" + slug(inline_text(block.text, Style::Text)) + "\">" + number + text + "</h" + level + ">\n";
    case Kind::Bullets: return html_list(block, "ul");
    case Kind::Numbers: return html_list(block, "ol");
    case Kind::Quote: return "<blockquote><p>" + text + "</p></blockquote>\n";
    case Kind::Rule: return "<hr>\n";
    case Kind::Code: {
        std::string language = block.language.empty() ? "" : " class=\"language-" + escape_html(block.language) + "\"";
        return "<pre><code" + language + ">" + text + "</code></pre>\n";
    }
    case Kind::Paragraph: break;
    }
    return "<p>" + text + "</p>\n";
}

std::string text_block(const Block& block, const std::string& number, std::size_t width) {
    std::string text = inline_text(block.text, Style::Text), out;
    switch (block.kind) {
    case Kind::Heading: return number + text + "\n" + std::string(width_of(number + text), block.level == 1 ? '=' : '-') + "\n";
    case Kind::Quote: return wrap(text, width, "> ", "> ");
    case Kind::Rule: return std::string(width, '-') + "\n";
    case Kind::Bullets:
    case Kind::Numbers:
        for (std::size_t i = 0; i < block.items.size(); i++) {
            std::string marker = block.kind == Kind::Bullets ? "* " : std::to_string(i + 1) + ". ";
            out += wrap(inline_text(block.items[i], Style::Text), width, marker, std::string(marker.size(), ' '));
        }
        return out;
    case Kind::Code:
        for (const auto& line : split_lines(block.text)) out += (line.empty() ? "" : "    ") + line + "\n";
        return out;
    case Kind::Paragraph: break;
    }
    return wrap(text, width, "", "");
}

}  // namespace

std::string escape_html(const std::string& text) {
    std::string out;
    for (char byte : text) {
        if (byte == '<') out += "&lt;";
        else if (byte == '>') out += "&gt;";
        else if (byte == '&') out += "&amp;";
        else if (byte == '"') out += "&quot;";
        else out += byte;
    }
    return out;
}

std::string json_string(const std::string& text) {
    std::string out = "\"";
    for (char byte : text) {
        if (byte == '"' || byte == '\\') out += '\\';
        if (static_cast<unsigned char>(byte) >= 0x20) {
            out += byte;
            continue;
        }
        char code[8];
        std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(byte));
        out += code;
    }
    return out + "\"";
}

std::string inline_text(const std::string& text, Style style) {
    bool html = style == Style::Html;
    auto plain = [&](const std::string& part) { return html ? escape_html(part) : part; };
    static const struct {
        const char *mark, *tag;
    } spans[] = {{"`", "code"}, {"**", "strong"}, {"*", "em"}};
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\\' && at + 1 < text.size() && std::string("\\`*[]{}#>-").find(text[at + 1]) != std::string::npos) {
            out += plain(text.substr(at + 1, 1));
            at += 2;
            continue;
        }
        bool matched = false;
        for (const auto& span : spans) {
            const std::string mark = span.mark;
            if (text.compare(at, mark.size(), mark) != 0) continue;
            auto end = text.find(mark, at + mark.size());
            if (end == std::string::npos || end == at + mark.size()) continue;
            std::string inner = text.substr(at + mark.size(), end - at - mark.size());
            inner = mark == "`" ? plain(inner) : inline_text(inner, style);
            out += html ? "<" + std::string(span.tag) + ">" + inner + "</" + span.tag + ">" : inner;
            at = end + mark.size();
            matched = true;
            break;
        }
        if (matched) continue;
        auto middle = text[at] == '[' ? text.find("](", at) : std::string::npos;
        auto close = middle == std::string::npos ? middle : text.find(')', middle);
        if (close != std::string::npos) {
            std::string label = inline_text(text.substr(at + 1, middle - at - 1), style);
            std::string url = text.substr(middle + 2, close - middle - 2);
            out += html ? "<a href=\"" + escape_html(url) + "\">" + label + "</a>" : label + " (" + url + ")";
            at = close + 1;
        } else {
            out += plain(text.substr(at++, 1));
        }
    }
    return out;
}

std::string render(const std::vector<Block>& blocks, const Options& options, const std::string& title) {
    std::string out;
    Numbering numbering(options.number);
    bool html = options.to == "html";
    for (const auto& block : blocks) {
        std::string number = block.kind == Kind::Heading ? numbering.next(block.level) : "";
        if (!html && !out.empty()) out += "\n";
        out += html ? html_block(block, number) : text_block(block, number, static_cast<std::size_t>(options.width));
    }
    if (!html || !options.standalone) return out;
    return "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>" + escape_html(title) +
           "</title>\n</head>\n<body>\n" + out + "</body>\n</html>\n";
}

std::string table_of_contents(const std::vector<Block>& blocks, const Options& options) {
    std::string out, separator;
    Numbering numbering(options.number);
    if (options.format == "csv") out = "level,anchor,line\n";
    for (const auto& block : blocks) {
        if (block.kind != Kind::Heading || block.level > options.depth) continue;
        std::string text = inline_text(block.text, Style::Text), level = std::to_string(block.level);
        std::string numbered = numbering.next(block.level) + text, line = std::to_string(block.line);
        if (options.format == "text") out += std::string(2 * static_cast<std::size_t>(block.level - 1), ' ') + numbered + "\n";
        else if (options.format == "csv") out += level + "," + slug(text) + "," + line + "\n";
        else {
            out += separator + "\n  {\"level\": " + level + ", \"text\": " + json_string(numbered) + ", \"anchor\": " +
                   json_string(slug(text)) + ", \"line\": " + line + "}";
            separator = ",";
        }
    }
    return options.format == "json" ? "[" + out + (out.empty() ? "]\n" : "\n]\n") : out;
}

}  // namespace inkwell
