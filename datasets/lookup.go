package datasets

import (
	"encoding/json"
	"math"
)

// A lookup is the function of one column of a quantile part: linear between knots,
// beyond them the score of the last one. A table by the leading bits of a value tells
// where among the knots to look.
type lookup struct {
	first, last uint32   // keys of the outermost knots
	shift       uint     // (key − first) >> shift is the entry of start
	start       []uint8  // the last knot that is not above any value of the entry
	step        int      // half of the number of knots to choose from then, a power of two; 0: none
	keys        []uint32 // of the knots, and behind them some above all
	pieces      []piece  // from each knot on
}

type piece struct {
	knot, width float64
	score, rise float32
}

// lookupBits is the size of a table: 2 to this power entries at most.
const lookupBits = 10

// orderedKey is a number that compares as x does; −0 must not be given.
func orderedKey(x float32) uint32 {
	b := math.Float32bits(x)
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

func fromOrderedKey(key uint32) float32 {
	return math.Float32frombits(key ^ (uint32(int32(^key)>>31) | 1<<31))
}

func newLookup(knots, scores []float32) lookup {
	l := lookup{}
	last := len(knots) - 1
	for k, v := range knots {
		l.keys = append(l.keys, orderedKey(v+0))
		p := piece{knot: float64(v), width: 1, score: scores[k]}
		if k < last {
			p.width, p.rise = float64(knots[k+1])-float64(v), scores[k+1]-scores[k]
		}
		l.pieces = append(l.pieces, p)
	}
	l.first, l.last = l.keys[0], l.keys[last]
	for (l.last-l.first)>>l.shift >= 1<<lookupBits {
		l.shift++
	}
	at, most := 0, 0
	for entry := uint32(0); entry <= (l.last-l.first)>>l.shift; entry++ {
		from := l.first + entry<<l.shift
		for at < last && l.keys[at+1] <= from {
			at++
		}
		l.start = append(l.start, uint8(at))
		end := at
		for end < last && uint64(l.keys[end+1]-l.first) < uint64(entry+1)<<l.shift {
			end++
		}
		most = max(most, end-at)
	}
	for reach := 0; reach < most; reach = 2*reach + 1 {
		l.step = reach + 1
	}
	for range 2 * l.step {
		l.keys = append(l.keys, math.MaxUint32)
	}
	return l
}

// column maps a column of rows to one of dst.
func (l *lookup) column(dst []float32, stride int, rows []float32, inputs int) {
	to := 0
	for at := 0; at < len(rows); at += inputs {
		x := rows[at]
		key := orderedKey(x + 0) // no −0
		key = min(max(key, l.first), l.last)
		k := int(l.start[(key-l.first)>>l.shift])
		for step := l.step; step > 0; step >>= 1 { // without branches, which could not be predicted
			above := 0
			if l.keys[k+step] <= key {
				above = 1
			}
			k += step & -above
		}
		p := &l.pieces[k]
		y := p.score + float32((float64(fromOrderedKey(key))-p.knot)/p.width)*p.rise
		if x != x {
			y = 0
		}
		dst[to] = y
		to += stride
	}
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

// UnmarshalJSON reads a part and checks its knots.
func (p *TransformPart) UnmarshalJSON(text []byte) error {
	type plain TransformPart // without this method
	if err := json.Unmarshal(text, (*plain)(p)); err != nil {
		return err
	}
	if p.Name == "quantile" && p.validateQuantile(len(p.Knots)) == nil { // else Validate tells
		p.lookups = lookups(p)
	}
	return nil
}

func applyQuantile(p *TransformPart, dst []float32, stride int, rows []float32, inputs int, columns []int) {
	all := p.lookups
	if all == nil { // a part that was put together by hand
		all = lookups(p)
	}
	for i, c := range columns {
		all[i].column(dst[i:], stride, rows[c:], inputs)
	}
}
