package train

import (
	"fmt"
	"math"

	"github.com/plrank/plrank/train/internal/graph"
)

// clipping is the hook of Config.Clip: a gradient whose norm is larger is scaled down to it; 0:
// never. A gradient that is not finite is an error.
type clipping struct {
	idle
	most float64
}

func (c *clipping) gradient(s *step) error {
	if c.most > 0 || !allFinite(s.gradient) {
		if _, err := clip(s.gradient, c.most); err != nil {
			return graph.Unsound(err)
		}
	}
	return nil
}

// clip scales the gradient down to the norm given, 0: none, and gives the norm
// it had. A norm that is not finite is an error.
func clip(g []float32, most float64) (float64, error) {
	var squares float64
	for _, v := range g {
		squares += float64(v) * float64(v)
	}
	norm := math.Sqrt(squares)
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return norm, fmt.Errorf("the norm of the gradient is %v", norm)
	}
	if most > 0 && norm > most {
		for i := range g {
			g[i] *= float32(most / norm)
		}
	}
	return norm, nil
}
