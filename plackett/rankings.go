package plackett

import "fmt"

// Rankings are sampled rankings of one list: rows of cutoff places, each Base plus
// the position of a document, −1 past the end of a shorter ranking. A sample whose
// first place is −1 is absent; means are over those present.
type Rankings struct {
	Places []int // [samples × Cutoff]
	Cutoff int
	Base   int
}

func (r Rankings) samples() int {
	if r.Cutoff == 0 {
		return 0
	}
	return len(r.Places) / r.Cutoff
}

func (r Rankings) sample(i int) []int { return r.Places[i*r.Cutoff : (i+1)*r.Cutoff] }

// RankingError tells of a row of numbers that is not a ranking of the list.
type RankingError struct {
	Sample, Place int // from 0
	Entry         int // what stands there
	Reason        string
}

func (e *RankingError) Error() string {
	return fmt.Sprintf("ranking %d, place %d: entry %d %s", e.Sample, e.Place, e.Entry, e.Reason)
}

// fault says what is wrong with the entry at a place of sample i, after length
// places of it were read.
func (r Rankings) fault(i, place, length, docs int) error {
	entry := r.sample(i)[place]
	reason := "is placed twice"
	switch d := entry - r.Base; {
	case length < place:
		reason = "stands after the ranking's end (-1)"
	case d < 0 || d >= docs:
		reason = fmt.Sprintf("is no document of the list, which has rows %d to %d", r.Base, r.Base+docs-1)
	}
	return &RankingError{i, place, entry, reason}
}
