package datasets

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Collection is a published collection that Open recognises by the name of its
// folder or the layout of its files, and whose counts it checks.
type Collection struct {
	Name      string
	Homepage  string
	Files     string   // as they are when unpacked
	Queries   int      // in all splits (of one fold)
	Documents int      // in all splits (of one fold)
	HoldOut   float64  // part of the training queries to hold out where there is no validation file; 0: 20 %
	folders   []string // names of the folder or of the one above it, in lower case
	prefix    string   // of its files instead, in lower case
}

const (
	mslrHome    = "https://www.microsoft.com/en-us/research/project/mslr/"
	letorHome   = "https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/"
	yahooHome   = "https://webscope.sandbox.yahoo.com/catalog.php?datatype=c" // C14, Learning to Rank Challenge
	istellaHome = "http://quickrank.isti.cnr.it/istella-dataset/"
)

// Collections are the collections that Open knows.
var Collections = []Collection{
	{"MSLR-WEB10K", mslrHome, "Fold1/train.txt vali.txt test.txt … Fold5/", 10000, 1200192, 0, []string{"mslr-web10k", "mslr10k", "web10k"}, ""},
	{"MSLR-WEB30K", mslrHome, "Fold1/train.txt vali.txt test.txt … Fold5/", 31531, 3771125, 0, []string{"mslr-web30k", "mslr30k", "web30k"}, ""},
	{"MQ2007", letorHome, "Fold1/train.txt vali.txt test.txt … Fold5/", 1692, 69623, 0, []string{"mq2007"}, ""},
	{"MQ2008", letorHome, "Fold1/train.txt vali.txt test.txt … Fold5/", 784, 15211, 0, []string{"mq2008"}, ""},
	{"Yahoo! LTRC set 1", yahooHome, "set1.train.txt set1.valid.txt set1.test.txt", 29921, 709877, 0, nil, "set1."},
	{"Yahoo! LTRC set 2", yahooHome, "set2.train.txt set2.valid.txt set2.test.txt", 6330, 172870, 0, nil, "set2."},
	{"Istella LETOR", istellaHome, "full/train.txt test.txt", 33018, 10454629, 0.1, []string{"istella-letor", "istella"}, ""},
	{"Istella-S LETOR", istellaHome, "sample/train.txt vali.txt test.txt", 33018, 3408630, 0.1, []string{"istella-s-letor", "istella-s"}, ""},
	{"Istella-X LETOR", istellaHome, "train.txt vali.txt test.txt", 10000, 26791447, 0.1, []string{"istella-x-letor", "istella-x"}, ""},
}

// collectionOf is the known collection that the files belong to, or nil.
func collectionOf(train string) *Collection {
	path, err := filepath.Abs(train)
	if err != nil {
		path = train
	}
	parts := strings.Split(strings.ToLower(path), string(filepath.Separator))
	folders, name := parts[max(0, len(parts)-3):len(parts)-1], parts[len(parts)-1]
	for i := range Collections {
		c := &Collections[i]
		prefix, _ := splitOf(name)
		if c.prefix != "" && prefix == c.prefix ||
			slices.ContainsFunc(folders, func(f string) bool { return slices.Contains(c.folders, f) }) {
			return c
		}
	}
	return nil
}

// check says how the counts differ from those published; empty if they agree.
func (c *Collection) check(queries, documents int) string {
	if queries == c.Queries && documents == c.Documents {
		return ""
	}
	return fmt.Sprintf("%s has %d queries and %d documents (%s), but here are %d and %d",
		c.Name, c.Queries, c.Documents, c.Homepage, queries, documents)
}
