// Package nn has the models that give every document a score, from its features
// to one number, and the files they are kept in.
//
//	model, err := nn.NewMLP(nn.MLPConfig{Features: 136, Hidden: []int{32, 32}, Activation: ops.Sigmoid, Seed: 1})
//	scores, weights, err := model.Build(x, nn.Train) // x [rows, 136] → scores [rows]
//
// A model owns its weights. It can be put into any number of graphs, which all
// see the same weights: one for training with dropout, others for evaluation
// without it, one for each number of rows. Writing into the weights' memory, as
// an optimizer does, changes all of them at once.
package nn
