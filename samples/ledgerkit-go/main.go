// Command ledgerkit reports on plain-text double-entry journals.
package main

import (
	"errors"
	"fmt"
	"os"
)

const version = "0.9.2"

var commands []command

func init() {
	commands = []command{
		{"balance", "print the balance of every account", "ledgerkit balance --depth 2 examples/household.journal", balance},
		{"register", "list postings with a running total", "ledgerkit register --account food examples/household.journal", register},
		{"accounts", "list accounts with their number of postings and dates", "ledgerkit accounts --from 2024-02-01 examples/household.journal", accounts},
		{"stats", "count transactions, postings, accounts and payees", "ledgerkit stats examples/household.journal", stats},
		{"convert", "print the journal tidied, or its postings as CSV or JSON", "ledgerkit convert --format csv examples/trip.journal", convert},
		{"config", "print the settings in effect", "ledgerkit config --config examples/ledgerkit.conf", showConfig},
	}
}

func findCommand(name string) (command, error) {
	for _, c := range commands {
		if c.name == name {
			return c, nil
		}
	}
	return command{}, usagef("unknown command '%s'", name)
}

// run returns what to print on standard output.
func run(arguments []string) (string, error) {
	if len(arguments) == 0 {
		return "", usagef("no command given")
	}
	name, rest := arguments[0], arguments[1:]
	switch name {
	case "-V", "--version":
		return "ledgerkit " + version + "\n", nil
	case "-h", "--help":
		return helpOverall(), nil
	case "help":
		if len(rest) == 0 {
			return helpOverall(), nil
		}
		name, rest = rest[0], []string{"--help"}
	}
	c, err := findCommand(name)
	if err != nil {
		return "", err
	}
	options, helpWanted, err := parseOptions(c, rest)
	if err != nil {
		return "", err
	}
	if helpWanted {
		return helpCommand(c), nil
	}
	var transactions []Transaction
	if c.name != "config" {
		if transactions, err = ReadJournals(options.Paths, options.Commodity); err != nil {
			return "", err
		}
	}
	table, err := c.run(options, selected(options, transactions))
	return table.render(options.Format), err
}

func main() {
	text, err := run(os.Args[1:])
	var usage usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "ledgerkit: %s\nTry 'ledgerkit --help'.\n", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "ledgerkit: %s\n", err)
		os.Exit(1)
	}
	if _, err := os.Stdout.WriteString(text); err != nil {
		fmt.Fprintf(os.Stderr, "ledgerkit: cannot write output: %s\n", err)
		os.Exit(1)
	}
}
