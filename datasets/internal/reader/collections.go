package reader

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Collection is a published collection that Open recognises by the name of its
// folder or the layout of its files, and whose counts it checks.
type Collection struct {
	name      string
	homepage  string
	queries   int      // in all splits (of one fold)
	documents int      // in all splits (of one fold)
	HoldOut   float64  // fraction of the training queries to hold out if there is no validation file; 0: 20 %
	folders   []string // names of the folder or of the one above it, in lower case
	prefix    string   // of its files instead, in lower case
}

const (
	mslrHome    = "https://www.microsoft.com/en-us/research/project/mslr/"
	letorHome   = "https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/"
	yahooHome   = "https://webscope.sandbox.yahoo.com/catalog.php?datatype=c" // C14, Learning to Rank Challenge
	istellaHome = "http://quickrank.isti.cnr.it/istella-dataset/"
)

// collections are the ones that Open knows.
var collections = []Collection{
	{"MSLR-WEB10K", mslrHome, 10000, 1200192, 0, []string{"mslr-web10k", "mslr10k", "web10k"}, ""},
	{"MSLR-WEB30K", mslrHome, 31531, 3771125, 0, []string{"mslr-web30k", "mslr30k", "web30k"}, ""},
	{"MQ2007", letorHome, 1692, 69623, 0, []string{"mq2007"}, ""},
	{"MQ2008", letorHome, 784, 15211, 0, []string{"mq2008"}, ""},
	{"Yahoo! LTRC set 1", yahooHome, 29921, 709877, 0, nil, "set1."},
	{"Yahoo! LTRC set 2", yahooHome, 6330, 172870, 0, nil, "set2."},
	{"Istella LETOR", istellaHome, 33018, 10454629, 0.1, []string{"istella-letor", "istella"}, ""},
	{"Istella-S LETOR", istellaHome, 33018, 3408630, 0.1, []string{"istella-s-letor", "istella-s"}, ""},
	{"Istella-X LETOR", istellaHome, 10000, 26791447, 0.1, []string{"istella-x-letor", "istella-x"}, ""},
}

// CollectionOf is the known collection that the files belong to, or nil.
func CollectionOf(train string) *Collection {
	path, err := filepath.Abs(train)
	if err != nil {
		path = train
	}
	names := strings.Split(strings.ToLower(path), string(filepath.Separator))
	folders, name := names[max(0, len(names)-3):len(names)-1], names[len(names)-1]
	for i := range collections {
		c := &collections[i]
		prefix, _, _ := splitOf(name)
		if c.prefix != "" && prefix == c.prefix ||
			slices.ContainsFunc(folders, func(folder string) bool { return slices.Contains(c.folders, folder) }) {
			return c
		}
	}
	return nil
}

// Check says how the counts differ from those published; empty if they agree.
func (c *Collection) Check(queries, documents int) string {
	if queries == c.queries && documents == c.documents {
		return ""
	}
	return fmt.Sprintf("%s has %d queries and %d documents (%s), but here are %d and %d",
		c.name, c.queries, c.documents, c.homepage, queries, documents)
}
