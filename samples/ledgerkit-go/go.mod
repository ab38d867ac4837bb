module ledgerkit

go 1.19
