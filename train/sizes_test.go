package train

import (
	"strings"
	"testing"
)

// A query that a loss has no memory for is refused before training, by name.
func TestQueryTooLongForItsLossIsAnErrorBeforeTraining(t *testing.T) {
	long := small()
	d := long.Train
	from := d.Offsets[3]
	for range 5001 {
		d.Features = append(d.Features, make([]float32, d.Width())...)
		d.Labels = append(d.Labels, 0)
	}
	for q := 4; q < len(d.Offsets); q++ {
		d.Offsets[q] += 5001
	}
	want := "query 3 has 50"
	if from == d.Offsets[4] {
		t.Fatal("the query is empty")
	}
	c := busy("sgd")
	c.Loss = "neuralndcg"
	if _, err := New(c.Plain(), Custom{}, long); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "takes 5000 at most: use another loss, such as pirank") {
		t.Errorf("error %v, want one with %q", err, want)
	}
	c.Loss = "pirank"
	if _, err := New(c.Plain(), Custom{}, long); err != nil {
		t.Error(err)
	}
}
