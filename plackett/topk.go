package plackett

import "github.com/plrank/plrank/internal/scratch"

// keyed is a document with a value by which the smallest come first, such as its finishing
// time in a race.
type keyed struct {
	value    float64
	document int
}

// topK keeps the k documents of smallest value, in order; of equal values the one that
// was offered earlier stands first.
type topK struct {
	entries []keyed
	k       int
}

func (t *topK) reset(k int) {
	t.k = k
	t.entries = scratch.Sized(t.entries, k)[:0]
}

// full reports whether a document needs a value below worst to be kept.
func (t *topK) full() bool { return len(t.entries) == t.k }

func (t *topK) worst() float64 { return t.entries[t.k-1].value }

// offer keeps x if it is among the best so far.
func (t *topK) offer(x keyed) {
	if !t.full() {
		t.entries = append(t.entries, x)
	} else if x.value >= t.worst() {
		return
	}
	at, end := 0, len(t.entries)-1 // the first rank whose value is above x's
	for at < end {
		if mid := (at + end) / 2; t.entries[mid].value > x.value {
			end = mid
		} else {
			at = mid + 1
		}
	}
	copy(t.entries[at+1:], t.entries[at:len(t.entries)-1])
	t.entries[at] = x
}

// likeliest keeps the k documents of highest score, in descending order of score, ties
// by position. The values are −m_d.
func (t *topK) likeliest(scores []float64, k int) {
	t.reset(k)
	for d, m := range scores {
		if !t.full() || -m < t.worst() {
			t.offer(keyed{-m, d})
		}
	}
}

// copyTo writes the documents to the beginning of a ranking.
func (t *topK) copyTo(ranking []int) {
	for k, x := range t.entries {
		ranking[k] = x.document
	}
}
