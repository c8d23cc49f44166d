// Package ranker reads and writes model files, and scores with trained models.
//
//	model, err := ranker.Open("runs/fold1/model.npz")
//	ids := model.FeatureIDs()                                // the features of a document, in this order
//	scores, err := model.Score(nil, features)                // of the documents of one query, row after row
//	order := ranker.Rank(nil, scores)                        // the best first
//	ranking, logProb, err := ranker.Draw(nil, scores, 10, 1) // from the policy, by a seed
//	shown, err := ranker.Exposure(nil, scores, discounts)    // its expected exposure
//
// A [Policy] draws at a temperature, above 1 for more variety: trained models draw nearly the
// same ranking every time.
//
// A model file is complete: the kind of the model and its settings, its weights, the transform
// of raw features, their ids and names, the gain of labels, digests of the training queries,
// and the version of plrank that wrote it. It is a NumPy .npz file of float64 arrays, with a
// JSON text as an array of bytes, "header":
//
//	f = numpy.load("model.npz")
//	header = json.loads(bytes(f["header"]))
//
// Files of LightGBM (text), XGBoost (JSON, UBJ) and CatBoost (JSON) are models, too: see [Model.Foreign].
//
// [Read] takes a file from anywhere, such as an embed.FS. This package needs no graphs: it has
// the forward passes of the built-in kinds, and [Register] adds others. Package train writes
// model files.
package ranker
