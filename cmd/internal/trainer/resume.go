package trainer

import (
	"errors"
	"flag"
	"fmt"

	"github.com/plrank/plrank/cmd/internal/input"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/recipe"
	"github.com/plrank/plrank/internal/rundir"
)

// resumed is the options of the run in folder out. Flags given besides must say
// what the run was started with, but for how long it goes on and where the files are
// now: their content is compared with what the checkpoint knows of it.
func resumed(out string, args []string, given *flag.FlagSet) (*options, error) {
	if out == "" {
		return nil, command.Usage(errors.New("-resume needs the folder of the run: -out"))
	}
	o := &options{cache: input.UserCache, out: out}
	if err := rundir.ReadSettings(out, &o.settings); err != nil {
		return nil, err
	}
	o.Config = o.Config.Plain() // a run of an older version lacks newer settings
	was := (&options{settings: o.settings}).flags()
	if _, err := parseInto(o, args); err != nil {
		return nil, err
	}
	is := o.flags()
	var err error
	given.Visit(func(f *flag.Flag) {
		before, now := was.Lookup(f.Name).Value.String(), is.Lookup(f.Name).Value.String()
		switch f.Name {
		case "out", "resume", "cache", "threads", "json", "data", "vali", "test", "groups", "init-model":
		default:
			if before != now && !recipe.Resumable(f.Name) {
				err = command.Usage(fmt.Errorf("the run in %s was started with -%s %q, not %q: when it goes on, only -epochs, -patience, -on-nan and the paths of data may change", out, f.Name, before, now))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if epochs := was.Lookup("epochs").Value.String(); o.Schedule == "cosine" && epochs != is.Lookup("epochs").Value.String() {
		o.recipe = fmt.Sprintf("the learning rate goes on by the cosine schedule of %d epochs; until now it was that of %s\n", o.Epochs, epochs)
	}
	return o, o.check()
}
