#include "inkwell.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

namespace inkwell {
namespace {

struct CommandSpec {
    const char* name;
    const char* summary;
    const char* example;
};

const CommandSpec commands[] = {
    {"render", "turn a document into HTML or plain text", "inkwell render --to text --width 40 examples/letter.md"},
    {"toc", "print the table of contents", "inkwell toc --depth 2 --number examples/guide.md"},
    {"check", "report problems; exit status 1 when there are any", "inkwell check examples/messy.md"},
    {"stats", "count headings, words, links and other elements", "inkwell stats --format json examples/guide.md"},
    {"config", "print the settings and variables in effect", "inkwell config --config examples/plain.conf"},
};

struct OptionSpec {
    char letter;
    const char* name;
    const char* argument;  // empty: a flag
    const char* commands;  // names, or empty for all
    const char* help;
};

const OptionSpec options_table[] = {
    {'t', "to", "TARGET", "render config", "one of: html, text (default: html)"},
    {'w', "width", "N", "render config", "columns of plain text, 20 to 200 (default: 72)"},
    {'s', "standalone", "", "render", "write a whole HTML page, not a fragment"},
    {'S', "strict", "", "", "an undefined variable is an error, not an empty text"},
    {'d', "depth", "N", "toc config", "leave out headings below level N, 1 to 6 (default: 6)"},
    {'n', "number", "", "toc render", "number the headings"},
    {'f', "format", "FORMAT", "toc check stats config", "one of: text, csv, json (default: text)"},
    {'D', "set", "NAME=VALUE", "", "set a template variable; may be repeated"},
    {'C', "config", "FILE", "", "read settings and variables from FILE; flags win over it"},
    {'o', "output", "FILE", "", "write to FILE instead of standard output"},
    {'h', "help", "", "", "print this help and exit"},
};

bool takes(const OptionSpec& option, const std::string& command) {
    std::istringstream names(option.commands);
    std::istream_iterator<std::string> first(names), last;
    return !*option.commands || std::find(first, last, command) != last;
}

std::string help_overall() {
    std::ostringstream out;
    out << "Usage: inkwell COMMAND [OPTIONS] [FILE...]\n       inkwell help [COMMAND]\n\n"
           "Formats documents written in a small Markdown with template variables. Reads\n"
           "standard input when no FILE is given or FILE is '-'.\n\nCommands:\n";
    for (const auto& command : commands)
        out << "  " << command.name << std::string(9 - std::strlen(command.name), ' ') << command.summary << '\n';
    out << "  help     print help for a command\n\nOptions:\n  -h, --help     print this help and exit\n"
           "  -V, --version  print the version and exit\n\n"
           "Exit status: 0 success, 1 unusable input or problems found, 2 wrong usage.\n"
           "Run 'inkwell help COMMAND' or 'inkwell COMMAND --help' for a command's options.\n";
    return out.str();
}

std::string help_command(const CommandSpec& command) {
    std::ostringstream out;
    out << "Usage: inkwell " << command.name << " [OPTIONS]" << (command.name == std::string("config") ? "" : " [FILE...]")
        << "\n\ninkwell " << command.name << ": " << command.summary << ".\n\nOptions:\n";
    for (const auto& option : options_table) {
        if (!takes(option, command.name)) continue;
        std::string label = std::string("--") + option.name + " " + option.argument;
        label.resize(18, ' ');
        out << "  -" << option.letter << ", " << label << ' ' << option.help << '\n';
    }
    out << "\nExamples:\n  " << command.example << '\n';
    return out.str();
}

const CommandSpec& find_command(const std::string& name) {
    for (const auto& command : commands)
        if (name == command.name) return command;
    throw UsageError("unknown command '" + name + "'");
}

std::string choose(const std::string& key, const std::string& value, const std::vector<std::string>& choices) {
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
    std::string list;
    for (const auto& choice : choices) list += (list.empty() ? "" : ", ") + choice;
    throw Error(key + ": '" + value + "' is not one of: " + list);
}

int number(const std::string& key, const std::string& value, int least, int most) {
    bool digits = !value.empty() && value.size() < 6 && value.find_first_not_of("0123456789") == std::string::npos;
    int result = digits ? std::stoi(value) : -1;
    if (result < least || result > most)
        throw Error(key + ": '" + value + "' is not a number from " + std::to_string(least) + " to " + std::to_string(most));
    return result;
}

void set(Options& options, const std::string& key, const std::string& value) {
    if (key == "to") options.to = choose(key, value, {"html", "text"});
    else if (key == "format") options.format = choose(key, value, {"text", "csv", "json"});
    else if (key == "width") options.width = number(key, value, 20, 200);
    else if (key == "depth") options.depth = number(key, value, 1, 6);
    else if (key == "strict") options.strict = choose(key, value, {"yes", "no"}) == "yes";
    else if (key == "number") options.number = choose(key, value, {"yes", "no"}) == "yes";
    else if (key.rfind("set.", 0) == 0 && key.size() > 4) options.variables[key.substr(4)] = value;
    else throw Error("unknown key '" + key + "'");
}

void load(Options& options, const std::string& path) {
    std::istringstream lines(read_file(path));
    std::string line;
    for (int count = 1; std::getline(lines, line); count++) {
        line = trim(line);
        if (line.empty() || line[0] == '#') continue;
        auto equals = line.find('=');
        try {
            if (equals == std::string::npos) throw Error("expected KEY = VALUE");
            set(options, trim(line.substr(0, equals)), trim(line.substr(equals + 1)));
        } catch (const Error& error) {
            throw Error(path + ":" + std::to_string(count) + ": " + error.what());
        }
    }
}

void apply(Options& options, const std::string& name, const std::string& value) {
    if (name == "standalone") options.standalone = true;
    else if (name == "number" || name == "strict") set(options, name, "yes");
    else if (name == "output") options.output = value;
    else if (name == "set") {
        auto equals = value.find('=');
        if (equals == std::string::npos || equals == 0) throw Error("set: '" + value + "' is not NAME=VALUE");
        options.variables[value.substr(0, equals)] = value.substr(equals + 1);
    } else if (name != "config") set(options, name, value);
}

}  // namespace

std::string trim(const std::string& text) {
    auto first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string read_file(const std::string& path) {
    std::ostringstream content;
    if (path == "-") {
        content << std::cin.rdbuf();
        return content.str();
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file || file.peek() == std::ifstream::traits_type::eof()) {
        if (errno) throw Error(path + ": " + std::strerror(errno));
        return "";
    }
    content << file.rdbuf();
    return content.str();
}

Invocation parse_arguments(const std::vector<std::string>& arguments) {
    if (arguments.empty()) throw UsageError("no command given");
    const std::string& name = arguments[0];
    if (name == "-V" || name == "--version") return {"version", "inkwell " INKWELL_VERSION "\n", {}};
    if (name == "-h" || name == "--help" || (name == "help" && arguments.size() == 1)) return {"help", help_overall(), {}};
    if (name == "help") return {"help", help_command(find_command(arguments[1])), {}};

    const CommandSpec& command = find_command(name);
    Options options;
    std::vector<std::pair<std::string, std::string>> flags;
    for (std::size_t i = 1; i < arguments.size(); i++) {
        const std::string& argument = arguments[i];
        if (argument == "--") {
            options.files.insert(options.files.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
            break;
        }
        if (argument.size() < 2 || argument[0] != '-') {
            options.files.push_back(argument);
            continue;
        }
        bool is_long = argument[1] == '-';
        auto equals = is_long ? argument.find('=') : std::string::npos;
        std::string label = argument.substr(0, equals);
        auto option = std::find_if(std::begin(options_table), std::end(options_table), [&](const OptionSpec& spec) {
            return takes(spec, name) && label == (is_long ? std::string("--") + spec.name : std::string("-") + spec.letter);
        });
        if (option == std::end(options_table)) throw UsageError(name + ": unknown option '" + label + "'");
        if (option->letter == 'h') return {"help", help_command(command), {}};
        std::string value;
        if (equals != std::string::npos) value = argument.substr(equals + 1);
        if (!*option->argument && equals != std::string::npos) throw UsageError(label + " takes no value");
        if (*option->argument && equals == std::string::npos) {
            if (++i == arguments.size()) throw UsageError(label + " needs a value: " + option->argument);
            value = arguments[i];
        }
        flags.emplace_back(option->name, value);
    }
    for (const auto& [flag, value] : flags)  // first, wherever it stands, so that flags win over it
        if (flag == "config") load(options, value);
    for (const auto& [flag, value] : flags) {
        try {
            apply(options, flag, value);
        } catch (const Error& error) {
            throw UsageError(std::string("--") + error.what());
        }
    }
    return {name, "", options};
}

}  // namespace inkwell
