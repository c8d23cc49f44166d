package serve

import (
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/plrank/plrank/ranker"
)

const (
	driftWindow = 10_000 // requests that are compared with the training documents
	driftEvery  = 1_000  // requests between two looks
	leastIndex  = 0.01   // see ranker.Drift.Shifts
)

// A driftWatch compares one document of each request with those that the model was trained on. The zero value is ready.
type driftWatch struct {
	mu    sync.Mutex
	drift *ranker.Drift
	n     int
}

// watchDrift counts a request to a model, and sets the metrics of drift now and then. Models without a reference have none.
func (s *Service) watchDrift(model *served, in *request, rows *rows, scores []float64) {
	w := &model.drift
	if model.File().Reference == nil || in.count == 0 {
		return
	}
	d := rand.IntN(in.count)
	group := rand.Uint64()
	if in.query != "" {
		h := fnv.New64a()
		_, _ = h.Write([]byte(in.query))
		group = h.Sum64()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.drift == nil || w.n == driftWindow {
		w.drift, _ = ranker.NewDrift(model.Model) // which has a reference
		w.n = 0
	}
	w.drift.Add(group, time.Now(), rows.row(d), scores[d:d+1])
	if w.n++; w.n%driftEvery == 0 {
		s.measures.drifted(model, w.drift.Shifts(leastIndex))
	}
}
