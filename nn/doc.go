// Package nn has the models that give every document a score, as Gorgonia graphs.
//
//	model, err := nn.NewMLP(nn.MLPConfig{Features: 136, Hidden: []int{32, 32}, Activation: ops.Sigmoid, Seed: 1})
//	weights := model.Weights().Nodes(graph)
//	scores, err := model.Build(nn.Input{Features: x, Offsets: offsets, Weights: weights}, nn.Train) // x [rows, 136] → scores [rows]
//	grads, err := gorgonia.Grad(loss, weights...)
//
// [MLP] scores every document by itself, [Transformer] sees all documents of a query.
//
// A model owns its weights. It can be put into any number of graphs, which all
// see the same weights: one for training with dropout, others for evaluation
// without it, one for each number of rows. Writing into the weights' memory, as
// an optimizer does, changes all of them at once.
//
// A model of one's own is a [Scorer]: it makes its [Weights], and builds scores from
// an [Input]. Package train trains it like the built-in ones. [Register] makes its kind
// known, so that it can be read from model files.
package nn
