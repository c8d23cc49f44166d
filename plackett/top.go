package plackett

// racer is a document with its finishing time, or with another value by which
// the smallest come first.
type racer struct {
	value    float64
	document int
}

// podium keeps the k racers of smallest value, in order; of equal values the
// earlier comer stands first.
type podium struct {
	racers []racer
	places int
}

func (p *podium) reset(places int) {
	p.places = places
	p.racers = grow(p.racers, places)[:0]
}

// full reports whether a racer needs a value below worst to be kept.
func (p *podium) full() bool { return len(p.racers) == p.places }

func (p *podium) worst() float64 { return p.racers[p.places-1].value }

// offer keeps r if it is among the best so far.
func (p *podium) offer(r racer) {
	if !p.full() {
		p.racers = append(p.racers, r)
	} else if r.value >= p.worst() {
		return
	}
	at, end := 0, len(p.racers)-1 // the first place whose value is above r's
	for at < end {
		if mid := (at + end) / 2; p.racers[mid].value > r.value {
			end = mid
		} else {
			at = mid + 1
		}
	}
	copy(p.racers[at+1:], p.racers[at:len(p.racers)-1])
	p.racers[at] = r
}

// likeliest puts the k documents of highest score on the podium, in descending
// order of score, ties by position. The values are −m_d.
func (p *podium) likeliest(scores []float64, k int) {
	p.reset(k)
	for d, m := range scores {
		if !p.full() || -m < p.worst() {
			p.offer(racer{-m, d})
		}
	}
}
