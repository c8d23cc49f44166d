package plackett

import (
	"fmt"
	"math"
)

// Policy is the Plackett–Luce model of one list of documents.
type Policy struct {
	scores  []float64 // m_d
	weights []float64 // e_d = exp(m_d − max)
	max     float64   // max m
	mass    float64   // M_1 = Σ e_d
}

// reset makes p the policy of the log-scores m, which it keeps. A score that is
// NaN or infinite is an error that names its position.
func (p *Policy) reset(scores []float64) error {
	p.scores = scores
	p.weights = grow(p.weights, len(scores))
	p.max = math.Inf(-1)
	for d, m := range scores {
		if m-m != 0 { // NaN or ±Inf
			return &ScoreError{Position: d, Score: m}
		}
		p.max = max(p.max, m)
	}
	p.mass = 0
	for d, m := range scores {
		e := math.Exp(m - p.max)
		p.weights[d] = e
		p.mass += e
	}
	return nil
}

// ScoreError tells of a score that is NaN or infinite.
type ScoreError struct {
	Position int // of the document in its list, from 0
	Score    float64
}

func (e *ScoreError) Error() string {
	return fmt.Sprintf("the score of document %d is %v: scores must be finite", e.Position, e.Score)
}

// grow returns a slice of length n, with the backing of s where that is large enough.
// The contents are not defined.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n+n/4)[:n]
	}
	return s[:n]
}
