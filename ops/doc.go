// Package ops has Gorgonia ops for learning to rank with Plackett–Luce models:
// sampled rankings, the PL-Rank estimators, expected exposure, log-probabilities
// of rankings, and the fused dense layer that the scoring models are made of.
//
// Lists of documents are packed row after row, see [Lists]. All ops work on
// float32 and float64 nodes, with the tape machine and symbolic Grad as well as
// with the Lisp machine; the numbers in between are float64.
package ops
