package plackett

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/num"
)

// Rules are what the rankings of a list have to obey, whatever the scores.
type Rules struct {
	Offsets []float64 `json:"offsets,omitempty"` // by document, added to the scores; nil: none
	Pins    []Pin     `json:"pins,omitempty"`
	Quotas  []Quota   `json:"quotas,omitempty"`
}

// Empty reports whether r changes nothing.
func (r *Rules) Empty() bool {
	return r == nil || len(r.Pins) == 0 && len(r.Quotas) == 0 && !slices.ContainsFunc(r.Offsets, func(x float64) bool { return x != 0 })
}

// A Pin puts a document at a rank, from 1.
type Pin struct {
	Document int `json:"document"`
	Rank     int `json:"rank"`
}

// A Quota bounds how many of some documents are among the first ranks: from Least to Most.
type Quota struct {
	Documents []int `json:"documents"` // each once
	First     int   `json:"first"`     // ranks
	Least     int   `json:"least"`
	Most      int   `json:"most"`
}

// A QuotaError reports the first of several quotas that no ranking obeys together with the pins and the quotas before it.
type QuotaError struct {
	Quota       int // its index
	Least, Most int // how many of its documents are possible
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("quota %d: with the rules before it, %d to %d of its documents are possible", e.Quota, e.Least, e.Most)
}

// Ruled is the policy of rankings that obey [Rules], near the Plackett–Luce policy of the scores. Its probabilities and the
// expectations under it are exact.
//
// Documents that are pinned keep their ranks. Others are of one class if they are in the same quotas. The class of the next
// document depends on how many of each class are placed: without quotas, class c would come next with a probability proportional
// to Σ e^m over its documents except for the likeliest, as many as are placed. These probabilities are conditional on the quotas,
// by a dynamic program over the counts. The documents of a class come in an order drawn from their own Plackett–Luce policy. So
//
//	P(d at rank k) = Σ_n P(the n-th of its class is at rank k) P(d is the n-th of its class).
//
// Without quotas this is the Plackett–Luce policy of the documents that are not pinned. If the scores within every class are
// equal, it is this policy, conditional on the quotas.
type Ruled struct {
	Expectation Expectation // within classes, by its Tolerance

	plain   []float64 // the scores if there are neither pins nor quotas, and nothing below is of use
	pinned  []int     // by rank, from 0: the document, or −1
	classOf []int     // by document: its class, −1 if it is pinned
	classes []class
	quotas  []quota   // that some rankings break
	counts  counts    // of classes at ranks up to the last one of a quota
	allowed []float64 // by counts: the logarithm of the probability that the quotas hold from there on

	sampler Sampler
	kernel  Kernel
	n       []int     // scratch: how many documents of each class are placed
	next    []float64 // scratch: log P(class is next)
}

// A class has the documents that are in the same quotas.
type class struct {
	documents []int
	scores    []float64
	order     []int     // of documents by descending score
	left      []float64 // log Σ e^m without the n likeliest, for every n below their number
	drawn     []int     // scratch: positions in documents
}

// A quota is a Quota with what is known of its documents.
type quota struct {
	Quota
	index     int // among all that were given
	documents []bool
	free      int // ranks that it is about, without pins
	pinned    int // documents of it at these ranks
	classes   []int
}

// Set makes p the policy of scores under rules. The scores must not change while p is in use. Set returns a [*QuotaError] if no ranking
// obeys the quotas.
func (p *Ruled) Set(scores []float64, r Rules) error {
	if r.Offsets != nil {
		if err := checkLength("offsets", len(r.Offsets), len(scores)); err != nil {
			return err
		}
		scores = floats.AddTo(make([]float64, len(scores)), scores, r.Offsets)
	}
	if err := checkFinite("score", scores); err != nil {
		return err
	}
	if p.plain = nil; len(r.Pins)+len(r.Quotas) == 0 {
		if p.plain = scores; scores == nil {
			p.plain = []float64{}
		}
		return nil
	}
	if err := p.pin(len(scores), r.Pins); err != nil {
		return err
	}
	if err := p.keep(r.Quotas); err != nil {
		return err
	}
	if err := p.classify(scores); err != nil {
		return err
	}
	p.allow(len(p.quotas))
	if !math.IsInf(p.allowed[0], -1) {
		return nil
	}
	first := sort.Search(len(p.quotas)-1, func(i int) bool {
		p.allow(i + 1)
		return math.IsInf(p.allowed[0], -1)
	})
	p.allow(first)
	least, most := p.possible(first)
	return &QuotaError{p.quotas[first].index, least, most}
}

