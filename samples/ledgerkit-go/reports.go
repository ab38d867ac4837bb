package main

import (
	"fmt"
	"strconv"
	"strings"
)

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// selected returns the transactions and postings that the filters leave.
func selected(o Options, transactions []Transaction) []Transaction {
	var kept []Transaction
	for _, t := range transactions {
		if !contains(t.Payee, o.Payee) || o.Cleared && !t.Cleared || t.Date < o.From || o.To != "" && t.Date >= o.To {
			continue
		}
		var postings []Posting
		for _, p := range t.Postings {
			if contains(p.Account, o.Account) {
				postings = append(postings, p)
			}
		}
		if t.Postings = postings; len(postings) > 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

func fold(account string, depth int) string {
	parts := strings.Split(account, ":")
	if depth > 0 && depth < len(parts) {
		parts = parts[:depth]
	}
	return strings.Join(parts, ":")
}

func balance(o Options, transactions []Transaction) (Table, error) {
	table := Table{Titles: []string{"account", "amount", "commodity"}}
	balances := map[string]map[string]Amount{}
	totals := map[string]Amount{}
	for _, t := range transactions {
		for _, p := range t.Postings {
			account := fold(p.Account, o.Depth)
			if balances[account] == nil {
				balances[account] = map[string]Amount{}
			}
			balances[account][p.Commodity] += p.Amount
			totals[p.Commodity] += p.Amount
		}
	}
	for _, account := range sortedKeys(balances) {
		for _, commodity := range sortedKeys(balances[account]) {
			if amount := balances[account][commodity]; amount != 0 || o.Empty {
				table.add(account, amount.number(o), commodity)
			}
		}
	}
	if o.Format == "text" {
		for _, commodity := range sortedKeys(totals) {
			table.add("total", totals[commodity].number(o), commodity)
		}
	}
	return table, nil
}

func register(o Options, transactions []Transaction) (Table, error) {
	table := Table{Titles: []string{"date", "payee", "account", "amount", "total", "commodity"}}
	totals := map[string]Amount{}
	for _, t := range transactions {
		for _, p := range t.Postings {
			totals[p.Commodity] += p.Amount
			table.add(t.Date, t.Payee, p.Account, p.Amount.number(o), totals[p.Commodity].number(o), p.Commodity)
		}
	}
	return table, nil
}

func accounts(o Options, transactions []Transaction) (Table, error) {
	table := Table{Titles: []string{"account", "postings", "first", "last"}}
	counts, first, last := map[string]int{}, map[string]string{}, map[string]string{}
	for _, t := range transactions {
		for _, p := range t.Postings {
			account := fold(p.Account, o.Depth)
			if counts[account]++; counts[account] == 1 {
				first[account] = t.Date
			}
			last[account] = t.Date
		}
	}
	for _, account := range sortedKeys(counts) {
		table.add(account, counted(counts[account]), first[account], last[account])
	}
	return table, nil
}

func stats(o Options, transactions []Transaction) (Table, error) {
	table := Table{Titles: []string{"measure", "value"}}
	payees, accounts, commodities := map[string]int{}, map[string]int{}, map[string]int{}
	postings, cleared := 0, 0
	for _, t := range transactions {
		payees[t.Payee]++
		if t.Cleared {
			cleared++
		}
		for _, p := range t.Postings {
			accounts[p.Account]++
			commodities[p.Commodity]++
			postings++
		}
	}
	table.add("transactions", counted(len(transactions)))
	table.add("cleared", counted(cleared))
	table.add("postings", counted(postings))
	table.add("accounts", counted(len(accounts)))
	table.add("payees", counted(len(payees)))
	table.add("commodities", strings.Join(sortedKeys(commodities), " "))
	if len(transactions) > 0 {
		table.add("first date", transactions[0].Date)
		table.add("last date", transactions[len(transactions)-1].Date)
	}
	return table, nil
}

// convert lists postings one a row; as text it prints the journal itself, tidied.
func convert(o Options, transactions []Transaction) (Table, error) {
	table := Table{Titles: []string{"date", "cleared", "payee", "account", "amount", "commodity"}}
	for _, t := range transactions {
		mark, cleared := "", "no"
		if t.Cleared {
			mark, cleared = "* ", "yes"
		}
		table.Text += fmt.Sprintf("%s %s%s\n", t.Date, mark, t.Payee)
		for _, p := range t.Postings {
			table.Text += fmt.Sprintf("    %s  %10s %s\n", pad(p.Account, 32), p.Amount.Format(o.Decimals), p.Commodity)
			table.add(t.Date, cleared, t.Payee, p.Account, p.Amount.number(o), p.Commodity)
		}
		table.Text += "\n"
	}
	return table, nil
}

func showConfig(o Options, _ []Transaction) (Table, error) {
	table := Table{Titles: []string{"key", "value"}}
	if len(o.Paths) > 0 {
		return table, usagef("config takes no files")
	}
	table.add("format", o.Format)
	table.add("decimals", strconv.Itoa(o.Decimals))
	table.add("depth", strconv.Itoa(o.Depth))
	table.add("commodity", o.Commodity)
	return table, nil
}
