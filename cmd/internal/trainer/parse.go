package trainer

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/plrank/plrank/cmd/internal/input"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/recipe"
)

// parse reads the command line.
func parse(args []string) (*options, error) {
	first := defaults()
	flags, err := parseInto(first, args)
	if err != nil {
		return nil, err
	}
	switch {
	case first.version:
		return first, nil
	case first.resume:
		return resumed(first.out, args, flags)
	}
	o, err := startingPoint(first, flags)
	if err != nil {
		return nil, err
	}
	if flags, err = parseInto(o, args); err != nil {
		return nil, err
	}
	flags.Visit(func(f *flag.Flag) { o.given = append(o.given, f.Name) })
	recipe.MatchMetric(&o.Config, o.given...)
	o.bySize = o.Preset == recipe.ByData && o.config == ""
	return o, o.check()
}

// startingPoint is the options that flags override: a recipe, or the settings of a file.
func startingPoint(first *options, given *flag.FlagSet) (*options, error) {
	if first.config == "" {
		preset, err := recipe.Preset(first.Preset)
		if err != nil {
			return nil, command.Usage(err)
		}
		return newOptions(first.Preset, preset), nil
	}
	if command.IsGiven(given, "preset") {
		return nil, command.Usage(errors.New("-preset has no meaning beside -config"))
	}
	text, err := os.ReadFile(first.config)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	o := &options{cache: input.UserCache}
	known := json.NewDecoder(bytes.NewReader(text))
	known.DisallowUnknownFields()
	if err := known.Decode(&o.settings); err != nil {
		return nil, fmt.Errorf("train: %s: %w", first.config, err)
	}
	o.Config = o.Config.Plain() // a run of an older version lacks newer settings
	return o, nil
}
