#include "inkwell.hpp"

#include <cctype>

namespace inkwell {
namespace {

/// The text after a list marker, or an empty string when the line starts no item.
std::string item_text(const std::string& line, Kind& kind) {
    if (line.size() > 2 && (line[0] == '-' || line[0] == '*' || line[0] == '+') && line[1] == ' ') {
        kind = Kind::Bullets;
        return trim(line.substr(2));
    }
    auto digits = line.find_first_not_of("0123456789");
    if (digits != 0 && digits != std::string::npos && line.compare(digits, 2, ". ") == 0) {
        kind = Kind::Numbers;
        return trim(line.substr(digits + 2));
    }
    return "";
}

int heading_level(const std::string& line) {
    auto level = line.find_first_not_of('#');
    return level != std::string::npos && level >= 1 && level <= 6 && line[level] == ' ' ? static_cast<int>(level) : 0;
}

}  // namespace

std::vector<std::string> split_lines(const std::string& text) {
    std::vector<std::string> lines(1);
    for (char byte : text) {
        if (byte == '\n') lines.emplace_back();
        else lines.back() += byte;
    }
    if (lines.back().empty()) lines.pop_back();
    return lines;
}

std::vector<Block> parse(const std::string& text) {
    std::vector<Block> blocks;
    bool open = false;  // whether the next line may continue the last block
    int number = 0;
    for (const auto& raw : split_lines(text)) {
        number++;
        bool in_code = !blocks.empty() && !blocks.back().closed;
        if (in_code) {
            if (trim(raw) == "```") blocks.back().closed = true;
            else blocks.back().text += raw + "\n";
            continue;
        }
        std::string line = trim(raw);
        Kind kind = Kind::Paragraph, last = open ? blocks.back().kind : Kind::Rule;
        if (line.empty()) {
            open = false;
        } else if (line.rfind("```", 0) == 0) {
            blocks.push_back({Kind::Code, number, 0, "", trim(line.substr(3)), {}, false});
            open = false;
        } else if (int level = heading_level(line)) {
            blocks.push_back({Kind::Heading, number, level, trim(line.substr(static_cast<std::size_t>(level))), "", {}});
            open = false;
        } else if (line.size() >= 3 && line.find_first_not_of(line[0]) == std::string::npos && (line[0] == '-' || line[0] == '*')) {
            blocks.push_back({Kind::Rule, number, 0, "", "", {}});
            open = false;
        } else if (std::string item = item_text(line, kind); !item.empty()) {
            if (last != kind) blocks.push_back({kind, number, 0, "", "", {}});
            blocks.back().items.push_back(item);
            open = true;
        } else if (line[0] == '>') {
            std::string quoted = trim(line.substr(1));
            if (last == Kind::Quote) blocks.back().text += " " + quoted;
            else blocks.push_back({Kind::Quote, number, 0, quoted, "", {}});
            open = true;
        } else if (last == Kind::Bullets || last == Kind::Numbers) {
            blocks.back().items.back() += " " + line;
        } else if (last == Kind::Paragraph || last == Kind::Quote) {
            blocks.back().text += " " + line;
        } else {
            blocks.push_back({Kind::Paragraph, number, 0, line, "", {}});
            open = true;
        }
    }
    return blocks;
}

std::string slug(const std::string& text) {
    std::string out;
    for (char byte : text) {
        auto code = static_cast<unsigned char>(byte);
        if (code >= 0x80 || std::isalnum(code)) out += static_cast<char>(code < 0x80 ? std::tolower(code) : code);
        else if ((byte == ' ' || byte == '-') && !out.empty() && out.back() != '-') out += '-';
    }
    return out;
}

}  // namespace inkwell
