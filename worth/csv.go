package worth

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A csvRanking collects the rows of a ranking.
type csvRanking struct {
	line   int // of its first row
	weight string
	places map[float64][]int // by rank
	rest   []int
}

// csv reads rows of ranking, item, rank and perhaps weight.
func (in *reader) csv(r io.Reader) error {
	rows := csv.NewReader(r)
	rows.TrimLeadingSpace = true // before quotes
	header, err := readRow(rows)
	if err == io.EOF {
		return fmt.Errorf("%s has no header", in.file)
	} else if err != nil {
		return fmt.Errorf("%s: %w", in.file, err)
	}
	column := func(name string) int { return slices.Index(header, name) }
	ranking, item, rank, weight := column("ranking"), column("item"), column("rank"), column("weight")
	if ranking < 0 || item < 0 || rank < 0 {
		in.line = 1
		return in.locate(fmt.Errorf("the header is %q: want the columns ranking, item and rank, and perhaps weight", header))
	}
	for _, at := range []int{ranking, item, rank, weight} {
		if at >= 0 && slices.Contains(header[at+1:], header[at]) {
			in.line = 1
			return in.locate(fmt.Errorf("the header is %q: two columns are named %s", header, header[at]))
		}
	}
	var rankings []*csvRanking
	byName := map[string]*csvRanking{}
	for {
		row, err := readRow(rows)
		if err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("%s: %w", in.file, err)
		}
		in.line, _ = rows.FieldPos(0)
		c := byName[row[ranking]]
		if c == nil {
			c = &csvRanking{line: in.line, places: map[float64][]int{}}
			byName[row[ranking]] = c
			rankings = append(rankings, c)
			if weight >= 0 {
				c.weight = row[weight]
			}
		}
		if weight >= 0 && c.weight != row[weight] {
			return in.locate(fmt.Errorf("weight %q: ranking %q has %q on line %d", row[weight], row[ranking], c.weight, c.line))
		}
		if err := in.csvItem(c, row[item], row[rank]); err != nil {
			return in.locate(err)
		}
	}
	for _, c := range rankings {
		in.line = c.line
		if err := in.addCSV(c); err != nil {
			return in.locate(err)
		}
	}
	return nil
}

// readRow reads a row and trims the blanks around its values.
func readRow(rows *csv.Reader) ([]string, error) {
	row, err := rows.Read()
	for i, value := range row {
		row[i] = strings.TrimSpace(value)
	}
	return row, err
}

// csvItem adds an item to a ranking.
func (in *reader) csvItem(c *csvRanking, name, rank string) error {
	item, err := in.item(name)
	if err != nil {
		return err
	}
	if rank == "" {
		c.rest = append(c.rest, item)
		return nil
	}
	place, err := strconv.ParseFloat(rank, 64)
	if err != nil || math.IsNaN(place) {
		return fmt.Errorf("rank %q: want a number, or nothing for an item after all that have one", rank)
	}
	c.places[place] = append(c.places[place], item)
	return nil
}

// addCSV adds a ranking whose rows have all been read.
func (in *reader) addCSV(c *csvRanking) error {
	ranking := Ranking{Rest: c.rest}
	for _, rank := range slices.Sorted(maps.Keys(c.places)) {
		ranking.Places = append(ranking.Places, c.places[rank])
	}
	if len(ranking.Places) == 0 {
		return errors.New("no item of the ranking has a rank")
	}
	if c.weight != "" {
		w, err := strconv.ParseFloat(c.weight, 64)
		if err != nil || !(w > 0) {
			return fmt.Errorf("weight %q: want a positive number", c.weight)
		}
		ranking.Weight = w
	}
	return in.add(ranking, in.known)
}
