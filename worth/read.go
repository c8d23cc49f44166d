package worth

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/internal/textfile"
)

// ReadOptions holds the settings of [Read].
type ReadOptions struct {
	// Items lists the names of all items, by number, such as the items of a model; other names are
	// rejected. Nil: the header of a PrefLib file has them, and elsewhere every name is an item.
	Items []string

	// Unlisted says how to take items that a ranking leaves out: "omit" (or empty), as unknown; or
	// "last", as after all places, in unknown order. The items must then be known from the
	// header of a PrefLib file, which may have fewer than Items, or else from Items, and the number of
	// rankings times the number of items is at most 2^26.
	Unlisted string
}

// ReadFile reads the rankings in a file, which may be compressed by gzip or zstd. The ending of its name
// determines the format, as in [Read]; .gz or .zst may follow.
func ReadFile(path string, o ReadOptions) (*Observations, error) {
	f, err := textfile.Open(context.Background(), path)
	if err != nil {
		return nil, textfile.At(path, err)
	}
	defer f.Close()
	return Read(f, path, o)
}

// Read reads rankings. The ending of the name determines the format:
//
//   - .soc, .soi, .toc, .toi: PrefLib (preflib.org/format), orders with or without ties (t, s), of all
//     alternatives or of some (c, i), with the names of the alternatives in the header.
//
//   - .csv: a header, then a row for each item of each ranking, in any order. The columns ranking and item
//     are names, rank is a number; equal ranks are a tie, and without a rank an item is one of the Rest.
//     There may be a column weight, with one value for each ranking. Blanks around values do not count.
//
//   - else text, a ranking a line.
//
// Lines of text are such as
//
//	Ann > Bob = Cem > Dan        Bob and Cem are tied
//	3: Ann > Dan                 observed three times
//	Bob > Ann | Bob, Ann, Cem    the set chosen from, here with Cem as the Rest
//	"12: > 3" > "a | b"          names in quotes, as in Go, may have any characters
//
// A word that begins with a digit and ends in a colon, at the beginning of a line, is how often the ranking was observed.
//
// Lines that begin with # are comments. Rankings of one item are left out, with a warning that counts them, and so are
// items without another ranking, except in PrefLib files. There is also a warning if the numbers of voters and of orders
// in a PrefLib file differ from its header.
//
// Read returns an error, which begins with file:line, for lines that are empty or not in the format, names that are not
// in UTF-8, repeated items of a ranking, unknown items, and a number of alternatives other than in the header. It also
// returns an error if no ranking is left.
func Read(r io.Reader, name string, o ReadOptions) (*Observations, error) {
	if o.Unlisted != "" && o.Unlisted != "omit" && o.Unlisted != "last" {
		return nil, fmt.Errorf("invalid ReadOptions.Unlisted %q: want omit or last", o.Unlisted)
	}
	in := &reader{file: name, options: o, rankings: &Observations{}}
	for i, known := range o.Items {
		if in.rankings.Item(known) != i {
			return nil, fmt.Errorf("ReadOptions.Items has %q twice", known)
		}
		in.known = append(in.known, i)
	}
	r = textfile.WithoutMark(r)
	var err error
	switch ending := Ending(name); ending {
	case ".soc", ".soi", ".toc", ".toi":
		err = in.preflib(r, ending)
	case ".csv":
		err = in.csv(r)
	default:
		err = in.lines(r, in.text)
	}
	if err == nil {
		err = in.finish()
	}
	if err != nil {
		return nil, err
	}
	return in.rankings, nil
}

// finish completes the rankings of the whole file.
func (in *reader) finish() error {
	switch r := in.rankings; {
	case r.Len() == 0 && in.oneItem == 0:
		return fmt.Errorf("%s has no rankings", in.file)
	case r.Len() == 0:
		remedy := ""
		if in.header != nil {
			remedy = `; or let unlisted items come last (ReadOptions.Unlisted "last", -unlisted last)`
		}
		return fmt.Errorf("%s:%d: all rankings have one item, which says nothing: want two or more, counting those it was chosen from%s", in.file,
			in.firstOneItem, remedy)
	case in.oneItem > 0:
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %d rankings of one item, observed %.15g times, are left out, since they say nothing: "+
			"the first is in line %d", in.file, in.oneItem, in.oneItemWeight, in.firstOneItem))
		if in.header == nil && len(in.options.Items) == 0 {
			r.dropUnranked()
		}
	}
	return nil
}

// Ending returns the ending of a name in lower case, ignoring .gz and .zst: .soi for votes.SOI.gz.
func Ending(name string) string {
	name = strings.ToLower(name)
	return filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"))
}

// mostEntries bounds the items of all rankings if each has all items, since a small file could ask for many. They take a
// quarter of a gigabyte, and four times as much while they are read.
const mostEntries = 1 << 26

// A reader fills rankings from a file.
type reader struct {
	file     string
	line     int // from 1
	options  ReadOptions
	rankings *Observations
	known    []int              // the items of the options
	placed   []bool             // see without
	header   map[string]float64 // of PrefLib, the numbers by their names; −1: not given. nil: another format

	oneItem, firstOneItem int // rankings that are left out, and the line of the first
	oneItemWeight         float64
}

// locate adds the file and line to an error.
func (in *reader) locate(err error) error { return fmt.Errorf("%s:%d: %w", in.file, in.line, err) }

