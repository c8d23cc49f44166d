package evaluate

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/cmd/internal/cli"
	fitcmd "github.com/plrank/plrank/cmd/plrank/internal/fit"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/textfile"
	"github.com/plrank/plrank/worth"
)

// evaluateWorths measures how well worths predict observed rankings.
func evaluateWorths(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	model, err := readWorths(o.worths)
	if err != nil {
		return err
	}
	rankings, err := cli.Await(ctx, func() (*worth.Observations, error) {
		return worth.ReadFile(o.Data, worth.ReadOptions{Items: model.Items})
	})
	if err != nil {
		return err
	}
	command.Warn(stderr, rankings.Warnings...)
	measured, err := fitcmd.Evaluate("observed", model, rankings)
	if err != nil {
		return fmt.Errorf("%s, %s: %w (worths have no parameters for ties: use plrank fit -ties -test)", o.worths, o.Data, err)
	}
	if o.asJSON {
		return cli.PrintJSON(stdout, measured)
	}
	fitcmd.Print(stdout, measured)
	return nil
}

// readWorths reads the columns item and log_worth of a table that plrank fit -out has written.
func readWorths(path string) (*worth.Model, error) {
	file, err := textfile.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows := csv.NewReader(file)
	header, err := rows.Read()
	item, logWorth := slices.Index(header, "item"), slices.Index(header, "log_worth")
	if err != nil || item < 0 || logWorth < 0 || slices.Contains(header, "component") {
		return nil, fmt.Errorf("%s:1: the header is %q: want the columns item and log_worth, as plrank fit -out writes them for one model",
			path, header)
	}
	m := &worth.Model{}
	for {
		row, err := rows.Read()
		if err == io.EOF && len(m.Items) == 0 {
			return nil, fmt.Errorf("%s has no items", path)
		} else if err == io.EOF {
			return m, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		theta, err := strconv.ParseFloat(row[logWorth], 64)
		if err != nil || math.IsNaN(theta) || math.IsInf(theta, 0) {
			line, _ := rows.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: log_worth %q of item %q: want a finite number", path, line, row[logWorth], row[item])
		}
		m.Items, m.LogWorths = append(m.Items, row[item]), append(m.LogWorths, theta)
	}
}
