package forest

// Shares divides differences of scores among players by Shapley values, exactly. A player is an input of a forest or several.
//
// In the game of documents x and other, v(S) is the score of a document that has the values of x for the players in S, and the
// ones of other for those that are not (interventional, Lundberg & Lee 2017). A leaf adds its value where S has all players A
// that must be of x for a document to reach it, and none of the players B that must be of other. Of such a leaf each of A has
// (|A|−1)!·|B|!/(|A|+|B|)!, and each of B less than nothing, −|A|!·(|B|−1)!/(|A|+|B|)!. The time is at most proportional to the
// number of nodes (Independent TreeSHAP, Lundberg et al. 2020, supplement).
type Shares struct {
	Values []float64 // by player
	// Pairs has the interaction index of two players, the lower one first (Grabisch & Roubens 1999): the mean of what both add
	// beyond what each adds alone. A leaf visited takes time in proportion to the pairs of A and B. nil: not wanted.
	Pairs map[[2]int]float64

	tree     *Tree
	x, other []float32
	players  []int
	weight   float64
	side     []side // by player
	decided  []int  // players in A or B
}

// A side says whose values a player has.
type side int8

const (
	undecided side = iota
	ofX
	ofOther
)

// Add adds weight times the values of the game of x and other, raw features of two documents. players has the player of each
// input.
func (s *Shares) Add(f *Forest, x, other []float32, players []int, weight float64) {
	s.x, s.other, s.players, s.weight = x, other, players, weight
	if s.side == nil {
		s.side = make([]side, len(s.Values))
	}
	for i := range f.Trees {
		if s.tree = &f.Trees[i]; len(s.tree.Nodes) > 0 {
			s.walk(0, 0, 0, 1)
		}
	}
}

// walk returns what leaves below a node give to each player of A, and to each of B, which have so many players. choose is the
// number of ways to choose A from both.
func (s *Shares) walk(at, a, b int, choose float64) (toA, toB float64) {
	for at >= 0 {
		n := &s.tree.Nodes[at]
		player := s.players[n.Column]
		next, others := n.Right, n.Right
		if n.GoesLeft(s.x[n.Column]) {
			next = n.Left
		}
		if n.GoesLeft(s.other[n.Column]) {
			others = n.Left
		}
		switch {
		case next == others || s.side[player] == ofX:
			at = next
		case s.side[player] == ofOther:
			at = others
		default:
			all := choose * float64(a+b+1)
			s.decided = append(s.decided, player)
			s.side[player] = ofX
			toA, toB = s.walk(next, a+1, b, all/float64(a+1))
			s.Values[player] += toA
			s.side[player] = ofOther
			othersA, othersB := s.walk(others, a, b+1, all/float64(b+1))
			s.Values[player] += othersB
			s.side[player] = undecided
			s.decided = s.decided[:len(s.decided)-1]
			return toA + othersA, toB + othersB
		}
	}
	value := s.weight * s.tree.Leaves[^at] / choose
	if s.Pairs != nil {
		s.pair(value*float64(a+b), float64(a), float64(b))
	}
	return value / max(1, float64(a)), -value / max(1, float64(b)) // without players of A or B, nobody takes these
}

// pair adds the interactions of a leaf: (|A|−2)!·|B|!/(|A|+|B|−1)! of its value to two players of A, |A|!·(|B|−2)!/(|A|+|B|−1)! to
// two of B, and −(|A|−1)!·(|B|−1)!/(|A|+|B|−1)! to one of each.
func (s *Shares) pair(value, a, b float64) {
	for i, first := range s.decided {
		for _, second := range s.decided[:i] {
			share := -value / (a * b)
			switch {
			case s.side[first] != s.side[second]:
			case s.side[first] == ofX:
				share = value / (a * (a - 1))
			default:
				share = value / (b * (b - 1))
			}
			s.Pairs[[2]int{min(first, second), max(first, second)}] += share
		}
	}
}
