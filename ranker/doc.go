// Package ranker has model files, and trained models in use.
//
//	model, err := ranker.Open("runs/fold1/model.npz")
//	ids := model.FeatureIDs()                                // the features of a document, in this order
//	scores, err := model.Score(nil, features)                // of the documents of one query
//	order := ranker.Rank(nil, scores)                        // the best first
//	ranking, logProb, err := ranker.Draw(nil, scores, 10, 1) // from the policy, by a seed
//	shown, err := ranker.Exposure(nil, scores, discounts)    // its expected exposure
//
// A [Policy] draws at a temperature: that of a trained model is sharp.
//
// A model file is complete: the kind of model and its settings, its weights, the
// transform of raw features, the ids and names of these, the gain of labels, digests of the
// queries that it was trained on, and the version of plrank that wrote it. It is a NumPy .npz file of float64 arrays beside
// "header", a JSON text as an array of bytes:
//
//	f = numpy.load("model.npz")
//	header = json.loads(bytes(f["header"]))
//
// [Read] takes a file from anywhere, such as from an embed.FS. This package knows no
// graphs: it has the forward pass of the built-in kind, and takes others by [Register].
// Package train writes model files.
package ranker
