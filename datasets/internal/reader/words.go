package reader

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/plrank/plrank/internal/text"
)

// Words holds notes on the values of features that are numbers.
type Words struct {
	Markers text.Tally // words that are known to stand for a missing value
	Others  text.Tally // other words that are not numbers
	Large   text.Tally // whole numbers from Inexact on, the first ones of each chunk
}

func newWords() Words { return Words{text.Tally{}, text.Tally{}, text.Tally{}} }

func (w *Words) merge(other Words) {
	w.Markers.Merge(other.Markers)
	w.Others.Merge(other.Others)
	w.Large.Merge(other.Large)
}

const (
	Inexact   = 1 << 24 // the next whole number is the same in float32
	MostLarge = 5000    // whole numbers that are noted of a feature in a chunk
)

// number reads a field of a feature.
func (b *Builder) number(id int, field []byte) (float32, error) {
	word := bytes.TrimSpace(field)
	if slices.Contains(b.options.Missing, string(word)) {
		return text.Missing, nil
	}
	v, err := text.Field(word)
	switch {
	case err == nil:
		b.noteLarge(id, v, word)
	case err == text.ErrNumber && text.IsMarker(word):
		b.c.Markers.Add(id, string(word), 1)
		return text.Missing, nil
	case err == text.ErrNumber:
		b.c.Others.Add(id, string(word), 1)
	}
	return v, err
}

// noteLarge notes a number if it is whole, and float32 may not keep it.
func (b *Builder) noteLarge(id int, v float32, word []byte) {
	if max(v, -v) >= Inexact {
		b.NoteLarge(id, word)
	}
}

// NoteLarge notes a number from Inexact on if it is whole.
func (b *Builder) NoteLarge(id int, word []byte) {
	if t := b.c.Large[id]; t != nil && t.Values >= MostLarge {
		return
	}
	if exact, _, err := text.Exact(word); err == nil && bytes.IndexByte(exact, '.') < 0 {
		b.c.Large.Add(id, string(exact), 1)
	}
}

// featureName returns the name of a feature for messages.
func (t *Table) featureName(id int) string {
	return text.List([]string{cmp.Or(t.Layout.Names[id], strconv.Itoa(id))})
}

// adviceOnWords says of each column with words that are not numbers what to do about them.
func (t *Table) adviceOnWords() (lines []string) {
	for _, id := range t.Others.IDs() {
		words, name := t.Others[id], text.List([]string{t.featureName(id)})
		advice := "-categorical %[3]s reads all its values as texts, -missing WORD reads one as missing, -ignore %[3]s leaves it out"
		if t.Options.OfModel {
			advice = "the model wants numbers; -missing WORD reads one as missing"
		}
		lines = append(lines, fmt.Sprintf("datasets: %s: %d values of the column %s are not numbers: %s; "+advice,
			t.Path, words.Values, name, words))
	}
	return lines
}

// warnOfWords adds warnings of words that were read as missing, and of different numbers that became one.
func (t *Table) warnOfWords() {
	for _, id := range t.Markers.IDs() {
		t.Warn("%d values of the column %s were read as missing: %s", t.Markers[id].Values, text.List([]string{t.featureName(id)}), t.Markers[id])
	}
	var merged []string
	for _, id := range t.Large.IDs() {
		values, words := map[float32]bool{}, t.Large[id].First()
		for _, word := range words {
			v, _ := strconv.ParseFloat(word, 32)
			values[float32(v)] = true
		}
		if len(values) < len(words) {
			merged = append(merged, fmt.Sprintf("%s (%d different ones became %d)", t.featureName(id), len(words), len(values)))
		}
	}
	if merged != nil {
		t.Warn("whole numbers from %d on are rounded to 24 bits: %s: subtract the least, take a larger unit, or leave them out", Inexact,
			text.List(merged))
	}
}
