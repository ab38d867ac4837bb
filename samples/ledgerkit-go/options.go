package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Options is what flags and the config file decide.
type Options struct {
	Format, Commodity string
	Decimals, Depth   int
	Account, Payee    string
	From, To          string
	Cleared, Empty    bool
	Paths             []string
}

type command struct {
	name, summary, example string
	run                    func(Options, []Transaction) (Table, error)
}

// optionSpec describes an option once for the parser and the help text. It is taken by the commands it lists, or by all.
type optionSpec struct {
	letter, name, argument, commands, help string
}

var optionSpecs = []optionSpec{
	{"a", "account", "TEXT", "balance register accounts stats convert", "only postings to accounts that contain TEXT, in any case"},
	{"y", "payee", "TEXT", "balance register accounts stats convert", "only transactions whose payee contains TEXT, in any case"},
	{"b", "from", "DATE", "balance register accounts stats convert", "only transactions on or after DATE, such as 2024-01-31"},
	{"e", "to", "DATE", "balance register accounts stats convert", "only transactions before DATE"},
	{"c", "cleared", "", "balance register accounts stats convert", "only transactions marked with '*'"},
	{"n", "depth", "N", "balance accounts config", "fold accounts deeper than N parts into their parents (default: 0, all)"},
	{"z", "empty", "", "balance", "show accounts whose balance is zero too"},
	{"f", "format", "FORMAT", "", "one of: text, csv, json (default: text)"},
	{"d", "decimals", "N", "", "decimals of amounts, 0 to 4 (default: 2)"},
	{"m", "commodity", "NAME", "", "commodity of amounts written without one (default: EUR)"},
	{"C", "config", "FILE", "", "read settings from FILE; flags win over it"},
	{"h", "help", "", "", "print this help and exit"},
}

func (o optionSpec) takenBy(name string) bool {
	return o.commands == "" || strings.Contains(" "+o.commands+" ", " "+name+" ")
}

// A usageError leads to exit status 2.
type usageError string

func (e usageError) Error() string { return string(e) }

func usagef(format string, arguments ...any) error {
	return usageError(fmt.Sprintf(format, arguments...))
}

func helpOverall() string {
	var text strings.Builder
	text.WriteString(`Usage: ledgerkit COMMAND [OPTIONS] [FILE...]
       ledgerkit help [COMMAND]

Reports on plain-text double-entry journals. Reads standard input when no FILE is
given or FILE is '-'. Several files are read as one journal.

Commands:
`)
	for _, c := range commands {
		fmt.Fprintf(&text, "  %-9s %s\n", c.name, c.summary)
	}
	text.WriteString(`  help      print help for a command

Options:
  -h, --help     print this help and exit
  -V, --version  print the version and exit

Exit status: 0 success, 1 a file or its content is not usable, 2 wrong usage.
Run 'ledgerkit help COMMAND' or 'ledgerkit COMMAND --help' for a command's options.
`)
	return text.String()
}

func helpCommand(c command) string {
	var text strings.Builder
	files := " [FILE...]"
	if c.name == "config" {
		files = ""
	}
	fmt.Fprintf(&text, "Usage: ledgerkit %s [OPTIONS]%s\n\nledgerkit %s: %s.\n\nOptions:\n", c.name, files, c.name, c.summary)
	for _, o := range optionSpecs {
		if o.takenBy(c.name) {
			fmt.Fprintf(&text, "  -%s, %-17s %s\n", o.letter, "--"+o.name+" "+o.argument, o.help)
		}
	}
	fmt.Fprintf(&text, "\nExamples:\n  %s\n", c.example)
	return text.String()
}

func number(key, value string, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%s: '%s' is not a number from 0 to %d", key, value, most)
	}
	return n, nil
}

// set changes a setting that the config file can hold too.
func (o *Options) set(key, value string) (err error) {
	switch key {
	case "format":
		if value != "text" && value != "csv" && value != "json" {
			return fmt.Errorf("format: '%s' is not one of: text, csv, json", value)
		}
		o.Format = value
	case "decimals":
		o.Decimals, err = number(key, value, 4)
	case "depth":
		o.Depth, err = number(key, value, 99)
	case "commodity":
		if value == "" || strings.ContainsAny(value, " ;\t") {
			return fmt.Errorf("commodity: '%s' is not a name without blanks", value)
		}
		o.Commodity = value
	default:
		err = fmt.Errorf("unknown key '%s'", key)
	}
	return err
}

func (o *Options) load(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for index, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, found := strings.Cut(line, "=")
		err := fmt.Errorf("expected KEY = VALUE")
		if found {
			err = o.set(strings.TrimSpace(key), strings.TrimSpace(value))
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, index+1, err)
		}
	}
	return nil
}

func (o *Options) apply(name, value string) error {
	switch name {
	case "account":
		o.Account = value
	case "payee":
		o.Payee = value
	case "from", "to":
		if !validDate(value) {
			return fmt.Errorf("%s: '%s' is not a date like 2024-01-31", name, value)
		}
		if name == "from" {
			o.From = value
		} else {
			o.To = value
		}
	case "cleared":
		o.Cleared = true
	case "empty":
		o.Empty = true
	case "config":
	default:
		return o.set(name, value)
	}
	return nil
}

type flagValue struct{ name, value string }

// parseOptions returns the options, or helpWanted. The config file is applied first wherever it stands.
func parseOptions(c command, arguments []string) (options Options, helpWanted bool, err error) {
	options = Options{Format: "text", Decimals: 2, Commodity: "EUR"}
	var flags []flagValue
	for i := 0; i < len(arguments); i++ {
		argument := arguments[i]
		if argument == "--" {
			options.Paths = append(options.Paths, arguments[i+1:]...)
			break
		}
		if argument == "-" || !strings.HasPrefix(argument, "-") {
			options.Paths = append(options.Paths, argument)
			continue
		}
		label, value, hasValue := argument, "", false
		if strings.HasPrefix(argument, "--") {
			label, value, hasValue = strings.Cut(argument, "=")
		}
		found := optionSpec{}
		for _, o := range optionSpecs {
			if o.takenBy(c.name) && (label == "-"+o.letter || label == "--"+o.name) {
				found = o
			}
		}
		switch {
		case found.name == "":
			return options, false, usagef("%s: unknown option '%s'", c.name, label)
		case found.name == "help":
			return options, true, nil
		case found.argument == "" && hasValue:
			return options, false, usagef("--%s takes no value", found.name)
		case found.argument != "" && !hasValue:
			if i++; i == len(arguments) {
				return options, false, usagef("--%s needs a value: %s", found.name, found.argument)
			}
			value = arguments[i]
		}
		flags = append(flags, flagValue{found.name, value})
	}
	for _, flag := range flags {
		if flag.name == "config" {
			if err := options.load(flag.value); err != nil {
				return options, false, err
			}
		}
	}
	for _, flag := range flags {
		if err := options.apply(flag.name, flag.value); err != nil {
			return options, false, usagef("--%s", err)
		}
	}
	return options, false, nil
}
