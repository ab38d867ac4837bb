#include "inkwell.hpp"

#include <fstream>
#include <iostream>

using namespace inkwell;

namespace {

std::string without_carriage_returns(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); i++)
        if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') out += text[i];
    return out.rfind("\xEF\xBB\xBF", 0) == 0 ? out.substr(3) : out;
}

std::string show_config(const Options& options) {
    std::vector<std::pair<std::string, std::string>> rows = {
        {"to", options.to},
        {"format", options.format},
        {"width", std::to_string(options.width)},
        {"depth", std::to_string(options.depth)},
        {"number", options.number ? "yes" : "no"},
        {"strict", options.strict ? "yes" : "no"},
    };
    for (const auto& [name, value] : options.variables) rows.emplace_back("set." + name, value);
    std::string out = options.format == "csv" ? "key,value\n" : "", separator = "{";
    for (const auto& [key, value] : rows) {
        if (options.format == "json") out += separator + json_string(key) + ": " + json_string(value);
        else out += key + (options.format == "csv" ? "," : " = ") + value + "\n";
        separator = ", ";
    }
    return options.format == "json" ? out + "}\n" : out;
}

/// Runs one command over one file and returns whether it found problems.
bool process(const Invocation& invocation, const std::string& path, std::ostream& out) {
    const Options& options = invocation.options;
    std::string label = path == "-" ? "(stdin)" : path;
    std::string text = without_carriage_returns(read_file(path));
    Variables variables = options.variables;  // these win over the document's own
    variables.merge(take_front_matter(text, label));
    text = expand(text, variables, options.strict, label);
    auto blocks = parse(text);
    if (invocation.command == "check") {
        auto [report, found] = check(blocks, text, label, options);
        out << report;
        return found;
    }
    if (invocation.command == "render") out << render(blocks, options, variables.count("title") ? variables["title"] : label);
    else if (invocation.command == "toc") out << table_of_contents(blocks, options);
    else out << statistics(blocks, options);
    return false;
}

int run(const Invocation& invocation) {
    const Options& options = invocation.options;
    std::ofstream file;
    if (!options.output.empty()) {
        file.open(options.output, std::ios::binary);
        if (!file) throw Error(options.output + ": cannot be written");
    }
    std::ostream& out = options.output.empty() ? std::cout : file;
    bool found = false;
    if (!invocation.text.empty()) {
        out << invocation.text;
    } else if (invocation.command == "config") {
        if (!options.files.empty()) throw UsageError("config takes no files");
        out << show_config(options);
    } else {
        auto files = options.files.empty() ? std::vector<std::string>{"-"} : options.files;
        for (const auto& path : files) found |= process(invocation, path, out);
    }
    if (!out.flush()) throw Error("cannot write output");
    return found ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(parse_arguments({argv + 1, argv + argc}));
    } catch (const UsageError& error) {
        std::cerr << "inkwell: " << error.what() << "\nTry 'inkwell --help'.\n";
        return 2;
    } catch (const Error& error) {
        std::cout.flush();
        std::cerr << "inkwell: " << error.what() << '\n';
        return 1;
    }
}
