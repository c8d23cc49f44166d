package main

import (
	"fmt"

	"github.com/plrank/plrank/internal/command"
)

// publish makes the plots of an experiment and the report of all from the CSV files
// in the folder, and prints the tables.
func (s *session) publish(c chapter) error {
	from := s.provenance()
	if err := writeJSON(s.file(c.name+provenanceEnding), from); err != nil {
		return err
	}
	figures, err := c.plots(s.out)
	if err != nil {
		return err
	}
	for _, f := range figures {
		for _, ending := range []string{".svg", ".png"} {
			if err := f.Save(s.file(f.name + ending)); err != nil {
				fmt.Fprintln(s.stderr, "warning:", err) // the tables are there without a picture
			}
		}
	}
	report, err := report(s.out, s.chapters)
	if err != nil {
		return err
	}
	if err := writeText(s.file(reportFile), report); err != nil {
		return err
	}
	tables, err := c.tables(s.out)
	if err != nil {
		return err
	}
	for _, t := range tables {
		fmt.Fprintf(s.stdout, "%v\n", t)
	}
	for _, l := range from.LeftOut {
		fmt.Fprintln(s.stdout, "left out:", l)
	}
	fmt.Fprintf(s.stderr, "written to %s\n", s.out)
	return nil
}
func (s *session) provenance() provenance {
	return provenance{
		Command:  "go run ./reproduce " + command.Line(s.args),
		Data:     s.data.ID,
		Settings: s.settings,
		Machine:  thisMachine(),
		LeftOut:  s.leftOut,
	}
}
