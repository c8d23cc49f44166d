package trainer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// parse reads the command line: first to learn where it starts from, a recipe or the settings
// of a file, and then once more to override that.
func parse(args []string) (*options, error) {
	first := defaults()
	if _, err := first.parseFlags(args); err != nil {
		return nil, err
	}
	if first.resume {
		return resumed(first.out, args)
	}
	o, err := first.startingPoint()
	if err != nil {
		return nil, err
	}
	if o.line, err = o.parseFlags(args); err != nil {
		return nil, err
	}
	cli.MatchMetric(&o.Config, o.given...)
	o.bySize = o.Preset == cli.ByData && o.config == ""
	return o, cmp.Or(o.overrideModels(), o.check())
}

// overrideModels gives the models of a file of settings what the command line says.
func (o *options) overrideModels() error {
	if o.Models == nil {
		if o.bySize {
			return nil
		}
		one := []train.Config{o.Config}
		err := o.setKinds(one)
		o.Config = one[0]
		return err
	}
	plan, changes := recipe.Plan{Models: o.Models}.With(o.Config, o.given...)
	for _, change := range changes {
		o.recipe += change + "\n"
	}
	o.Models = plan.Models
	return o.setKinds(o.Models)
}

// parseFlags reads the command line into o. The defaults of the flags are what o was. Whether they make sense
// together is not said before all are known, also from a file: see check.
func (o *options) parseFlags(args []string) (*flag.FlagSet, error) {
	given := o.flags().Set()
	if err := command.Parse(given, o.takeKinds(args)); err != nil {
		return nil, err
	}
	o.given = append(o.given, command.Given(given)...)
	return given, nil
}

// startingPoint is the options that flags override: a recipe, or the settings of a file.
func (o *options) startingPoint() (*options, error) {
	if o.config == "" {
		preset, err := cli.Preset(o.Preset)
		if err != nil {
			return nil, command.Usage(err)
		}
		return &options{settings: settings{Preset: o.Preset, Recipe: o.Preset, Config: preset}}, nil
	}
	if slices.Contains(o.given, "preset") {
		return nil, command.Usage(errors.New("-preset has no meaning with -config"))
	}
	text, err := os.ReadFile(o.config)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	s := plain()
	known := json.NewDecoder(bytes.NewReader(text))
	known.DisallowUnknownFields()
	if err := known.Decode(&s); err != nil {
		return nil, fmt.Errorf("train: %s: %w: want the config.json of a run", o.config, err)
	}
	return &options{settings: s}, s.checkDropped(o.config)
}

// resumed is the options of the run in folder out. Flags given besides must say
// what the run was started with, except how long it goes on and where the files are
// now: their content is compared with what the checkpoint knows of it.
func resumed(out string, args []string) (*options, error) {
	if out == "" {
		return nil, command.Usage(errors.New("-resume needs the folder of the run: -out"))
	}
	s := plain()
	if err := cli.ReadSettings(out, &s); err != nil {
		return nil, err
	}
	if err := s.checkDropped(out); err != nil {
		return nil, err
	}
	o := &options{settings: s}
	given, err := o.parseFlags(args)
	if err != nil {
		return nil, err
	}
	for _, row := range o.flags() {
		now := given.Lookup(row.Name).Value.String()
		for _, c := range s.plan() {
			was := given.Lookup(row.Name).DefValue
			if own := cli.SettingFlags(&c, row.Name); own != nil {
				was = own.Set().Lookup(row.Name).DefValue
			}
			if now != was && !row.Resumable && slices.Contains(o.given, row.Name) {
				return nil, command.Usage(fmt.Errorf("the run in %s was started with -%s %q, not %q: when it goes on, only -epochs, -patience, "+
					"-on-nan and the paths of data may change", out, row.Name, was, now))
			}
		}
	}
	if o.Schedule == "cosine" && o.Epochs != s.Epochs {
		o.recipe = fmt.Sprintf("the learning rate goes on by the cosine schedule of %d epochs; until now it was the schedule of %d\n",
			o.Epochs, s.Epochs)
	}
	return o, cmp.Or(o.overrideModels(), o.check())
}
