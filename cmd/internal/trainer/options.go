package trainer

import (
	"strconv"

	"github.com/plrank/plrank/cmd/internal/input"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/processes"
	"github.com/plrank/plrank/internal/recipe"
	"github.com/plrank/plrank/internal/source"
	"github.com/plrank/plrank/train"
)

// settings are what a run does, as its config.json keeps it.
type settings struct {
	Preset string `json:"preset"`
	source.Source
	Folds     string `json:"folds,omitempty"`    // "all": a run for each fold of the folder Data; a number: of folds of the file Data
	Baseline  string `json:"baseline,omitempty"` // of older versions; it is left out
	InitModel string `json:"initModel,omitempty"`
	train.Config
}

// options are the command line.
type options struct {
	settings
	cache     input.Cache
	asJSON    bool
	out       string
	resume    bool
	config    string // a file with settings
	threads   command.Threads
	version   bool
	processes processes.Group // that mpirun has started; nil: this process alone
	given     []string        // flags, by name
	bySize    bool            // the recipe is still to be chosen, by the size of the data
	recipe    string          // what was chosen, in words, by this run; lines
}

// allFolds is the value of -folds for a folder.
const allFolds = "all"

// defaults is the options without a command line.
func defaults() *options {
	c, _ := recipe.Preset(recipe.ByData)
	return newOptions(recipe.ByData, c)
}

func newOptions(preset string, c train.Config) *options {
	return &options{settings: settings{Preset: preset, Config: c}, cache: input.UserCache}
}

// ofOneFile is the number of folds that one file is dealt to; 0: the data are of one
// fold, or have folders for theirs.
func (o *options) ofOneFile() int {
	n, _ := strconv.Atoi(o.Folds) // "" and allFolds are none
	return n
}

// first tells whether this process is the one that prints, and writes files.
func (o *options) first() bool { return o.processes == nil || o.processes.Rank() == 0 }
