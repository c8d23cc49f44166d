// Package datasets brings learning-to-rank data from files to the inputs of a
// model: it reads queries of documents with graded relevance, splits them, maps raw
// features to model inputs, and packs queries into batches. It also makes synthetic
// collections. It knows no graph and no model.
//
// Everything is float32 in flat slices, the documents of all queries one after
// another; see [Dataset]. Only raw features are kept in memory: a [Transform] is
// applied when a [Batch] is packed.
//
//	splits, err := datasets.Open("MQ2008/Fold1", datasets.Options{})
//	transform, err := datasets.FitTransform("quantile", splits.Train)
//	var b datasets.Batch
//	b.Pack(splits.Train, transform, []int{0, 1, 2}, rows, 3) // three queries, room for rows documents
//
// [Open] reads a collection, [ReadFile] one file, [ReadBlocks] a file larger than memory, and
// [Synthetic] makes data. [WriteLETOR] writes a dataset as a file; [WriteRun] and [WriteQrels] write the files of TREC's
// tools, and [ReadRun] and [ReadQrels] read them. [Describe] sums up datasets, and a [Fingerprint] identifies the data.
//
// Documents and queries can have weights. Documents can have intents of their query, and belong to groups, such as brands,
// authors or sellers, between which exposure may be fair. They come from columns or from a
// file next to the data; see [ReadFile] and [ReadOptions]. All splits share one numbering
// of groups, and datasets made of others keep weights and groups.
//
// # Formats
//
// The format is recognised by the first line of a file, and Parquet and compression (gzip or zstd) by its first bytes.
//
//	LETOR      label qid:ID id:value id:value … # comment     as SVMlight and SVMrank have it
//	separated  comma, tab or semicolon; a header names the columns label and qid, maybe docid,
//	           and the features, or others, see ReadOptions.Schema
//	Parquet    the columns of separated values, one row a document; null is missing
//
// In Parquet whole numbers, floats, decimals and booleans are numbers, and strings, enums, JSON, UUIDs and bytes of any
// length are text. So are dates, times and timestamps (also INT96), in ISO 8601, since their numbers depend on
// their units. Durations, intervals, BSON, bytes of fixed length and nested columns are left out, with a warning. Row
// groups and parts without rows are valid. A page must agree with its checksum, if it has one.
//
// Ids are texts, as written. If Parquet keeps them as floats, whole ones become digits; an id so large that another one may
// have become the same float gives an error.
//
// # Known collections
//
// [Open] finds the files of these collections as they are published. The counts are over all splits of a fold:
//
//	collection         queries   documents  features  folder or files            homepage
//	MSLR-WEB10K         10,000   1,200,192       136  MSLR-WEB10K/Fold1 … Fold5  microsoft.com/en-us/research/project/mslr
//	MSLR-WEB30K         31,531   3,771,125       136  MSLR-WEB30K/Fold1 … Fold5  microsoft.com/en-us/research/project/mslr
//	MQ2007               1,692      69,623        46  MQ2007/Fold1 … Fold5       microsoft.com/en-us/research/project/letor-…
//	MQ2008                 784      15,211        46  MQ2008/Fold1 … Fold5       microsoft.com/en-us/research/project/letor-…
//	Yahoo! LTRC set 1   29,921     709,877       519  set1.train.txt, …          webscope.sandbox.yahoo.com (C14)
//	Yahoo! LTRC set 2    6,330     172,870       596  set2.train.txt, …          webscope.sandbox.yahoo.com (C14)
//	Istella LETOR       33,018  10,454,629       220  istella-letor/full         quickrank.isti.cnr.it/istella-dataset
//	Istella-S LETOR     33,018   3,408,630       220  istella-s-letor/sample     quickrank.isti.cnr.it/istella-dataset
//	Istella-X LETOR     10,000  26,791,447       220  istella-x-letor            quickrank.isti.cnr.it/istella-dataset
package datasets
