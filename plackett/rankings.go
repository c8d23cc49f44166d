package plackett

import "fmt"

// Rankings are sampled rankings of one list: rows of Cutoff entries, each Base plus
// the position of a document, −1 past the end of a shorter ranking. A row whose first
// entry is −1 is absent; means are over those present.
type Rankings struct {
	Documents []int // [rankings × Cutoff]
	Cutoff    int
	Base      int // 0, or the row of the first document, where lists stand in one batch
}

// NewRankings has room for so many rankings of at most cutoff documents.
func NewRankings(samples, cutoff int) Rankings {
	return Rankings{Documents: make([]int, samples*cutoff), Cutoff: cutoff}
}

// samples is the number of rows.
func (r Rankings) samples() (int, error) {
	switch {
	case r.Cutoff == 0 && len(r.Documents) == 0:
		return 0, nil
	case r.Cutoff < 1 || len(r.Documents)%r.Cutoff != 0:
		return 0, fmt.Errorf("rankings: %d entries are no rows of %d", len(r.Documents), r.Cutoff)
	}
	return len(r.Documents) / r.Cutoff, nil
}

func (r Rankings) sample(i int) []int { return r.Documents[i*r.Cutoff : (i+1)*r.Cutoff] }

// fault says what is wrong with the entry at a rank of sample i, after length
// entries of it were read.
func (r Rankings) fault(i, rank, length, docs int) error {
	entry := r.sample(i)[rank]
	reason := "is placed twice"
	switch d := entry - r.Base; {
	case length < rank:
		reason = "stands after the ranking's end (-1)"
	case d < 0 || d >= docs:
		reason = fmt.Sprintf("is no document of the list, which has rows %d to %d", r.Base, r.Base+docs-1)
	}
	return &RankingError{i, rank, entry, reason}
}
