// Package op makes Gorgonia ops of plain functions on slices. A [Func] is a function
// of tensors; a [ListFunc] is one that works query by query on packed lists. Either
// says what it computes and what its derivative is computed from, and gets from here
// what Gorgonia asks of an op: types, shapes, hashes, memory, and gradients on both
// machines, as often as they are asked for.
package op
