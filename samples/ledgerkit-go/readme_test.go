package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheReadmeShowsWhatTheExamplesPrint(t *testing.T) {
	folder := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(folder, "ledgerkit"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```console\n$ ")[1:]
	if len(blocks) < 6 {
		t.Fatalf("only %d examples", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		line, shown, _ := strings.Cut(block, "\n")
		printed, _ := exec.Command("sh", "-c", "{ "+line+" ; } 2>&1").Output()
		if string(printed) != shown {
			t.Errorf("%s\nprinted:\n%s\nREADME shows:\n%s", line, printed, shown)
		}
	}
}

func TestAnUnbalancedTransactionIsRefusedWithItsLine(t *testing.T) {
	journal := "\n2024-01-05 Grocer\n  Expenses:Food  12.50\n  Assets:Cash  -12.00\n"
	_, err := ParseJournal(strings.NewReader(journal), "j", "EUR")
	if err == nil || err.Error() != "j:2: transaction is off by 0.5000 EUR" {
		t.Fatal(err)
	}
}

func TestAmountsRoundHalfAwayFromZero(t *testing.T) {
	for text, want := range map[string]string{"0.125": "0.13", "-0.125": "-0.13", "-0.001": "0.00", "1,250": "1250.00"} {
		amount, err := ParseAmount(text)
		if err != nil || amount.Format(2) != want {
			t.Errorf("%s: %s %v", text, amount.Format(2), err)
		}
	}
}
