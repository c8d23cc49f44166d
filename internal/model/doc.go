// Package model describes the built-in kinds of models, for all that use them: the settings
// that a model file has, with their limits ([Settings]); the layers and the arrays of weights
// that follow from these ([Member], [Array]); and the scores, on plain slices ([Pass]).
//
// Package nn builds graphs from the description, package ranker scores with it and writes it in
// ONNX format. Neither knows the other: what a program knows of a kind, built in or custom,
// stands in the one table of [Register].
package model
