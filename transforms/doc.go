// Package transforms maps raw features of documents to the inputs of a model: by a [Transform], which [Fit] fits on
// training data, and which a model file keeps. It reads no files; package datasets fits a transform on a dataset,
// and applies it when queries are packed into a batch.
package transforms
