// Package op makes Gorgonia ops of plain functions on slices. A [Func] is a function
// of tensors; a [ListFunc] works query by query on packed lists. Either names its inputs,
// its result and its derivative, and becomes an op with all that Gorgonia needs: types,
// shapes, hashes, memory, and gradients on both machines, as often as they are asked for.
package op
