package cache

import "github.com/plrank/plrank/datasets/internal/table"

// Splits are the training, the validation and the test split; nil if there is none.
type Splits [3]*table.Data

// onDisk tells whether features are not in memory.
func (s Splits) onDisk() bool {
	for _, d := range s {
		if d != nil && d.Source != nil {
			return true
		}
	}
	return false
}

// free gives up the features that are not in memory.
func (s Splits) free() {
	for _, d := range s {
		if d != nil {
			d.Free()
		}
	}
}
