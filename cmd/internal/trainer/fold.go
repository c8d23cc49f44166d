package trainer

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/plrank/plrank/internal/rundir"
)

// ofFold is the options of the run on one fold.
func ofFold(o *options, fold int) *options {
	one := *o
	one.Fold = fold
	if o.Folds == allFolds {
		one.Folds = ""
	}
	if o.out != "" {
		one.out = filepath.Join(o.out, fmt.Sprintf("fold%d", fold))
		_, err := os.Stat(filepath.Join(one.out, rundir.SettingsFile))
		one.resume = o.resume && err == nil // else it had not begun
	}
	return &one
}
