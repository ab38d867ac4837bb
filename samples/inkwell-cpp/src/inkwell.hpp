// What the parts of inkwell share: text goes through expand (template.cpp), parse (document.cpp) and a renderer.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace inkwell {

/// Input that is not usable: exit status 1.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A wrong command line: exit status 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using Variables = std::map<std::string, std::string>;

struct Options {
    std::string to = "html";
    std::string format = "text";
    int width = 72;
    int depth = 6;
    bool standalone = false;
    bool number = false;
    bool strict = false;
    std::string output;
    Variables variables;
    std::vector<std::string> files;
};

struct Invocation {
    std::string command;  // "help" and "version" carry their text
    std::string text;
    Options options;
};

// options.cpp
Invocation parse_arguments(const std::vector<std::string>& arguments);
std::string read_file(const std::string& path);
std::string trim(const std::string& text);

// template.cpp
/// Replaces {{name}} and {{name|filter}}, and keeps or drops {{#if name}} … {{else}} … {{/if}}. Errors name the line.
std::string expand(const std::string& text, const Variables& variables, bool strict, const std::string& label);
/// Cuts "key: value" lines between two "---" lines off the start of the text; cut lines stay as empty ones.
Variables take_front_matter(std::string& text, const std::string& label);

// document.cpp
enum class Kind { Heading, Paragraph, Bullets, Numbers, Code, Quote, Rule };

struct Block {
    Kind kind;
    int line;
    int level = 0;                   // of a heading
    std::string text;                // of headings, paragraphs, quotes; code verbatim
    std::string language;            // of code
    std::vector<std::string> items;  // of lists
    bool closed = true;              // false: a code fence without an end
};

std::vector<std::string> split_lines(const std::string& text);
std::vector<Block> parse(const std::string& text);
/// A heading's anchor: lower case ASCII letters, digits and other bytes above 127; blanks become hyphens.
std::string slug(const std::string& text);

// render.cpp
enum class Style { Html, Text };
std::string inline_text(const std::string& text, Style style);
std::string escape_html(const std::string& text);
std::string json_string(const std::string& text);
std::string render(const std::vector<Block>& blocks, const Options& options, const std::string& title);
std::string table_of_contents(const std::vector<Block>& blocks, const Options& options);

// check.cpp
/// Returns the report and whether there are problems.
std::pair<std::string, bool> check(const std::vector<Block>& blocks, const std::string& text,
                                   const std::string& label, const Options& options);
std::string statistics(const std::vector<Block>& blocks, const Options& options);

}  // namespace inkwell
