package tune

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/plrank/plrank/cmd/internal/report"
	"github.com/plrank/plrank/viz"
)

// print prints all trials, the best first, and the command for that.
func (s *search) print(w io.Writer) error {
	best := s.best()
	var command []string // of the best
	if best != nil {
		command = slices.Concat([]string{"plrank", "train"}, s.shared, best.Flags)
		if s.out != "" {
			command = append(command, "-out="+filepath.Join(s.out, "best"))
		}
	}
	if s.asJSON {
		return json.NewEncoder(w).Encode(struct {
			Metric  string   `json:"metric"`
			Trials  []*trial `json:"trials"`  // the best first
			Command []string `json:"command"` // null: no trial is complete
		}{s.common.Metric, s.ranked(), command})
	}
	table := viz.Table{Columns: []string{s.common.Metric, "epoch"}}
	for _, c := range s.grid {
		table.Columns = append(table.Columns, c.flag)
	}
	table.Columns = append(table.Columns, "end", "seconds")
	for _, t := range s.ranked() {
		row := viz.Row{report.Number(t.Value), t.Epoch}
		for _, f := range t.Flags {
			_, value, _ := strings.Cut(f, "=")
			row = append(row, value)
		}
		table.Rows = append(table.Rows, append(row, t.End, fmt.Sprintf("%.1f", t.Seconds)))
	}
	if s.done != nil {
		fmt.Fprint(w, table)
	}
	if best == nil {
		_, err := fmt.Fprintf(w, "%d of %d trials, and none is complete\n", len(s.done), len(s.flags))
		return err
	}
	for i, word := range command {
		command[i] = quoted(word)
	}
	_, err := fmt.Fprintf(w, "\nthe best of %d trials, with its model and the metrics of all splits:\n  %s\n", len(s.done), strings.Join(command, " "))
	return err
}

var plainWord = regexp.MustCompile(`^[\w./=,:+@%-]+$`)

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
