// Package ranker reads and writes model files, and scores with trained models.
//
//	model, err := ranker.Open("runs/fold1/model.npz")
//	ids := model.FeatureIDs()                 // the features of a document, in this order
//	scores, err := model.Score(nil, features) // the scores of the documents of one query, row after row
//	order := ranker.Rank(nil, scores)         // the best document first
//
//	policy := ranker.Policy{Temperature: 2}
//	ranking, logProb, err := policy.Draw(nil, scores, 10, 1)   // a ranking of 10 documents, drawn by the seed 1
//	shown, err := policy.Exposure(ctx, nil, scores, discounts) // the expected exposure of each document
//
// A temperature above 1 gives more variety: without it trained models draw nearly the same ranking every time.
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
