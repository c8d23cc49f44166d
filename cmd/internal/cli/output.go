package cli

import (
	"encoding/json"
	"flag"
	"io"

	"github.com/plrank/plrank/internal/command"
)

// DefineJSON defines the flag -json of a command that prints a result.
func DefineJSON(f *flag.FlagSet, p *bool) { f.BoolVar(p, "json", false, "print one JSON object") }

// PrintJSON prints a result, indented.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Plot is the value of -plot: a new picture, or none if it is empty.
type Plot string

// Define defines the flag -plot. Of says what the picture shows.
func (p *Plot) Define(f *flag.FlagSet, of string) {
	f.StringVar((*string)(p), "plot", "", "a new `file`.svg, .png or .pdf with "+of)
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