// lines calls f for every line that is not a comment.
func (in *reader) lines(r io.Reader, f func(line string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, math.MaxInt)
	for lines.Scan() {
		in.line++
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "#") {
			continue
		}
		if line == "" {
			return in.locate(errors.New("the line is empty: want a ranking"))
		}
		if err := f(line); err != nil {
			return in.locate(err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", in.file, err)
	}
	return nil
}

// item returns the number of an item.
func (in *reader) item(name string) (int, error) {
	switch {
	case name == "":
		return 0, errors.New("an item has no name")
	case !utf8.ValidString(name): // JSON would merge invalid names
		return 0, fmt.Errorf("item %.40q: want text in UTF-8, which iconv makes from Latin-1", name)
	}
	r := in.rankings
	if len(in.options.Items) == 0 {
		return r.Item(name), nil
	}
	if i, known := r.numbers[name]; known {
		return i, nil
	}
	if near := names.Nearest(name, r.Items); near != "" {
		return 0, fmt.Errorf("item %q is unknown (did you mean %q?)", name, near)
	}
	return 0, fmt.Errorf("item %q is unknown: there are %d items, %q and others", name, len(r.Items), r.Items[0])
}

// add adds a ranking of some of all these items; nil: all items are not known.
func (in *reader) add(ranking Ranking, all []int) error {
	if in.options.Unlisted != "last" {
		return in.addOrLeave(ranking)
	}
	if all == nil {
		return errors.New(`ReadOptions.Unlisted is "last", but the items are not known: give ReadOptions.Items`)
	}
	if n := len(all); (in.rankings.Len()+1)*n > mostEntries {
		return fmt.Errorf("with the items that they leave out, %d rankings of %d items have more than %d entries: merge equal rankings into "+
			"one with their weight",
			in.rankings.Len()+1, n, mostEntries)
	}
	ranking.Rest = append(ranking.Rest, in.without(all, append(ranking.Places, ranking.Rest))...)
	return in.addOrLeave(ranking)
}

// addOrLeave adds a ranking, or counts it as left out if it has one item.
func (in *reader) addOrLeave(ranking Ranking) error {
	err := in.rankings.Add(ranking)
	if !errors.Is(err, errOneItem) {
		return err
	}
	if in.oneItem++; in.oneItem == 1 {
		in.firstOneItem = in.line
	}
	in.oneItemWeight += cmp.Or(ranking.Weight, 1)
	return nil
}

// text reads a line of text.
func (in *reader) text(line string) error {
	ranking := Ranking{Places: [][]int{nil}}
	if weight, rest, found := strings.Cut(line, ":"); found {
		if w, err := strconv.ParseFloat(strings.TrimSpace(weight), 64); err == nil {
			if !(w > 0) {
				return fmt.Errorf("the weight is %v: it must be positive", w)
			}
			ranking.Weight, line = w, rest
		} else if likeNumber(weight) {
			return fmt.Errorf("the weight %q: want a number, such as 3: Ann > Bob; if it begins the name of an item, put the name in quotes", weight)
		}
	}
	var set []int // chosen from
	for separator, inSet := byte('>'), false; separator != 0; {
		name, next, rest, err := cutItem(line)
		if err != nil {
			return err
		}
		if inSet != (next == ',') && next != 0 || next == '|' && inSet {
			return fmt.Errorf("%q after item %q: want > or = between items, then | and items with commas", next, name)
		}
		i, err := in.item(name)
		if err != nil {
			return err
		}
		switch last := len(ranking.Places) - 1; {
		case inSet:
			set = append(set, i)
		case separator == '>' && ranking.Places[last] != nil:
			ranking.Places = append(ranking.Places, []int{i})
		default:
			ranking.Places[last] = append(ranking.Places[last], i)
		}
		separator, line, inSet = next, rest, inSet || next == '|'
	}
	ranking.Rest = in.without(set, ranking.Places)
	return in.add(ranking, in.known)
}

// likeNumber reports whether a word before a colon is a mistyped number, such as 1O, rather than the beginning of a
// name, such as Alien or 12 Monkeys.
func likeNumber(word string) bool {
	word = strings.TrimSpace(word)
	digits := strings.TrimLeft(word, "+-.")
	return digits != "" && '0' <= digits[0] && digits[0] <= '9' && !strings.ContainsAny(word, " \t>=|,\"")
}

// without returns a set without the items at places.
func (in *reader) without(set []int, places [][]int) (rest []int) {
	in.placed = append(in.placed, make([]bool, len(in.rankings.Items)-len(in.placed))...)
	mark := func(placed bool) {
		for _, place := range places {
			for _, i := range place {
				in.placed[i] = placed
			}
		}
	}
	mark(true)
	for _, i := range set {
		if !in.placed[i] {
			rest = append(rest, i)
		}
	}
	mark(false)
	return rest
}

// cutItem cuts a line after its first item and the separator that follows, which is 0 at the end.
func cutItem(line string) (name string, separator byte, rest string, err error) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, `"`) {
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return "", 0, "", fmt.Errorf("%.40q is not a quoted Go string", line)
		}
		name, _ = strconv.Unquote(quoted)
		line = strings.TrimSpace(line[len(quoted):])
		if line != "" && !strings.ContainsRune(">=|,", rune(line[0])) {
			return "", 0, "", fmt.Errorf("%.40q after item %q: want >, =, | or a comma", line, name)
		}
	} else if end := strings.IndexAny(line, ">=|,"); end >= 0 {
		name, line = strings.TrimSpace(line[:end]), line[end:]
	} else {
		name, line = line, ""
	}
	if line == "" {
		return name, 0, "", nil
	}
	return name, line[0], line[1:], nil
}
