package variance

import (
	"math"
	"math/rand/v2"
)

// Normal draws n lists of documents whose log-scores are normal with standard
// deviation sd and whose labels, independent of the scores, have the frequencies of
// MSLR-WEB30K, .515, .325, .134, .018 and .008 for 0 to 4; gains are 2^label − 1.
// It is a pure function of its arguments.
func Normal(n, documents int, sd float64, seed uint64) []List {
	lists := make([]List, n)
	for i := range lists {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		l := List{Scores: make([]float64, documents), Gains: make([]float64, documents)}
		for d := range documents {
			l.Scores[d] = sd * random.NormFloat64()
			l.Gains[d] = math.Exp2(drawLabel(random.Float64())) - 1
		}
		lists[i] = l
	}
	return lists
}

// drawLabel turns a number that is uniform in [0, 1) into a label.
func drawLabel(u float64) float64 {
	label := 0.0
	for _, below := range []float64{.515, .84, .974, .992} {
		if u >= below {
			label++
		}
	}
	return label
}

// Shuffle puts the documents of every list in a random order, which depends on the
// seed and the position of the list: then [Head] gives random parts of a list, each
// of them with all documents of the smaller ones.
func Shuffle(lists []List, seed uint64) []List {
	shuffled := make([]List, len(lists))
	for i, l := range lists {
		order := rand.New(rand.NewPCG(seed, uint64(i))).Perm(len(l.Scores))
		s := List{Scores: make([]float64, len(order)), Gains: make([]float64, len(order))}
		for to, from := range order {
			s.Scores[to], s.Gains[to] = l.Scores[from], l.Gains[from]
		}
		shuffled[i] = s
	}
	return shuffled
}

// Head keeps the first documents of every list, all of a list that has no more.
func Head(lists []List, documents int) []List {
	heads := make([]List, len(lists))
	for i, l := range lists {
		n := min(documents, len(l.Scores))
		heads[i] = List{Scores: l.Scores[:n], Gains: l.Gains[:n]}
	}
	return heads
}
