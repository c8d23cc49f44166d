package train

import "fmt"

// maxMemory is the most bytes that the weights of a run may take, and that its
// rankings may: beyond it a number is a slip, and would end in the system's killing
// the program.
const maxMemory = 3e9

// checkMemory is an error for a model or for samples that take too much memory of a process, one
// of so many. The inputs of the model are at least one, where they are not known yet.
func (c Config) checkMemory(inputs, ranks int, customScorer bool) error {
	members := float64(max(1, c.Members))
	if !customScorer {
		weights, in := 0., float64(inputs)
		for _, width := range c.Hidden {
			weights += (in + 1) * float64(width)
			in = float64(width)
		}
		if c.Scorer == attentionScorer {
			weights += float64(c.Blocks) * blockWeights(in)
		}
		// Two models, the gradient as ops leave it and of every shard of this process, and two
		// memories of the optimizer, all of float32.
		shards := (c.Shards + ranks - 1) / ranks
		if need := (5 + float64(shards)) * 4 * members * (weights + in + 1); need > maxMemory {
			of := ""
			if shards > 1 {
				of = fmt.Sprintf(" with %d shards", shards)
			}
			return fmt.Errorf("train: hidden layers of %v: a model of %.2g weights takes about %s%s, want %s at most", c.Hidden, members*(weights+in+1), gigabytes(need), of, gigabytes(maxMemory))
		}
	}
	const word = 8
	for _, rankings := range []struct {
		what string
		need float64
		hint string
	}{
		{"samples", word * members * float64(c.Batch) * float64(c.Samples.most()) * float64(c.Cutoff), fmt.Sprintf("rankings of %d ranks for %d queries a step", c.Cutoff, c.Batch)},
		{"evaluation samples", word * float64(c.EvaluationSamples) * float64(c.Cutoff), fmt.Sprintf("rankings of %d ranks", c.Cutoff)},
	} {
		if rankings.need > maxMemory {
			return fmt.Errorf("train: %s: %s take about %s, want %s at most", rankings.what, rankings.hint, gigabytes(rankings.need), gigabytes(maxMemory))
		}
	}
	return nil
}

// blockWeights are those of a block of attention: the layers to and from the heads, two
// dense layers of twice the width between them, and two gains and biases.
func blockWeights(width float64) float64 { return (3+1+2+2)*width*width + (3+1+2+1+4)*width }

func gigabytes(n float64) string { return fmt.Sprintf("%.3g GB", n/1e9) }
