package text

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Unknown counts categories that a model does not know, by the id of their feature.
type Unknown map[int]*unknownTexts

type unknownTexts struct {
	values int            // of documents
	times  map[string]int // of the first texts
	more   bool           // there are others
}

// mostUnknown bounds the texts that are counted one by one.
const mostUnknown = 1000

// Add counts a category of some documents.
func (u Unknown) Add(id int, text string, documents int) {
	if documents == 0 {
		return
	}
	t := u[id]
	if t == nil {
		t = &unknownTexts{times: map[string]int{}}
		u[id] = t
	}
	t.values += documents
	if _, known := t.times[text]; known || len(t.times) < mostUnknown {
		t.times[text] += documents
	} else {
		t.more = true
	}
}

// Warnings returns one for each feature, which has a name, with the categories of most documents.
func (u Unknown) Warnings(name func(id int) string) (list []string) {
	for _, id := range slices.Sorted(maps.Keys(u)) {
		list = append(list, fmt.Sprintf("%d values of the feature %s are categories that the model does not know: %s",
			u[id].values, List([]string{name(id)}), u[id]))
	}
	return list
}

// String names the texts, those of most documents first.
func (t *unknownTexts) String() string {
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
