// Package datasets brings learning-to-rank data from files to the inputs of a
// model: it reads queries of documents with graded relevance (LETOR text and its
// relatives), splits them, maps raw features to model inputs, and packs queries
// into batches. It also makes a synthetic collection to try things on. It knows
// no graph and no model.
//
// Everything is float32 in flat slices, the documents of all queries one after
// another; see [Dataset]. Only raw features are kept in memory: a [Transform] is
// applied as a [Batch] is packed.
package datasets
