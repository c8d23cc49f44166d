package text

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tally counts texts by the id of their feature.
type Tally map[int]*Texts

// Texts are texts, each with the number of documents that have it.
type Texts struct {
	Values int            // of documents
	times  map[string]int // of the first texts
	more   bool           // there are others
}

// mostTexts bounds the texts that are counted one by one.
const mostTexts = 1000

// Add counts a text of some documents.
func (u Tally) Add(id int, text string, documents int) {
	if documents == 0 {
		return
	}
	t := u[id]
	if t == nil {
		t = &Texts{times: map[string]int{}}
		u[id] = t
	}
	t.Values += documents
	if _, known := t.times[text]; known || len(t.times) < mostTexts {
		t.times[text] += documents
	} else {
		t.more = true
	}
}

// Merge adds the texts of another tally.
func (u Tally) Merge(other Tally) {
	for id, texts := range other {
		for text, documents := range texts.times {
			u.Add(id, text, documents)
		}
		u[id].more = u[id].more || texts.more
	}
}

// Unknown returns a warning for each feature, which has a name: its texts are categories that a model does not know.
func (u Tally) Unknown(name func(id int) string) (list []string) {
	for _, id := range u.IDs() {
		list = append(list, fmt.Sprintf("%d values of the feature %s are categories that the model does not know: %s",
			u[id].Values, List([]string{name(id)}), u[id]))
	}
	return list
}

// IDs returns the ids, ascending.
func (u Tally) IDs() []int { return slices.Sorted(maps.Keys(u)) }

// First returns the texts, up to a thousand.
func (t *Texts) First() []string { return slices.Sorted(maps.Keys(t.times)) }

// String lists the texts, the ones of most documents first.
func (t *Texts) String() string {
	const most = 10
	names := slices.SortedFunc(maps.Keys(t.times), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.times[b], t.times[a]), cmp.Compare(a, b))
	})
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, fmt.Sprintf("%s (%d)", Quote([]byte(name)), t.times[name]))
	}
	list, than := strings.Join(shown, ", "), ""
	if t.more {
		than = "more than "
	}
	if len(names) > most {
		list += fmt.Sprintf(", … (%s%d in all)", than, len(names))
	}
	return list
}