// Work returns about how many steps the dynamic program takes for lists of so many documents and expectations at the first ranks.
// It returns the errors of [Ruled.Set] and [Ruled.Exposure] except for quotas that cannot be obeyed.
func (r *Rules) Work(documents, ranks int) (steps int, err error) {
	var p Ruled
	if err := cmp.Or(p.pin(documents, r.Pins), p.keep(r.Quotas)); err != nil {
		return 0, err
	}
	if err := p.classify(make([]float64, documents)); err != nil {
		return 0, err
	}
	steps = p.counts.all
	err = p.counts.set(p.classes, min(ranks, documents))
	return (steps + p.counts.all) * (len(p.classes)*len(p.classes) + len(p.quotas)), err
}

// pin sets the ranks of documents that are pinned.
func (p *Ruled) pin(documents int, pins []Pin) error {
	p.pinned, p.classOf = slices.Repeat([]int{-1}, documents), make([]int, documents)
	for i, pin := range pins {
		switch {
		case pin.Document < 0 || pin.Document >= documents:
			return fmt.Errorf("pin %d: document %d of %d: want an index from 0", i, pin.Document, documents)
		case pin.Rank < 1 || pin.Rank > documents:
			return fmt.Errorf("pin %d: rank %d: want one from 1 to %d, the number of documents", i, pin.Rank, documents)
		case p.classOf[pin.Document] < 0:
			return fmt.Errorf("pin %d: document %d is pinned to rank %d already", i, pin.Document, slices.Index(p.pinned, pin.Document)+1)
		case p.pinned[pin.Rank-1] >= 0:
			return fmt.Errorf("pin %d: rank %d has document %d already", i, pin.Rank, p.pinned[pin.Rank-1])
		}
		p.pinned[pin.Rank-1], p.classOf[pin.Document] = pin.Document, -1
	}
	return nil
}

// keep keeps the quotas that some rankings break.
func (p *Ruled) keep(quotas []Quota) error {
	p.quotas = nil
	documents := len(p.pinned)
	for i, given := range quotas {
		q := quota{Quota: given, index: i, documents: make([]bool, documents)}
		if q.First < 1 || q.Least < 0 || q.Most < q.Least {
			return fmt.Errorf("quota %d: from %d to %d of the first %d: want 0 or more in ascending order, and a rank from 1",
				i, q.Least, q.Most, q.First)
		}
		for _, d := range q.Documents {
			if d < 0 || d >= documents || q.documents[d] {
				return fmt.Errorf("quota %d: document %d of %d: want indices from 0, each once", i, d, documents)
			}
			q.documents[d] = true
		}
		q.First = min(q.First, documents)
		for _, d := range p.pinned[:q.First] {
			switch {
			case d < 0:
				q.free++
			case q.documents[d]:
				q.pinned++
			}
		}
		if n := len(q.Documents); q.Least > max(0, n+q.First-documents) || q.Most < min(n, q.First) {
			p.quotas = append(p.quotas, q)
		}
	}
	return nil
}

// classify divides the documents that are not pinned by their quotas.
func (p *Ruled) classify(scores []float64) error {
	p.classes = nil
	known := map[string]int{}
	key, highest := make([]byte, len(p.quotas)), math.Inf(-1)
	for d, m := range scores {
		if p.classOf[d] < 0 {
			continue
		}
		highest = max(highest, m)
		for i, q := range p.quotas {
			key[i] = '0'
			if q.documents[d] {
				key[i] = '1'
			}
		}
		c, ok := known[string(key)]
		if !ok {
			c = len(p.classes)
			known[string(key)] = c
			p.classes = append(p.classes, class{})
			for i := range p.quotas {
				if key[i] == '1' {
					p.quotas[i].classes = append(p.quotas[i].classes, c)
				}
			}
		}
		p.classOf[d] = c
		x := &p.classes[c]
		x.documents, x.scores = append(x.documents, d), append(x.scores, m)
	}
	last := 0
	for _, q := range p.quotas {
		last = max(last, q.free)
	}
	for c := range p.classes {
		x := &p.classes[c]
		x.order = num.DescendingOrder(nil, x.scores)
		x.left = make([]float64, len(x.scores))
		sum := math.Inf(-1)
		for i, at := range slices.Backward(x.order) {
			sum = logSum(sum, x.scores[at]-highest)
			x.left[i] = sum
		}
	}
	p.n, p.next = make([]int, len(p.classes)), make([]float64, len(p.classes))
	return p.counts.set(p.classes, last)
}

