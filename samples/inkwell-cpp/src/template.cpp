#include "inkwell.hpp"

#include <algorithm>
#include <sstream>

namespace inkwell {
namespace {

char upper(char byte) { return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 32) : byte; }
char lower(char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte; }

std::string filtered(std::string value, const std::string& filter) {
    if (filter == "upper") std::transform(value.begin(), value.end(), value.begin(), upper);
    else if (filter == "lower") std::transform(value.begin(), value.end(), value.begin(), lower);
    else if (filter == "trim") value = trim(value);
    else if (filter.rfind("default:", 0) == 0) value = value.empty() ? filter.substr(8) : value;
    else throw Error("unknown filter '" + filter + "': use upper, lower, trim or default:TEXT");
    return value;
}

std::string substitute(const std::string& expression, const Variables& variables, bool strict) {
    std::istringstream parts(expression);
    std::string name, filter;
    std::getline(parts, name, '|');
    name = trim(name);
    auto found = variables.find(name);
    bool has_default = expression.find("default:") != std::string::npos;
    if (found == variables.end() && strict && !has_default) throw Error("variable '" + name + "' is not defined");
    std::string value = found == variables.end() ? "" : found->second;
    while (std::getline(parts, filter, '|')) value = filtered(value, trim(filter));
    return value;
}

struct Branch {
    bool taken, outer;
    int line;
};

}  // namespace

std::string expand(const std::string& text, const Variables& variables, bool strict, const std::string& label) {
    std::string out;
    std::vector<Branch> branches;
    bool visible = true;
    int line = 1;
    std::size_t at = 0;
    auto fail = [&](int where, const std::string& problem) {
        throw Error(label + ":" + std::to_string(where) + ": " + problem);
    };
    while (at < text.size()) {
        bool escaped = text.compare(at, 3, "\\{{") == 0;
        if (escaped || text.compare(at, 2, "{{") != 0) {
            if (text[at] == '\n') line++;
            // Line ends stay even in a branch that is dropped, so that later messages name the right line.
            if (escaped && visible) out += "{{";
            else if (visible || text[at] == '\n') out += text[at];
            at += escaped ? 3 : 1;
            continue;
        }
        auto end = text.find("}}", at);
        if (end == std::string::npos || text.substr(at, end - at).find('\n') != std::string::npos)
            fail(line, "'{{' is never closed");
        std::string tag = trim(text.substr(at + 2, end - at - 2));
        at = end + 2;
        if (tag.rfind("#if ", 0) == 0) {
            auto found = variables.find(trim(tag.substr(4)));
            bool holds = found != variables.end() && !found->second.empty() && found->second != "no";
            branches.push_back({holds, visible, line});
            visible = visible && holds;
        } else if (tag == "else" || tag == "/if") {
            if (branches.empty()) fail(line, "{{" + tag + "}} without {{#if}}");
            visible = branches.back().outer && (tag == "/if" || !branches.back().taken);
            if (tag == "/if") branches.pop_back();
        } else if (visible) {
            try {
                out += substitute(tag, variables, strict);
            } catch (const Error& error) {
                fail(line, error.what());
            }
        }
    }
    if (!branches.empty()) fail(branches.back().line, "{{#if}} is never closed");
    return out;
}

Variables take_front_matter(std::string& text, const std::string& label) {
    Variables variables;
    if (text.rfind("---\n", 0) != 0) return variables;
    std::istringstream lines(text.substr(4));
    std::string line, blank = "\n";
    for (int number = 2; std::getline(lines, line); number++) {
        blank += '\n';
        if (line == "---") {
            text = blank + std::string(std::istreambuf_iterator<char>(lines), {});
            return variables;
        }
        auto colon = line.find(':');
        if (trim(line).empty()) continue;
        if (colon == std::string::npos) throw Error(label + ":" + std::to_string(number) + ": expected KEY: VALUE");
        variables[trim(line.substr(0, colon))] = trim(line.substr(colon + 1));
    }
    throw Error(label + ":1: front matter is never closed");
}

}  // namespace inkwell
