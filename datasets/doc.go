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
// [Open] reads a collection, [ReadFile] one file, [ReadBlocks] a file larger than memory;
// [Synthetic] makes data. [WriteLETOR] writes a file
// that is read, [WriteRun] and [WriteQrels] write the files of TREC's tools. [ReadRun] and [ReadQrels]
// read scores from anywhere. [Describe] counts, and a [Fingerprint] identifies the data: equal ones say that two datasets
// are the same.
//
// Documents and queries can have weights, documents can have intents of their query, and belong to groups (of a brand, an
// author, a seller), between which exposure may be fair. All come from columns or from a
// file next to the data; see [ReadFile] and [ReadOptions]. All splits share one numbering
// of groups, and every dataset made of another one keeps weights and groups.
//
// # Formats
//
// The first line of a file tells its format, and its first bytes tell whether it is
// Parquet, or compressed by gzip or zstd.
//
//	LETOR      label qid:ID id:value id:value … # comment     as SVMlight and SVMrank have it
//	separated  comma, tab or semicolon; a header names the columns label and qid, maybe docid,
//	           and the features, or others, see ReadOptions.Schema
//	Parquet    the columns of separated values, one row a document; null is missing
//
// In Parquet whole numbers, floats, decimals and booleans are numbers, and strings, enums, JSON, UUIDs and bytes of any
// length are text. Dates, times and timestamps (also INT96) are text, too, in ISO 8601, so that they do not depend on
// their units. Durations, intervals, BSON, bytes of fixed length and all that is nested are left out, with a warning. Row
// groups and parts without rows are valid. Pages that have a checksum and do not agree with it are an error.
//
// Ids are texts, as written; those that Parquet keeps as floats are digits if they are whole, and an error if they are so
// large that another id may have become the same float.
//
// # Known collections
//
// [Open] knows the collections below by the name of the folder (or, for Yahoo!, of the files).
// It checks the counts over all splits of a fold, and warns if they are not those published:
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
