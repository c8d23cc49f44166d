// Package ranker has model files, and trained models in use.
//
//	model, err := ranker.Open("runs/fold1/model.npz")
//	ids := model.FeatureIDs() // the features of a document, in this order
//
// A model file is complete: the kind of model and its settings, its weights, the
// transform of raw features, the ids and names of these, the gain of labels, and the
// version of plrank that wrote it. It is a NumPy .npz file of float64 arrays beside
// "header", a JSON text as an array of bytes:
//
//	f = numpy.load("model.npz")
//	header = json.loads(bytes(f["header"]))
//
// [Read] takes a file from anywhere, such as from an embed.FS. This package knows no
// graphs. Package train writes model files, and its Ranker runs models of any kind.
package ranker
