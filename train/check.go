package train

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/network"
)

// parsed is a configuration with its names looked up.
type parsed struct {
	config    Config // with the names as they are written
	parts     Custom
	group     mpi.Group
	schedule  schedule
	loss      *trainingLoss
	evaluator *evaluator
}

// parse looks up names.
func (c Config) parse(parts Custom) (*parsed, error) {
	c = parts.naming(c)
	custom := map[string]bool{"loss": parts.Loss != nil, "optimizer": parts.Optimizer != nil, "scorer": parts.Scorer != nil}
	for _, s := range c.Settings() {
		if !custom[s.Flag] {
			if err := s.Check(); err != nil {
				return nil, err
			}
		}
	}
	if i := slices.Index(parts.Hooks, nil); i >= 0 {
		return nil, fmt.Errorf("train: Custom.Hooks[%d] is nil", i)
	}
	p := &parsed{config: c, parts: parts, group: mpi.GroupOf(parts.Processes)}
	var err error
	if p.loss, err = newTrainingLoss(c, parts); err != nil {
		return nil, err
	}
	if p.evaluator, err = newEvaluator(&p.config, p.loss, parts.Metrics, p.group); err != nil {
		return nil, err
	}
	if p.schedule, err = parseSchedule(c.Schedule); err != nil {
		return nil, err
	}
	if ranks := p.group.Size(); ranks > c.Shards {
		return nil, fmt.Errorf("train: %d ranks for %d shards: want as many shards at least", ranks, c.Shards)
	}
	return p, p.checkMemory(nn.MLPConfig{Features: 1}, 1)
}

// Check reports the first setting that makes no sense. What depends on the data,
// such as the transform, is checked by [New].
func (c Config) Check() error {
	_, err := c.parse(Custom{})
	return err
}

// checkData returns an error if documents cannot be measured.
func (p *parsed) checkData(d *datasets.Dataset) error {
	if err := d.Validate(); err != nil {
		return err
	}
	p.evaluator.takeRanks(d)
	return cmp.Or(p.evaluator.checkColumns(d), p.evaluator.takeGrade(d))
}

// maxMemory is the most bytes that the weights of a run may take, and that its rankings may: beyond
// it a number is a slip, or would end in the system's killing the program.
const maxMemory = 3e9

// checkMemory returns an error if the model, or the rankings drawn for the queries of a step, take too much memory of this
// process. Before the data are known, it is called for one input and one query; the ranks, where every one counts, are
// none yet.
func (p *parsed) checkMemory(inputs nn.MLPConfig, queries int) error {
	c := p.config
	if p.parts.Scorer == nil {
		weights, err := c.weights(inputs)
		if err != nil {
			return err
		}
		shards := (c.Shards + p.group.Size() - 1) / p.group.Size()
		if need := 4 * p.copies(shards) * weights; need > maxMemory {
			with := ""
			if shards > 1 {
				with = fmt.Sprintf(" with %d shards", shards)
			}
			return fmt.Errorf("train: hidden layers of %v: a model of %.2g weights takes about %s%s, want %s at most", c.Hidden, weights,
				gigabytes(need), with, gigabytes(maxMemory))
		}
	}
	ranks := len(p.loss.discounts.Discounts)
	count := float64(max(1, c.Members)) * float64(queries) * float64(p.loss.rankings())
	if need := 8 * count * float64(ranks); need > maxMemory {
		return fmt.Errorf("train: samples: rankings of %d ranks for %d queries a step take about %s, want %s at most",
			ranks, queries, gigabytes(need), gigabytes(maxMemory))
	}
	return nil
}

// copies returns how many times a run with checkpoints has as many numbers of float32 in memory as there are weights.
func (p *parsed) copies(shards int) float64 {
	c := p.config
	state := 2 + 2 // the weights, the best ones, and at most two of the optimizer, which a checkpoint copies
	if make := network.Optimizers[c.Optimizer]; make != nil {
		state = 2 + len(make(0, 0, nil).State())
	}
	if c.Average != 0 {
		state++
	}
	if c.Members > 1 { // the networks that are kept
		state++
	}
	const (
		ofOps     = 4 // the gradient as they leave it, and weights packed for products, with some room
		ofModel   = 5 // its file in float64, the weights as it has them, and packed
		reduction = 4 // of gradients, to other ranks and from them
	)
	n := 2*state + shards + ofOps + ofModel
	if p.group.Size() > 1 {
		n += reduction
	}
	return float64(n)
}

func gigabytes(n float64) string { return fmt.Sprintf("%.3g GB", n/1e9) }

// Written returns c with its names as files and tables have them, such as ndcg@5 for NDCG@5. It returns an error if a setting is wrong.
func (c Config) Written() (Config, error) {
	p, err := c.parse(Custom{})
	if err != nil {
		return c, err
	}
	return p.config, nil
}

// Measures returns the metrics that a run reports.
func (c Config) Measures() ([]metrics.Measure, error) {
	p, err := c.parse(Custom{})
	if err != nil {
		return nil, err
	}
	return p.evaluator.measures, nil
}
