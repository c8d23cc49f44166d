package metrics

import (
	"fmt"
	"testing"
)

// The values of TREC's ndeval with α = 0.5 (as pyndeval 0.0.8 gives them), of documents whose ids fall from row to row; greedy
// rankings have several best documents.
func TestMetricsByIntentsAgreeWithNdeval(t *testing.T) {
	many := Queries{Intents: make([]int, 12*3)} // of 130 intents
	for d := range 12 {
		many.Scores = append(many.Scores, float64(d*7%12))
		for i := range 130 {
			if i*(2*d+3)%29 < d%5 {
				many.Intents[3*d+i/63] |= 1 << (i % 63)
			}
		}
	}
	for _, c := range []struct {
		in   Queries
		want map[string]float64
	}{
		{Queries{Intents: []int{6, 2, 10, 0, 9, 2, 4, 0, 0, 6, 8}, Scores: []float64{90, 97, 99, 93, 100, 91, 98, 92, 94, 95, 96}}, map[string]float64{
			"ERR-IA@5": 0.5915279878971256, "alpha-nDCG@5": 0.8988100183658604, "alpha-nDCG@20": 0.9577307871165235, "ERR-IA@20": 0.6175172342936358}},
		{Queries{Intents: []int{0, 1, 2, 4, 2, 1, 3, 9, 5, 6}, Scores: []float64{96, 94, 97, 91, 100, 93, 99, 95, 98, 92}}, map[string]float64{
			"ERR-IA@5": 0.4198184568835099, "alpha-nDCG@5": 0.681240344128958, "alpha-nDCG@20": 0.8295118638753911, "ERR-IA@20": 0.4762602482697149}},
		{many, map[string]float64{
			"ERR-IA@5": 0.1043564173021705, "alpha-nDCG@5": 0.29472340244941214, "alpha-nDCG@20": 0.5578738049946264, "ERR-IA@20": 0.1611749515874486}},
	} {
		c.in.Labels = make([]float32, len(c.in.Scores))
		for d := range c.in.Scores {
			c.in.DocumentIDs = append(c.in.DocumentIDs, fmt.Sprintf("d%03d", len(c.in.Scores)-d))
		}
		for name, want := range c.want {
			if got, err := mustParse(t, name).PerQuery(c.in); err != nil || !near(got[0], want, 1e-12) {
				t.Errorf("%s of %v is %v, %v; want %v", name, c.in.Intents, got, err, want)
			}
		}
	}
}
