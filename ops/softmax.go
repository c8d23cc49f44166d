package ops

import (
	"math"

	G "gorgonia.org/gorgonia"
)

// LogSoftmax is the logarithm of the softmax of the scores of every query,
//
//	log p_d = m_d − log Σ_{d'} exp m_{d'},
//
// a node [rows], 0 in padding: the log-probability of the document to be placed
// first. It is differentiable in the scores. Accurate for any finite scores; others
// are an error of the run that names the row.
func LogSoftmax(l Lists) (*G.Node, error) {
	if err := l.checked("LogSoftmax"); err != nil {
		return nil, err
	}
	f := &listFunc{
		name: "LogSoftmax", do: func(l list, _ vectors, out numbers) error {
			logSum, err := l.logSum()
			for d, m := range l.scores {
				out.set(l.from+d, m-logSum)
			}
			return err
		},
		back: &listFunc{name: "LogSoftmaxDiff", do: func(l list, in vectors, out numbers) error {
			logSum, err := l.logSum()
			grad, sum := in.last(), 0.0
			for d := range l.scores {
				sum += grad.at(l.from + d)
			}
			for d, m := range l.scores {
				out.set(l.from+d, grad.at(l.from+d)-sum*math.Exp(m-logSum))
			}
			return err
		}},
	}
	return f.apply(l)
}

// logSum is log Σ exp m.
func (l list) logSum() (float64, error) {
	if err := l.finite(); err != nil {
		return 0, err
	}
	largest, sum := math.Inf(-1), 0.0
	for _, m := range l.scores {
		largest = max(largest, m)
	}
	for _, m := range l.scores {
		sum += math.Exp(m - largest)
	}
	return largest + math.Log(sum), nil
}