// logSum returns log(e^a + e^b).
func logSum(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// mostCounts bounds the memory and time of the dynamic program.
const mostCounts = 1 << 18

// counts numbers the ways in which the documents of the first ranks, or of fewer, can be of classes: in the lexicographic order of
// how many are of each. One more document of a class has a higher number.
type counts struct {
	sizes      []int
	all, ranks int
	sums       [][]int // by class and r: the sum over up to r ranks of the ways to fill these with the classes from this one on
}

func (x *counts) set(classes []class, ranks int) error {
	*x = counts{sizes: make([]int, len(classes)), all: 1, ranks: ranks, sums: make([][]int, len(classes)+1)}
	for c := len(classes); c >= 0; c-- {
		x.sums[c] = make([]int, ranks+1)
		sum := 0
		for r := range ranks + 1 {
			if x.all = 1; c < len(classes) {
				x.sizes[c] = min(len(classes[c].documents), ranks)
				x.all = x.skipped(c, r, min(x.sizes[c], r)+1)
			}
			sum += x.all
			x.sums[c][r] = sum
		}
		if x.all > mostCounts {
			return fmt.Errorf("quotas: the first %d ranks have more than %d combinations of counts of %d kinds of documents: "+
				"want fewer quotas or ranks", ranks, mostCounts, len(classes))
		}
	}
	return nil
}

// skipped returns how many ways there are with less than n documents of class c, and others of the classes after it, at r ranks.
func (x *counts) skipped(c, r, n int) int {
	all := x.sums[c+1][r]
	if n <= r {
		all -= x.sums[c+1][r-n]
	}
	return all
}

// read sets the counts of a number, and returns their sum.
func (x *counts) read(number int, n []int) (ranks int) {
	for c, size := range x.sizes {
		left := x.ranks - ranks
		n[c] = sort.Search(min(size, left), func(k int) bool { return x.skipped(c, left, k+1) > number })
		number -= x.skipped(c, left, n[c])
		ranks += n[c]
	}
	return ranks
}

// after returns the number of counts with one more document of a class.
func (x *counts) after(n []int, class int) (number int) {
	left := x.ranks
	for c, k := range n {
		if c == class {
			k++
		}
		number += x.skipped(c, left, k)
		left -= k
	}
	return number
}

// allow computes with which probabilities the first quotas hold.
func (p *Ruled) allow(quotas int) {
	p.allowed = num.Sized(p.allowed, p.counts.all)
	for i := p.counts.all - 1; i >= 0; i-- {
		p.allowed[i] = math.Inf(-1)
		ranks := p.counts.read(i, p.n)
		holds := ranks <= p.counts.ranks && !slices.ContainsFunc(p.quotas[:quotas], func(q quota) bool {
			n := q.among(p.n)
			return ranks == q.free && (n < q.Least || n > q.Most)
		})
		switch {
		case holds && ranks == p.counts.ranks:
			p.allowed[i] = 0
		case holds:
			p.allowed[i] = p.weigh(ranks)
		}
	}
}

// among returns how many documents of a quota are at its ranks if as many of each class are.
func (q *quota) among(n []int) int {
	sum := q.pinned
	for _, c := range q.classes {
		sum += n[c]
	}
	return sum
}

// weigh sets log P(class is next) after the counts p.n, at so many ranks. It returns the logarithm of the probability that the quotas
// hold.
func (p *Ruled) weigh(ranks int) float64 {
	all, hold := math.Inf(-1), math.Inf(-1)
	for c := range p.classes {
		p.next[c] = math.Inf(-1)
		if n := p.n[c]; n < len(p.classes[c].left) {
			p.next[c] = p.classes[c].left[n]
			all = logSum(all, p.next[c])
			if ranks < p.counts.ranks {
				p.next[c] += p.allowed[p.counts.after(p.n, c)]
			}
			hold = logSum(hold, p.next[c])
		}
	}
	if math.IsInf(hold, -1) {
		return hold
	}
	for c := range p.next {
		p.next[c] -= hold
	}
	return hold - all
}

// possible returns how many documents of a quota can be at its ranks, by the quotas that allow knows.
func (p *Ruled) possible(quota int) (least, most int) {
	q := p.quotas[quota]
	least, most = len(p.pinned), 0
	reached := make([]bool, p.counts.all)
	reached[0] = true
	for i := range reached {
		ranks := p.counts.read(i, p.n)
		if !reached[i] || math.IsInf(p.allowed[i], -1) {
			continue
		}
		if ranks == q.free {
			n := q.among(p.n)
			least, most = min(least, n), max(most, n)
			continue
		}
		for c := range p.classes {
			if p.n[c] < p.counts.sizes[c] {
				reached[p.counts.after(p.n, c)] = true
			}
		}
	}
	return least, most
}

// walk goes down the ranks of a ranking. At every rank that is not pinned it calls choose, for the class of the document, when p.n and
// p.next are set.
func (p *Ruled) walk(ranks int, choose func(k int) (class int, err error)) error {
	if ranks > len(p.pinned) {
		return &LengthError{"ranking", ranks, len(p.pinned)}
	}
	clear(p.n)
	free := 0
	for k, pinned := range p.pinned[:ranks] {
		if pinned >= 0 {
			continue
		}
		p.weigh(free)
		c, err := choose(k)
		if err != nil {
			return err
		}
		p.n[c]++
		free++
	}
	return nil
}

// Draw fills ranking, of at most as many ranks as there are documents, by the random numbers of a stream.
func (p *Ruled) Draw(from Stream, ranking []int) error {
	if p.plain != nil {
		return p.sampler.Draw(p.plain, from, Rankings{Documents: ranking, Cutoff: len(ranking)})
	}
	other := func(c int) Stream { return Stream{num.SplitMixNext(from.Seed ^ uint64(c)), from.Step, from.Query} }
	random := other(len(p.classes)).start()
	copy(ranking, p.pinned)
	if err := p.walk(len(ranking), func(k int) (int, error) {
		u, chosen := random.open(), 0
		for c, x := range p.next {
			if !math.IsInf(x, -1) {
				chosen = c
				if u -= math.Exp(x); u < 0 {
					break
				}
			}
		}
		ranking[k] = -1 - chosen
		return chosen, nil
	}); err != nil {
		return err
	}
	for c := range p.classes {
		x := &p.classes[c]
		x.drawn = num.Sized(x.drawn, p.n[c])
		stream := from
		if c > 0 {
			stream = other(c)
		}
		if p.n[c] == 0 {
			continue
		}
		if err := p.sampler.Draw(x.scores, stream, Rankings{Documents: x.drawn, Cutoff: p.n[c]}); err != nil {
			return err
		}
	}
	clear(p.n)
	for k, d := range ranking {
		if d < 0 {
			c := -1 - d
			ranking[k] = p.classes[c].documents[p.classes[c].drawn[p.n[c]]]
			p.n[c]++
		}
	}
	return nil
}

// Rank fills ranking with the documents in descending order of score, as far as the rules allow: at every rank stands the document
// of the highest score with which the quotas can still be obeyed.
func (p *Ruled) Rank(ranking []int) error {
	if p.plain != nil {
		num.DescendingOrder(ranking[:0], p.plain)
		return nil
	}
	copy(ranking, p.pinned)
	return p.walk(len(ranking), func(k int) (int, error) {
		best := math.Inf(-1)
		chosen := -1
		for c, x := range p.classes {
			if math.IsInf(p.next[c], -1) {
				continue
			}
			at := x.order[p.n[c]]
			if m, d := x.scores[at], x.documents[at]; chosen < 0 || m > best || m == best && d < ranking[k] {
				best, chosen, ranking[k] = m, c, d
			}
		}
		return chosen, nil
	})
}

// LogProbs writes log P(y_k | y_1..k−1) of every rank of a ranking to out. It returns an error if the ranking breaks a rule.
func (p *Ruled) LogProbs(ranking []int, out []float64) error {
	if p.plain != nil {
		return p.kernel.LogProbs(p.plain, Rankings{Documents: ranking, Cutoff: len(ranking)}, out)
	}
	if err := checkLength("log-probabilities", len(out), len(ranking)); err != nil {
		return err
	}
	for c := range p.classes {
		p.classes[c].drawn = p.classes[c].drawn[:0]
	}
	clear(out)
	for k, d := range ranking {
		if d < 0 || d >= len(p.classOf) || k < len(p.pinned) && (p.pinned[k] >= 0 || p.classOf[d] < 0) && p.pinned[k] != d {
			return fmt.Errorf("rank %d has document %d, which the rules do not allow there", k+1, d)
		}
	}
	if err := p.walk(len(ranking), func(k int) (int, error) {
		d := ranking[k]
		c := p.classOf[d]
		x := &p.classes[c]
		at, _ := slices.BinarySearch(x.documents, d)
		if out[k] = p.next[c]; math.IsInf(out[k], -1) || slices.Contains(x.drawn, at) {
			return 0, fmt.Errorf("rank %d has document %d, which the rules do not allow there", k+1, d)
		}
		x.drawn = append(x.drawn, at)
		return c, nil
	}); err != nil {
		return err
	}
	logs := make([]float64, 0, len(ranking))
	for c := range p.classes {
		x := &p.classes[c]
		logs = num.Sized(logs, len(x.drawn))
		if len(logs) == 0 {
			continue
		}
		if err := p.kernel.LogProbs(x.scores, Rankings{Documents: x.drawn, Cutoff: len(x.drawn)}, logs); err != nil {
			return err
		}
		n := 0
		for k, d := range ranking {
			if p.classOf[d] == c {
				out[k] += logs[n]
				n++
			}
		}
	}
	return nil
}

// arrivals calls visit for every class, number and rank with the probability that the n-th document of the class, from 0, is at the
// rank, among the first ones.
func (p *Ruled) arrivals(ranks int, visit func(c, n, k int, probability float64)) error {
	var at []int // the rank of a free one
	for k, d := range p.pinned[:ranks] {
		if d < 0 {
			at = append(at, k)
		}
	}
	var x counts
	if err := x.set(p.classes, len(at)); err != nil {
		return err
	}
	reached := make([]float64, x.all)
	reached[0] = 1
	for i := range reached {
		free := x.read(i, p.n)
		if reached[i] == 0 || free == len(at) {
			continue
		}
		p.weigh(free)
		for c, next := range p.next {
			if q := reached[i] * math.Exp(next); q > 0 {
				visit(c, p.n[c], at[free], q)
				reached[x.after(p.n, c)] += q
			}
		}
	}
	return nil
}

// Exposure writes the expected exposure of every document, as [Expectation.Exposure] does. It returns the same errors, and one if
// there are too many combinations of counts for as many ranks as there are discounts.
func (p *Ruled) Exposure(discounts, exposure []float64) error {
	if p.plain != nil {
		return p.Expectation.Exposure(p.plain, discounts, exposure)
	}
	if err := checkLength("exposure", len(exposure), len(p.pinned)); err != nil {
		return err
	}
	discounts = discounts[:min(len(discounts), len(p.pinned))]
	earned := make([][]float64, len(p.classes)) // by the n-th of a class
	for c, x := range p.classes {
		earned[c] = make([]float64, min(len(x.documents), len(discounts)))
	}
	if err := p.arrivals(len(discounts), func(c, n, k int, probability float64) { earned[c][n] += probability * discounts[k] }); err != nil {
		return err
	}
	clear(exposure)
	for k, theta := range discounts {
		if d := p.pinned[k]; d >= 0 {
			exposure[d] = theta
		}
	}
	for c, x := range p.classes {
		own := make([]float64, len(x.documents))
		if err := p.Expectation.Exposure(x.scores, earned[c], own); err != nil {
			return err
		}
		for i, d := range x.documents {
			exposure[d] = own[i]
		}
	}
	return nil
}

// Placements writes P(y_k = d) to out[d·cutoff + k−1], as [Expectation.Placements] does. It returns the errors of [Ruled.Exposure].
func (p *Ruled) Placements(cutoff int, out []float64) error {
	if p.plain != nil {
		return p.Expectation.Placements(p.plain, cutoff, out)
	}
	if err := checkLength("out", len(out), len(p.pinned)*cutoff); err != nil {
		return err
	}
	ranks := min(cutoff, len(p.pinned))
	at := make([][]float64, len(p.classes)) // by number and rank
	for c, x := range p.classes {
		at[c] = make([]float64, min(len(x.documents), ranks)*ranks)
	}
	if err := p.arrivals(ranks, func(c, n, k int, probability float64) { at[c][n*ranks+k] += probability }); err != nil {
		return err
	}
	clear(out)
	for k, d := range p.pinned[:ranks] {
		if d >= 0 {
			out[d*cutoff+k] = 1
		}
	}
	for c, x := range p.classes {
		most := len(at[c]) / max(1, ranks)
		own := make([]float64, len(x.documents)*most)
		if err := p.Expectation.Placements(x.scores, most, own); err != nil {
			return err
		}
		for i, d := range x.documents {
			for n, share := range own[i*most : (i+1)*most] {
				floats.AddScaled(out[d*cutoff:][:ranks], share, at[c][n*ranks:][:ranks])
			}
		}
	}
	return nil
}
