package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Amount is a quantity in ten-thousandths, so that sums are exact.
type Amount int64

const amountScale = 10000

// ParseAmount reads a decimal such as 12, -3.5 or 1,250.00 with at most four decimals.
func ParseAmount(text string) (Amount, error) {
	digits := strings.ReplaceAll(text, ",", "")
	sign := int64(1)
	if strings.HasPrefix(digits, "-") {
		sign, digits = -1, digits[1:]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole == "" || len(fraction) > 4 {
		return 0, fmt.Errorf("amount '%s' is not a number with at most four decimals", text)
	}
	value, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", 4-len(fraction)), 10, 63)
	if err != nil {
		return 0, fmt.Errorf("amount '%s' is not a number with at most four decimals", text)
	}
	if value > math.MaxInt64/1000 {
		return 0, fmt.Errorf("amount '%s' is too large", text)
	}
	return Amount(sign * int64(value)), nil
}

// Format rounds half away from zero to the given number of decimals, 0 to 4.
func (a Amount) Format(decimals int) string {
	step := Amount(1)
	for i := decimals; i < 4; i++ {
		step *= 10
	}
	sign, value := "", a
	if value < 0 {
		sign, value = "-", -value
	}
	value = (value + step/2) / step * step
	if value == 0 {
		sign = ""
	}
	text := fmt.Sprintf("%s%d.%04d", sign, value/amountScale, value%amountScale)
	return strings.TrimSuffix(text[:len(text)-4+decimals], ".")
}
