// Package model describes the built-in kinds of models, for all that use them: the settings
// that a model file has, with their limits ([Settings]); the layers and the arrays of weights
// that follow from these ([Member], [Array]); and the scores, on plain slices ([Pass]).
//
// Package nn builds graphs from the description, package ranker scores with it and writes it in
// ONNX format. Neither imports the other: [Register] keeps the one table of kinds, built in and
// custom.
package model
