package nn_test

import (
	"strings"
	"testing"

	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
)

// Hidden layers see the columns before the codes and the vectors of these; the vectors of
// codes 0 and 1 begin as zeros, the others do not, and all networks have the same tables.
func TestEmbeddingsReplaceCodes(t *testing.T) {
	c := nn.MLPConfig{Features: 5, Embeddings: []nn.Embedding{{Codes: 7, Width: 3}, {Codes: 2, Width: 4}}, Hidden: []int{6}, Activation: ops.ReLU, Members: 2, Seed: 1}
	m, err := nn.NewMLP(c)
	if err != nil {
		t.Fatal(err)
	}
	transformer, err := nn.NewTransformer(nn.TransformerConfig{MLPConfig: c, Blocks: 1})
	if err != nil {
		t.Fatal(err)
	}
	for kind, weights := range map[string]*nn.Weights{"mlp": m.Weights(), "attention": transformer.Weights()} {
		shapes := map[string][]int{}
		for _, a := range weights.Arrays() {
			shapes[a.Name] = a.Shape
		}
		if got := shapes["m1.w0"]; got[0] != 3+3+4 {
			t.Errorf("%s: the first layer has %d inputs", kind, got[0])
		}
		if got := shapes["embedding0"]; len(got) != 2 || got[0] != 7 || got[1] != 3 {
			t.Errorf("%s: a table of shape %v", kind, got)
		}
		for i, v := range weights.Get("embedding0") {
			if (v == 0) != (i < 2*3) {
				t.Errorf("%s: entry %d of the table begins as %v", kind, i, v)
			}
		}
	}
	if got := m.String(); got != "2 networks of hidden 6 (relu), embeddings 7×3, 2×4" {
		t.Errorf("in words %q", got)
	}
	for want, change := range map[string]func(*nn.MLPConfig){
		"embedding 1 has 0 codes":     func(c *nn.MLPConfig) { c.Embeddings[1].Codes = 0 },
		"a width of -1":               func(c *nn.MLPConfig) { c.Embeddings[1].Width = -1 },
		"2 embeddings for 1 features": func(c *nn.MLPConfig) { c.Features = 1 },
	} {
		bad := c
		bad.Embeddings = append([]nn.Embedding{}, c.Embeddings...)
		change(&bad)
		if _, err := nn.NewMLP(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	for codes, want := range map[int]int{2: 2, 3: 2, 9: 3, 10: 4, 256: 16, 100000: 16} {
		if got := nn.EmbeddingWidth(codes); got != want {
			t.Errorf("width %d for %d codes, want %d", got, codes, want)
		}
	}
}
