package worth

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// preflib reads PrefLib's format: a header with "# ALTERNATIVE NAME 1: Ann" for every alternative, then
// lines such as "12: 3,{1,4},2", where alternatives in braces are tied.
func (in *reader) preflib(r io.Reader, ending string) error {
	lines := bufio.NewReader(r)
	alternatives, err := in.alternatives(lines)
	if err != nil {
		return err
	}
	voters, orders := 0.0, 0.0
	err = in.lines(lines, func(line string) error {
		weight, order, found := strings.Cut(line, ":")
		w, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
		if !found || err != nil || !(w > 0) {
			return fmt.Errorf("%.40q: want a positive count, a colon and an order, such as 12: 3,1,2", line)
		}
		ranking, listed, err := preflibOrder(order, alternatives)
		if err != nil {
			return err
		}
		ranking.Weight = w
		voters += w
		orders++
		if ending[1] == 's' && len(ranking.Places) < listed {
			return fmt.Errorf("a tie in a file of strict orders: its name would end in .to%c", ending[3])
		}
		if ending[3] == 'c' && listed < len(alternatives) {
			return fmt.Errorf("%d of %d alternatives in a file of complete orders: its name would end in %si", listed, len(alternatives), ending[:3])
		}
		return in.add(ranking, alternatives)
	})
	if err == nil {
		in.compare("voters", in.header["NUMBER VOTERS"], voters)
		said := in.header["NUMBER UNIQUE ORDERS"]
		in.compare("unique orders", said, min(orders, said)) // more lines may repeat orders
	}
	return err
}

// compare adds a warning if the number found differs from the one in the header.
func (in *reader) compare(what string, said, found float64) {
	if said < 0 || math.Abs(found-said) <= 1e-9*said { // weights need not be whole
		return
	}
	reason := "the file looks cut"
	if found > said {
		reason = "the header belongs to another file"
	}
	in.rankings.Warnings = append(in.rankings.Warnings, fmt.Sprintf("%s: the header says %.15g %s, but the file has %.15g: %s", in.file, said,
		what, found, reason))
}

// alternatives reads the lines of the header, up to one that does not begin with #. It returns
// the item of every alternative; alternatives are numbered from 1.
func (in *reader) alternatives(lines *bufio.Reader) ([]int, error) {
	const name = "# ALTERNATIVE NAME "
	var items []int
	in.header = map[string]float64{"NUMBER ALTERNATIVES": -1, "NUMBER VOTERS": -1, "NUMBER UNIQUE ORDERS": -1}
	for {
		if next, err := lines.Peek(1); err != nil || !bytes.Equal(next, []byte("#")) {
			break
		}
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", in.file, err)
		}
		in.line++
		text, found := strings.CutPrefix(line, name)
		if !found {
			what, text, _ := strings.Cut(strings.TrimPrefix(line, "# "), ":")
			if _, known := in.header[what]; known {
				number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
				if err != nil || !(number >= 0 && number <= largestWeight) {
					return nil, in.locate(fmt.Errorf("%s: %.20q: want a number", what, strings.TrimSpace(text)))
				}
				in.header[what] = number
			}
			continue
		}
		number, text, _ := strings.Cut(text, ":")
		n, err := strconv.Atoi(number)
		if err != nil || n != len(items)+1 {
			return nil, in.locate(fmt.Errorf("alternative %.20q: want %d, since they are numbered from 1", number, len(items)+1))
		}
		item, err := in.item(strings.TrimSpace(text))
		if err != nil {
			return nil, in.locate(err)
		}
		if len(in.options.Items) == 0 && item != len(items) {
			return nil, in.locate(fmt.Errorf("alternatives %d and %d have the same name", item+1, n))
		}
		items = append(items, item)
	}
	if items == nil {
		in.line++
		return nil, in.locate(errors.New(`the header has no "# ALTERNATIVE NAME 1: …": want PrefLib's format of 2022 or later`))
	}
	if said := in.header["NUMBER ALTERNATIVES"]; said >= 0 && said != float64(len(items)) {
		return nil, in.locate(fmt.Errorf("the header says %.15g alternatives, but has the names of %d: it looks cut", said, len(items)))
	}
	return items, nil
}

// preflibOrder parses an order, and counts its alternatives.
func preflibOrder(order string, alternatives []int) (ranking Ranking, listed int, err error) {
	tied := false
	for _, field := range strings.Split(order, ",") {
		field = strings.TrimSpace(field)
		number, open := strings.CutPrefix(field, "{")
		number, closed := strings.CutSuffix(number, "}")
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || n < 1 || n > len(alternatives) {
			return ranking, 0, fmt.Errorf("alternative %.20q: want a number from 1 to %d", field, len(alternatives))
		}
		if open && tied || closed && !tied && !open {
			return ranking, 0, fmt.Errorf("alternative %.20q: braces do not match", field)
		}
		listed++
		if last := len(ranking.Places) - 1; tied {
			ranking.Places[last] = append(ranking.Places[last], alternatives[n-1])
		} else {
			ranking.Places = append(ranking.Places, []int{alternatives[n-1]})
		}
		tied = (tied || open) && !closed
	}
	if tied {
		return ranking, 0, errors.New("a brace is not closed")
	}
	return ranking, listed, nil
}
