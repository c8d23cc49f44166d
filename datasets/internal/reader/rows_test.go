package reader

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// parse returns the chunk of a text of LETOR.
func parse(t testing.TB, text string, o Options) *Chunk {
	t.Helper()
	l, err := LETOR([]byte("0"), nil, o, Sidecar{})
	if err != nil {
		t.Fatal(err)
	}
	c := &Chunk{Size: int64(len(text))}
	l.NewParser(o)(c, []byte(text))
	t.Cleanup(c.Values.Free)
	return c
}

// The order of the features in a line does not matter, nor do blanks and comments.
func TestOrderOfFeaturesDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		var plain, mixed string
		for row := range rapid.IntRange(1, 5).Draw(r, "rows") {
			var words []string
			for _, id := range rng.Perm(9)[:rng.IntN(9)] {
				words = append(words, fmt.Sprintf("%d:%d", id*1000, 1+rng.IntN(50)))
			}
			slices.Sort(words)
			plain += fmt.Sprintf("%d qid:%d %s\n", row, row/2, strings.Join(words, " "))
			rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			mixed += fmt.Sprintf("# a comment\n%d  qid:%d\t%s # another\n\n", row, row/2, strings.Join(words, "  "))
		}
		a, b := parse(t, plain, Options{}), parse(t, mixed, Options{})
		if !slices.Equal(a.IDs, b.IDs) || !slices.Equal(a.Values.Values, b.Values.Values) || !slices.Equal(a.Labels, b.Labels) ||
			len(a.Runs) != len(b.Runs) || a.FaultCount+b.FaultCount > 0 {
			r.Fatalf("%q: %v %v; %q: %v %v", plain, a.IDs, a.Values.Values, mixed, b.IDs, b.Values.Values)
		}
	})
}

// Labels are grades of 0 or more; −1 stands for none, or by an option for 0.
func TestLabelsOfMinusOne(t *testing.T) {
	const text = "-1 qid:1 1:1\n0.5 qid:1 1:2\n2 qid:1 1:3\n"
	if c := parse(t, text, Options{}); !slices.Equal(c.Labels, []float32{-1, .5, 2}) || c.MinusOne != 1 || c.Unlabelled != 1 || c.BelowOne != 1 {
		t.Errorf("%v, %+v", c.Labels, c.Counts)
	}
	if c := parse(t, text, Options{MinusOne: "irrelevant"}); !slices.Equal(c.Labels, []float32{0, .5, 2}) || c.Unlabelled != 0 {
		t.Errorf("%v, %+v", c.Labels, c.Counts)
	}
	for _, label := range []string{"-2", "NaN", "inf", "1e39", "x"} {
		if c := parse(t, label+" qid:1 1:1\n", Options{}); c.FaultCount != 1 {
			t.Errorf("label %s: %v", label, c.Labels)
		}
	}
}

// A matrix may take 256 times the bytes of its text, and 16 MB in any case.
func TestMatrixMayBeSoLarge(t *testing.T) {
	for _, c := range []struct {
		rows, columns int
		text          int64
		fits          bool
	}{
		{1 << 11, 1 << 11, 10, true}, {1 << 11, 1<<11 + 1, 10, false},
		{1 << 14, 1 << 12, 1 << 20, true}, {1<<14 + 1, 1 << 12, 1 << 20, false},
	} {
		if err := tooSparse(c.rows, c.columns, c.text); (err == nil) != c.fits {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A part of each number, from 0 or from 1, is an export; any other set is not.
func TestOrderOfParts(t *testing.T) {
	for want, names := range map[string][]string{
		"p-0-of-3 p-1-of-3 p-2-of-3":       {"p-2-of-3", "p-0-of-3", "p-1-of-3"},
		"p-1-of-2 p-02-of-2":               {"p-02-of-2", "p-1-of-2"},
		"p-2 p-10 p-200":                   {"p-10", "p-200", "p-2"},
		"part-3-a part-20-a":               {"part-20-a", "part-3-a"},
		"of 3 parts, number 1 is missing":  {"p-0-of-3", "p-2-of-3"},
		"of 2 parts, number 0 is missing":  {"p-1-of-2"},
		"parts of two exports: p-0-of-2 a": {"p-0-of-2", "p-1-of-3"},
		"3 files for 2 parts":              {"p-0-of-2", "p-1-of-2", "p-2-of-2"},
		"2 files for 1 parts":              {"p-0-of-1.csv", "p-0-of-1.txt"},
	} {
		err := orderParts(names)
		if got := strings.Join(names, " "); err == nil && got != want || err != nil && !strings.Contains(err.Error()+" a", strings.TrimSuffix(want, " a")) {
			t.Errorf("%q: %s, error %v", names, got, err)
		}
	}
}
