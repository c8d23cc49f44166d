package reading

import "github.com/plrank/plrank/datasets/internal/table"

// Options say how to read a file.
type Options struct {
	table.Options
	Formats []table.Format // are asked in turn
}
