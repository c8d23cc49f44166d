package train

import "github.com/plrank/plrank/nn"

// network is a built-in model of these inputs, of any scorer.
func (c Config) network(inputs nn.MLPConfig) nn.TransformerConfig {
	inputs.Hidden, inputs.Activation, inputs.Dropout, inputs.Seed = c.Hidden, c.Activation, c.Dropout, c.Seed
	inputs.Members = c.Members
	return nn.TransformerConfig{MLPConfig: inputs, Blocks: c.Blocks, Heads: c.Heads}
}

// weights is the number of weights of a built-in model of these inputs.
func (c Config) weights(inputs nn.MLPConfig) (float64, error) {
	network := c.network(inputs)
	if c.Scorer == attentionScorer {
		return network.Size()
	}
	return network.MLPConfig.Size()
}
