package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"time"
	"unicode/utf8"
)

// Posting moves an amount of one commodity into an account.
type Posting struct {
	Account   string
	Amount    Amount
	Commodity string
	elided    bool
}

// Transaction is a dated group of postings whose amounts add up to zero in every commodity.
type Transaction struct {
	Date     string
	Cleared  bool
	Payee    string
	Postings []Posting
	line     int
}

// ReadJournals reads files ("-" is standard input) and sorts the transactions by date, keeping the order of equal ones.
func ReadJournals(paths []string, commodity string) ([]Transaction, error) {
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	var all []Transaction
	for _, path := range paths {
		var input io.Reader = os.Stdin
		label := "(stdin)"
		if path != "-" {
			file, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			defer file.Close()
			input, label = file, path
		}
		transactions, err := ParseJournal(input, label, commodity)
		if err != nil {
			return nil, err
		}
		all = append(all, transactions...)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Date < all[j].Date })
	return all, nil
}

// ParseJournal reads one journal; errors start with label and the line number.
func ParseJournal(input io.Reader, label, commodity string) ([]Transaction, error) {
	var transactions []Transaction
	open := false
	number := 0
	finish := func() error {
		if !open {
			return nil
		}
		open = false
		last := &transactions[len(transactions)-1]
		if err := last.balance(); err != nil {
			return fmt.Errorf("%s:%d: %w", label, last.line, err)
		}
		return nil
	}
	scanner := bufio.NewScanner(input)
	for scanner.Scan() {
		number++
		line := strings.TrimSuffix(scanner.Text(), "\r")
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		line, _, _ = strings.Cut(line, ";")
		line = strings.TrimSpace(line)
		var err error
		switch {
		case !utf8.ValidString(line):
			err = fmt.Errorf("not UTF-8")
		case line == "" || !indented && strings.HasPrefix(line, "#"):
			if !indented {
				if err := finish(); err != nil {
					return nil, err
				}
			}
			continue
		case indented && !open:
			err = fmt.Errorf("posting outside a transaction")
		case indented:
			var posting Posting
			posting, err = parsePosting(line, commodity)
			last := &transactions[len(transactions)-1]
			last.Postings = append(last.Postings, posting)
		default:
			if err := finish(); err != nil {
				return nil, err
			}
			var transaction Transaction
			transaction, err = parseHeader(line)
			transaction.line = number
			transactions = append(transactions, transaction)
			open = true
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", label, number, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", label, number+1, err)
	}
	return transactions, finish()
}

func validDate(text string) bool {
	_, err := time.Parse("2006-01-02", text)
	return err == nil
}

func parseHeader(line string) (Transaction, error) {
	date, payee, _ := strings.Cut(line, " ")
	if !validDate(date) {
		return Transaction{}, fmt.Errorf("'%s' is not a date like 2024-01-31", date)
	}
	payee = strings.TrimSpace(payee)
	cleared := strings.HasPrefix(payee, "*")
	payee = strings.TrimSpace(strings.TrimLeft(payee, "*!"))
	if payee == "" {
		return Transaction{}, fmt.Errorf("payee is missing")
	}
	return Transaction{Date: date, Cleared: cleared, Payee: payee}, nil
}

// parsePosting reads "ACCOUNT  AMOUNT [COMMODITY]"; two blanks or a tab end the account, which may hold single blanks.
func parsePosting(line, commodity string) (Posting, error) {
	line = strings.ReplaceAll(line, "\t", "  ")
	account, rest, _ := strings.Cut(line, "  ")
	fields := strings.Fields(rest)
	posting := Posting{Account: account, Commodity: commodity}
	if strings.HasPrefix(account, ":") || strings.HasSuffix(account, ":") || strings.Contains(account, "::") {
		return posting, fmt.Errorf("account '%s' has an empty part", account)
	}
	switch len(fields) {
	case 0:
		posting.elided = true
		return posting, nil
	case 1:
	case 2:
		posting.Commodity = fields[1]
	default:
		return posting, fmt.Errorf("expected ACCOUNT  AMOUNT [COMMODITY]")
	}
	amount, err := ParseAmount(fields[0])
	posting.Amount = amount
	return posting, err
}

// balance fills in the one posting that may leave out its amount, and refuses what does not add up.
func (t *Transaction) balance() error {
	if len(t.Postings) < 2 {
		return fmt.Errorf("transaction needs at least two postings")
	}
	totals := map[string]Amount{}
	elided := -1
	for i, posting := range t.Postings {
		if !posting.elided {
			totals[posting.Commodity] += posting.Amount
		} else if elided >= 0 {
			return fmt.Errorf("more than one posting without an amount")
		} else {
			elided = i
		}
	}
	for _, commodity := range sortedKeys(totals) {
		total := totals[commodity]
		if total == 0 {
			continue
		}
		if elided < 0 {
			return fmt.Errorf("transaction is off by %s %s", total.Format(4), commodity)
		}
		filled := Posting{Account: t.Postings[elided].Account, Amount: -total, Commodity: commodity}
		t.Postings = append(t.Postings, filled)
	}
	if elided >= 0 {
		t.Postings = append(t.Postings[:elided], t.Postings[elided+1:]...)
	}
	return nil
}

func sortedKeys[V any](values map[string]V) []string {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
