package trainer

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/train"
)

var page = cli.Page{
	Command: "train",
	Usage: []string{
		"[-data FILE|DIR] [-out DIR] [flags]",
		"-data FILE|DIR -folds all|N [-out DIR] [flags]",
		"-resume -out DIR [-epochs N] [-patience N]",
	},
	Text: "Trains a model that scores documents, so that rankings by score, or drawn from the Plackett–Luce policy of the scores, have the " +
		"highest DCG or NDCG. Prints the metrics of all splits.",
	Examples: []string{
		"-data MQ2008/Fold1 -out runs/fold1",
		"-data shop.csv -group-column brand -loss softmax+group-exposure",
	},
	Topics: []string{"files", "faults"},
}

// settings are what a run does, as its config.json keeps it.
type settings struct {
	Preset string `json:"preset"`
	Recipe string `json:"recipe,omitempty"` // what chose the models, in words
	cli.Source
	cli.ClickLogs
	cli.JudgeLabels
	Folds     string `json:"folds,omitempty"`    // "all": a run for each fold of the folder Data; a number: of folds of the file Data
	Baseline  string `json:"baseline,omitempty"` // of older versions; it is left out
	InitModel string `json:"initModel,omitempty"`

	// Of older versions; see checkDropped.
	SharedMembers int    `json:"sharedMembers,omitempty"`
	LatentCross   bool   `json:"latentCross,omitempty"`
	Items         string `json:"items,omitempty"`
	Groups        string `json:"groups,omitempty"`

	train.Config
	Models models `json:"models,omitempty"` // that are trained one after another, and mixed; none: the Config is the only one
}

// checkDropped returns an error if the file that the settings are from asks for what is not there any more.
func (s settings) checkDropped(path string) error {
	if s.SharedMembers > 1 || s.LatentCross {
		return fmt.Errorf("train: %s: shared members and latent cross are not trained from plrank v0.1.0 on: want neither", path)
	}
	return cmp.Or(
		cli.ErrorIf(s.Groups != "", "train: %s: groups are not read from %s any more: want them in files next to the data, each named as its "+
			"file of data plus .groups, and no \"groups\" here", path, s.Groups),
		cli.ErrorIf(s.Items != "", "train: %s: rankings and the items of %s are not joined any more: want a table with a row for each item "+
			"of each ranking (plrank help rankings)", path, s.Items))
}

type models []train.Config

// UnmarshalJSON reads configurations, which may lack newer settings.
func (m *models) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	err := json.Unmarshal(text, &list)
	for _, text := range list {
		c := train.Config{}.Plain()
		err = cmp.Or(err, json.Unmarshal(text, &c))
		*m = append(*m, c)
	}
	return err
}

// plain are settings that a file is read into, which may lack newer ones.
func plain() settings { return settings{Config: train.Config{}.Plain()} }

// plan returns the models that are trained.
func (s settings) plan() []train.Config {
	if s.Models == nil {
		return []train.Config{s.Config}
	}
	return s.Models
}

// options are the command line.
type options struct {
	settings
	asJSON    bool
	out       string
	resume    bool
	config    string // a file with settings
	quiet     bool
	processes mpi.Group     // that mpirun has started; nil: this process alone
	given     []string      // flags, by name, that no recipe changes
	kinds     []kindFlag    // settings of one kind of models
	line      *flag.FlagSet // with the flags that were given; nil: the run goes on
	more      string        // products of vectors that the transforms of the recipe have, too
	chosen    string        // by what products of vectors were chosen; "": they were not
	bySize    bool          // the recipe is still to be chosen, by the size of the data
	recipe    string        // what was chosen, in words, by this run; lines
}

// allFolds is the value of -folds for a folder.
const allFolds = "all"

// defaults is the options without a command line.
func defaults() *options {
	c, _ := cli.Preset(cli.ByData)
	return &options{settings: settings{Preset: cli.ByData, Config: c}}
}

// notes returns where a run says what it does, other than warnings.
func (o *options) notes(stderr io.Writer) io.Writer {
	if o.quiet {
		return io.Discard
	}
	return stderr
}

// flags returns the flags; their defaults are what o holds.
func (o *options) flags() cli.Flags {
	return slices.Concat(o.Source.Flags("; without it, a small synthetic collection"), cli.Flags{
		{Name: "folds", Value: &o.Folds, Help: "train on each fold in turn: `all` of a folder, or N of one file"},
		{Name: "out", Value: &o.out, Resumable: true, Help: "a new `folder` for the files of the run"},
		{Name: "resume", Value: &o.resume, Resumable: true, Help: "go on with the run in -out"},
		{Name: "preset", Value: &o.Preset, Help: "start from this `recipe`: " + strings.Join(cli.Presets(), " or ")},
		{Name: "config", Value: &o.config, Help: "start from this config.json, a `file` of another run"},
		{Name: "init-model", Value: &o.InitModel,
			Help: "a model `file` of the same architecture and transform to begin with, as by -config of its run"},
		{Name: "json", Value: &o.asJSON, Resumable: true, Help: "print JSON: an object for every epoch, then the final metrics"},
		{Name: "quiet", Value: &o.quiet, Resumable: true, Help: "print warnings and the final metrics alone"},
		cli.ThreadsFlag(),
	}, o.CacheFlag(), o.ClickFlags(), o.JudgeFlags(), cli.SettingFlags(&o.Config))
}

// ofOneFile is the number of folds that one file is dealt to; 0: the data are of one
// fold, or have folders for theirs.
func (o *options) ofOneFile() int {
	n, _ := strconv.Atoi(o.Folds) // "" and allFolds are none
	return n
}

// usualShards is -shards where mpirun has started the command.
const usualShards = 8

// join makes these the options of a rank.
func (o *options) join(group mpi.Group) error {
	o.processes = group
	if !o.resume && o.config == "" && !slices.Contains(o.given, "shards") {
		o.Shards = usualShards
	}
	if group.Size() > o.Shards {
		return command.Usage(fmt.Errorf("%d ranks for %d shards: want -shards %d or more, or fewer ranks", group.Size(), o.Shards, group.Size()))
	}
	return nil
}

// check reports settings that make no sense for a training.
func (o *options) check() error {
	err := cmp.Or(o.Source.Check(), o.CheckClicks(), o.checkJudge(), o.checkFolds(), cli.Check(o.Config))
	for _, c := range o.Models {
		err = cmp.Or(err, cli.Check(c))
	}
	return command.Usage(err)
}

// mostFolds is beyond any use, and lists without much memory.
const mostFolds = 10_000

func (o *options) checkFolds() error {
	if o.Folds == "" {
		return nil
	}
	return cmp.Or(
		cli.ErrorIf(o.Folds != allFolds && (o.ofOneFile() < 3 || o.ofOneFile() > mostFolds),
			"-folds %q: want %s, or a number from 3 to %d; -fold takes one of them", o.Folds, allFolds, mostFolds),
		cli.ErrorIf(o.Data == "", "-folds needs -data"),
		cli.ErrorIf(o.Clicks != "", "-folds and -clicks exclude each other: part of a log is held out for validation"),
		cli.ErrorIf(o.Folds == allFolds && o.Fold != 0, "-folds all takes every fold: -fold has no meaning with it"),
		cli.ErrorIf(o.Vali != "" || o.Test != "" || o.Synthetic(),
			"-folds takes the splits of each fold: -vali, -test and synthetic data have no meaning with it"),
	)
}
