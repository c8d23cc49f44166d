// Package nn has models that score documents, as Gorgonia graphs.
//
//	model, err := nn.NewMLP(nn.MLPConfig{Features: 136, Hidden: []int{32, 32}, Activation: ops.Sigmoid, Seed: 1})
//	weights := model.Weights().Nodes(graph)
//	scores, err := model.Build(nn.Input{Features: x, Offsets: offsets, Weights: weights}, nn.Train) // x [rows, 136] → scores [rows]
//	grads, err := gorgonia.Grad(loss, weights...)
//
// [MLP] scores every document by itself, [Transformer] sees all documents of a query.
//
// A model owns its weights, and all graphs that it is built in share them: one for training
// with dropout, others for evaluation without it, one for each number of rows. Writing into
// the memory of the weights, as an optimizer does, changes all of them at once.
//
// A custom model is a [Scorer]: it makes its [Weights], and builds scores from an [Input].
// Package train trains it like the built-in ones. [Register] makes its kind known, so that it
// can be read from model files.
package nn
