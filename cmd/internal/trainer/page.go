package trainer

import "github.com/plrank/plrank/cmd/internal/help"

var page = help.Page{
	Command: "train",
	Usage: []string{
		"[-data FILE|DIR] [-out DIR] [flags]",
		"-data FILE|DIR -folds all|N [-out DIR] [flags]",
		"-resume -out DIR [-epochs N] [-patience N]",
	},
	Text:  "Trains a network that gives every document a score, so that ranking by the scores, or drawing rankings from the Plackett–Luce policy that they define, has the highest DCG or NDCG. Prints the metrics of all splits.",
	Flags: []string{"data", "folds", "out", "resume", "preset", "config", "init-model", "json", "threads", "version"},
	Examples: []string{
		"-data MQ2008/Fold1 -out runs/fold1",
		"-data shop.csv -group-column brand -loss plrank-exact+disparity",
		"-resume -out runs/fold1 -epochs 100",
	},
	Topics: []string{"files", "faults"},
}
