package tune

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A choice is a flag of train and what it is tried with.
type choice struct {
	text      string // as it was given
	flag      string
	values    []string // nil: numbers from low to high
	low, high float64
	whole     bool // numbers are
}

// parseChoice reads "lr=.001,.01", "hidden=64;128,64", whose values have commas, or "lr=1e-4..1e-1". A value may be empty, as in
// "hidden=;16", but not after the last separator, which ends the list, as in "hidden=128,64;".
func parseChoice(text string) (choice, error) {
	name, list, _ := strings.Cut(text, "=")
	c := choice{text: text, flag: strings.TrimLeft(strings.TrimSpace(name), "-")}
	if low, high, ok := strings.Cut(list, ".."); ok {
		var wrong [2]error
		c.low, wrong[0] = strconv.ParseFloat(strings.TrimSpace(low), 64)
		c.high, wrong[1] = strconv.ParseFloat(strings.TrimSpace(high), 64)
		if errors.Join(wrong[:]...) != nil || !(c.low < c.high) || math.IsInf(c.high-c.low, 0) {
			return c, errors.New("want a range such as 1e-4..1e-1, the lower number first")
		}
		c.whole = !strings.ContainsAny(list[:len(low)]+high, ".eE")
		return c, nil
	}
	separator := ","
	if strings.Contains(list, ";") {
		separator = ";"
	}
	for value := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(list), separator), separator) {
		if value = strings.TrimSpace(value); !slices.Contains(c.values, value) {
			c.values = append(c.values, value)
		}
	}
	if c.flag == "" || slices.Equal(c.values, []string{""}) {
		return c, errors.New("want a flag and its values, such as lr=.001,.003 or hidden=64;128,64 or lr=1e-4..1e-1")
	}
	return c, nil
}

// draw is a value at random: of a range on a logarithmic scale where all of it is above 0.
func (c choice) draw(rng *rand.Rand) string {
	if c.values != nil {
		return c.values[rng.IntN(len(c.values))]
	}
	v := c.low + rng.Float64()*(c.high-c.low)
	if c.low > 0 {
		low, high := math.Log(c.low), math.Log(c.high)
		v = math.Exp(low + rng.Float64()*(high-low))
	}
	if c.whole {
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// A grid is the choices of all flags that are tried. It is a flag.Value.
type grid []choice

func (g *grid) String() string { return "" }

func (g *grid) Set(text string) error {
	c, err := parseChoice(text)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(*g, func(other choice) bool { return other.flag == c.flag }) {
		return fmt.Errorf("-%s is there already", c.flag)
	}
	*g = append(*g, c)
	return nil
}

// most is the largest grid that is tried as a whole.
const most = 10_000

// size is the number of combinations: 0 of infinitely many.
func (g grid) size() int {
	n := 1
	for _, c := range g {
		n = min(n*len(c.values), most+1)
	}
	return n
}

// draw returns flags with a value at random of each choice.
func (g grid) draw(rng *rand.Rand) (flags []string) {
	for _, c := range g {
		flags = append(flags, "-"+c.flag+"="+c.draw(rng))
	}
	return flags
}

// whole reports whether n trials are the whole grid. It returns an error where n, of the flag -trials, is 0 and must not be.
func (g grid) whole(n int) (bool, error) {
	size := g.size()
	switch {
	case size == 0 && n == 0:
		return false, errors.New("-grid has a range: -trials must say how many trials to draw")
	case size > most && n == 0:
		return false, fmt.Errorf("-grid has more than %d combinations: -trials must say how many to draw", most)
	}
	return size > 0 && (n == 0 || n >= size), nil
}

// all is the whole grid; the values of the last flag change first.
func (g grid) all() [][]string {
	list := [][]string{nil}
	for _, c := range g {
		var longer [][]string
		for _, flags := range list {
			for _, value := range c.values {
				longer = append(longer, append(slices.Clone(flags), "-"+c.flag+"="+value))
			}
		}
		list = longer
	}
	return list
}
