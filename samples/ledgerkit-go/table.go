package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Numeral is a number already formatted: aligned to the right in text, bare in JSON.
type Numeral string

func (a Amount) number(o Options) Numeral { return Numeral(a.Format(o.Decimals)) }
func counted(n int) Numeral               { return Numeral(strconv.Itoa(n)) }

// Table is what a command reports. Text, when set, replaces the table in the text format.
type Table struct {
	Titles []string
	Rows   [][]any // string or Numeral
	Text   string
}

func (t *Table) add(cells ...any) { t.Rows = append(t.Rows, cells) }

// pad adds blanks up to a width in characters; a negative width adds them on the left.
func pad(text string, width int) string {
	missing := width
	if width < 0 {
		missing = -width
	}
	if missing -= utf8.RuneCountInString(text); missing <= 0 {
		return text
	}
	if width < 0 {
		return strings.Repeat(" ", missing) + text
	}
	return text + strings.Repeat(" ", missing)
}

func (t *Table) render(format string) string {
	var out strings.Builder
	switch {
	case format == "csv":
		writer := csv.NewWriter(&out)
		_ = writer.Write(t.Titles)
		for _, row := range t.Rows {
			var record []string
			for _, cell := range row {
				record = append(record, fmt.Sprint(cell))
			}
			_ = writer.Write(record)
		}
		writer.Flush()
	case format == "json":
		var objects []string
		for _, row := range t.Rows {
			var pairs []string
			for i, cell := range row {
				value := fmt.Sprint(cell)
				if text, isText := cell.(string); isText {
					value = quote(text)
				}
				pairs = append(pairs, quote(t.Titles[i])+": "+value)
			}
			objects = append(objects, "\n  {"+strings.Join(pairs, ", ")+"}")
		}
		end := ""
		if len(objects) > 0 {
			end = "\n"
		}
		fmt.Fprintf(&out, "[%s%s]\n", strings.Join(objects, ","), end)
	case t.Text != "":
		return t.Text
	case len(t.Rows) > 0:
		t.renderText(&out)
	}
	return out.String()
}

func (t *Table) renderText(out *strings.Builder) {
	widths, titles := make([]int, len(t.Titles)), make([]any, len(t.Titles))
	for i, title := range t.Titles {
		titles[i], widths[i] = title, len(title)
	}
	for _, row := range t.Rows {
		for i, cell := range row {
			if width := utf8.RuneCountInString(fmt.Sprint(cell)); width > widths[i] {
				widths[i] = width
			}
		}
	}
	write := func(cells []any, like []any) {
		line := ""
		for i, cell := range cells {
			width := widths[i]
			if _, isNumeral := like[i].(Numeral); isNumeral {
				width = -width
			}
			line += pad(fmt.Sprint(cell), width) + "  "
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	write(titles, t.Rows[0])
	for _, row := range t.Rows {
		write(row, row)
	}
}

func quote(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text)
	return strings.TrimSuffix(out.String(), "\n")
}
