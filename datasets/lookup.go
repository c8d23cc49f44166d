package datasets

import "math"

// A lookup is the function of one column of a quantile part: linear between knots,
// beyond them the score of the last one. A table by the leading bits of a value, 16 for
// every power of two, tells where among the knots to look.
type lookup struct {
	start  []uint8  // by key >> lookupShift: the piece of the least value with those bits
	keys   []uint32 // where each piece begins; behind them some above all
	step   int      // half of the number of pieces to choose from, a power of two, 2 or more
	pieces []piece  // below the first knot, and from each knot on
}

type piece struct {
	knot, width float64
	score, rise float32
}

const lookupShift = 19

// orderedKey is a number that compares as x does; x must not be −0.
func orderedKey(x float32) uint32 {
	b := math.Float32bits(x)
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

func newLookup(knots, scores []float32) lookup {
	last := len(knots) - 1
	l := lookup{
		keys:   []uint32{0},
		pieces: []piece{{width: math.Inf(1), score: scores[0]}},
		start:  make([]uint8, 1<<(32-lookupShift)),
		step:   2,
	}
	for k, v := range knots {
		l.keys = append(l.keys, orderedKey(v+0))
		p := piece{knot: float64(v), width: math.Inf(1), score: scores[k]}
		if k < last {
			p.width, p.rise = float64(knots[k+1])-float64(v), scores[k+1]-scores[k]
		}
		l.pieces = append(l.pieces, p)
	}
	filled, before := 0, 0 // entries, and the piece of the last of them
	for k := range l.pieces {
		first := 0 // entry that begins in this piece or a later one
		if k > 0 {
			first = int((uint64(l.keys[k]) + 1<<lookupShift - 1) >> lookupShift)
		}
		for ; filled < first; filled++ {
			l.start[filled] = uint8(k - 1)
		}
		// From here on piece k is the least, and behind the entry before are all from its own to k.
		if filled > 0 {
			before = int(l.start[filled-1])
		}
		for k-before > 2*l.step-1 {
			l.step *= 2
		}
	}
	for ; filled < len(l.start); filled++ {
		l.start[filled] = uint8(last + 1)
	}
	for range 2 * l.step {
		l.keys = append(l.keys, math.MaxUint32)
	}
	return l
}

// column maps a column of rows to one of dst. It has no branches on values, which could
// not be predicted, but for those that are not finite.
func (l *lookup) column(dst []float32, stride int, rows []float32, inputs int) {
	start, keys, pieces := l.start, l.keys, l.pieces
	to := 0
	for at := 0; at < len(rows); at += inputs {
		x := rows[at] + 0 // no −0
		if x-x != 0 {
			if x = finite(x); x != x {
				dst[to] = 0
				to += stride
				continue
			}
		}
		key := orderedKey(x)
		k := int(start[key>>lookupShift])
		for step := l.step; step > 2; step >>= 1 {
			k += step & -atMost(keys[k+step], key)
		}
		k += 2 & -atMost(keys[k+2], key)
		k += atMost(keys[k+1], key)
		p := &pieces[k]
		dst[to] = p.score + float32((float64(x)-p.knot)/p.width)*p.rise
		to += stride
	}
}

// atMost is 1 where a ≤ b, else 0.
func atMost(a, b uint32) int {
	if a <= b {
		return 1
	}
	return 0
}

// lookups are those of a quantile part, nil for other parts.
func lookups(p *TransformPart) []lookup {
	if p.Name != "quantile" {
		return nil
	}
	all := make([]lookup, len(p.Knots))
	for i := range all {
		all[i] = newLookup(p.Knots[i], p.Scores[i])
	}
	return all
}

func applyQuantile(p *TransformPart, dst []float32, stride int, rows []float32, inputs int, columns []int) {
	all := p.lookups
	if all == nil { // not fitted, and not validated
		all = lookups(p)
	}
	const worthwhile = 8
	if n := len(rows) / inputs; wide && n >= worthwhile {
		for i, c := range columns {
			l := &all[i]
			quantileColumn(&dst[i], stride, &rows[c], inputs, n, &l.start[0], &l.keys[0], &l.pieces[0], l.step)
		}
		return
	}
	for i, c := range columns {
		all[i].column(dst[i:], stride, rows[c:], inputs)
	}
}
