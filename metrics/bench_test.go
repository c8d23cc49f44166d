package metrics

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchmarkLists are queries of one length with normal scores.
func benchmarkLists(queries, documents int) Queries {
	rng := rand.New(rand.NewPCG(1, 2))
	l := Queries{Offsets: []int{0}}
	for range queries {
		for range documents {
			l.Scores = append(l.Scores, rng.NormFloat64())
			l.Labels = append(l.Labels, float32(rng.IntN(5)))
		}
		l.Offsets = append(l.Offsets, len(l.Scores))
	}
	return l
}

func BenchmarkPerQuery(b *testing.B) {
	for _, documents := range []int{24, 125, 1000} {
		for _, name := range []string{"ndcg@5", "map"} {
			l, m := benchmarkLists(1000, documents), mustParse(b, name)
			b.Run(fmt.Sprintf("%s/1000x%d", name, documents), func(b *testing.B) {
				for b.Loop() {
					if _, err := m.PerQuery(l); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkExpected(b *testing.B) {
	for _, documents := range []int{24, 125, 1000} {
		for _, name := range []string{"dcg@5", "map@10"} {
			l, m := benchmarkLists(5000, documents), mustParse(b, name)
			b.Run(fmt.Sprintf("%s/5000x%d,100samples", name, documents), func(b *testing.B) {
				for b.Loop() {
					if _, err := m.Expected().PerQuery(l); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
