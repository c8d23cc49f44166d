package cli

import (
	"encoding/json"
	"io"

	"github.com/plrank/plrank/internal/command"
)

// JSONFlag returns the flag -json of a sub-command that prints a result.
func JSONFlag(p *bool) Flag { return Flag{Name: "json", Value: p, Help: "print one JSON object"} }

// PrintJSON prints a result, indented.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Plot is the value of -plot: a new picture, or none if it is empty.
type Plot string

// Flag returns the flag -plot. It says what the picture shows.
func (p *Plot) Flag(shows string) Flag {
	return Flag{Name: "plot", Value: (*string)(p), Help: "a new `file`.svg, .png or .pdf with " + shows}
}

// Draw calls draw with the path of the picture, if there is one. An error is a warning: the numbers are complete
// without a picture.
func (p Plot) Draw(stderr io.Writer, draw func(path string) error) {
	if p == "" {
		return
	}
	if err := draw(string(p)); err != nil {
		command.Warn(stderr, err.Error())
	}
}
