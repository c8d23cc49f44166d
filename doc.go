// Package plrank is the overview of plrank: learning to rank with Plackett–Luce models, for
// Go, on Gorgonia. It exports nothing; its examples show the whole way.
//
// plrank trains models that rank the results of search and recommendation. A Plackett–Luce
// policy draws a ranking from scores by repeated softmax choice without replacement. The metric
// that such rankings earn on average (DCG, NDCG, precision, any weights by rank) and the
// exposure that they give to documents have gradients, and plrank follows them: exactly, or
// from sampled rankings by PL-Rank (Oosterhuis, SIGIR 2021) and an estimator with less
// variance, PL-Rank-RB.
//
// # Use
//
// From the command line:
//
//	go install github.com/plrank/plrank/cmd/plrank@latest
//	plrank train -data MQ2008/Fold1 -out runs/fold1
//	plrank evaluate -model runs/fold1/model.npz -data MQ2008/Fold1/test.txt
//
// In a Gorgonia graph, from scores to a gradient:
//
//	lists := ops.Lists{Scores: scores, Offsets: offsets}                  // documents, packed by query
//	value, err := ops.ExpectedMetric(lists, gains, metrics.Discounts(10)) // E[DCG@10] of every query
//
// In a program that serves a trained model, without Gorgonia:
//
//	model, err := ranker.Open("runs/fold1/model.npz")
//	scores, err := model.Score(nil, features) // []float32, the features of one document after another
//
// # Packages
//
// Data and measures:
//   - [github.com/plrank/plrank/datasets] reads LETOR files, tables and others, and packs
//     queries into batches; [github.com/plrank/plrank/datasets/parquet] adds Parquet by import.
//   - [github.com/plrank/plrank/transforms] makes inputs of raw features.
//   - [github.com/plrank/plrank/metrics] has measures of rankings, policies and exposure, and
//     tests of differences.
//   - [github.com/plrank/plrank/clicks] estimates position bias, the value of policies and
//     gains from logs of clicks.
//
// Training:
//   - [github.com/plrank/plrank/ops] has the Gorgonia ops: expected metrics, exposure, sampled
//     rankings.
//   - [github.com/plrank/plrank/losses] makes objectives of them, and has the usual losses of
//     learning to rank.
//   - [github.com/plrank/plrank/nn] has scoring models: networks, and transformers that see
//     the whole query.
//   - [github.com/plrank/plrank/train] is the training loop.
//
// Trained models:
//   - [github.com/plrank/plrank/ranker] reads model files, scores, and draws rankings.
//   - [github.com/plrank/plrank/serve] serves them over HTTP.
//
// And:
//   - [github.com/plrank/plrank/plackett] has the numbers on plain slices, for any framework.
//   - [github.com/plrank/plrank/judges] estimates what people would measure, from the labels of a language model and a few of
//     theirs.
//   - [github.com/plrank/plrank/fusion] learns to combine the rankings of several searches.
//   - [github.com/plrank/plrank/worth] fits Plackett–Luce models to observed rankings.
//   - [github.com/plrank/plrank/viz] draws tables, curves and rankings.
//
// # Documents are packed rows
//
// Everywhere in plrank the documents of several queries stand one after another: query q has the
// rows from offsets[q] up to offsets[q+1]. Rows past the last offset are padding.
package plrank
