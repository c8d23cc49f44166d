// Package ops has Gorgonia ops for learning to rank with Plackett–Luce models. Lists of
// documents are packed row after row, see [Lists].
//
// Expected metrics, with their gradients:
//   - [ExpectedMetric] is exact.
//   - [ExpectedCascade] and [ExpectedAveragePrecision] do the same for metrics in which the documents above
//     count: ERR, reciprocal rank, success, α-nDCG, and average precision.
//   - [ExpectedSimilarity] is the similarity of the documents shown, for diversity.
//   - [PLRank1], [PLRank2], [PLRankRB] and [PLRankBy] estimate it from sampled rankings.
//   - [RewardFunc] estimates the expectation of any reward of rankings.
//
// Expected exposure, for fairness and other functions of it:
//   - [ExpectedExposure] is exact, and so is [ExpectedCascadeExposure], for users who may stop above a document.
//   - [Exposure] estimates it from sampled rankings.
//
// Rankings and their probabilities:
//   - [Rankings] draws rankings from the policy, and [Gumbel] the noise by which they are drawn; a [Sampler]
//     says how many, and from which seed. [IdealRankings] ranks by gain.
//   - [LogProbs] is log π of rankings, [LogSoftmax] of the first document.
//
// For custom losses:
//   - [SumOverDocuments] and [MeanOverQueries] go from documents to queries; [Ranks] gives ranks, for weights by rank.
//
// For scoring models:
//   - [Dense] is a fused layer with an [Activation],
//     [PiecewiseLinear] one whose inputs are positions in bins, [SparseDense] one whose inputs are mostly 0;
//     [Drop] is dropout, [Embed] looks up codes in tables, [LayerNorm] is layer normalisation, and by [Attention] the documents
//     of a query see each other.
//
// All ops work on float32 and float64 nodes, with the tape machine and symbolic Grad,
// asked for as often as needed, as well as with the Lisp machine; the numbers in between
// are float64. Gradients cost time only where they are asked for. An op keeps the memory of its
// result: the next run of the graph overwrites what Node.Value or gorgonia.Read returned, so copy what you
// keep. Invalid nodes, settings and numbers give an error when the graph is built if that is possible, and
// otherwise from the run, with the query and the row.
package ops
