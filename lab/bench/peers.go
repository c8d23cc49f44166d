package main

// peers measures score files, or makes tables of the measures.
var peers = tablesCommand[*peerResults]{
	name:    "peers",
	about:   "measure other libraries' scores, and print the tables of peers.md, README.md and docs/serving.md; with -write, write ndcg10.csv, tests.csv, tables-tests.csv and cost.csv to -results, too",
	read:    readPeers,
	parts:   peersTables,
	files:   (*peerResults).files,
	measure: measurePeers,
}

var peersTables = []documentPart[*peerResults]{
	{"peers-summary", func(r *peerResults) (string, error) { return r.part(false).summary("ndcg@5") }},
	{"peers-ndcg5", func(r *peerResults) (string, error) { return markdownTable(r.part(false).quality("ndcg@5")), nil }},
	{"peers-tables-summary", func(r *peerResults) (string, error) { return r.part(true).summary("ndcg@5") }},
	{"peers-tables-ndcg5", func(r *peerResults) (string, error) { return markdownTable(r.part(true).quality("ndcg@5")), nil }},
	{"peers-agreement", (*peerResults).agreement},
	{"peers-prediction", (*peerResults).prediction},
}

// files returns the tables that peers.md links to.
func (r *peerResults) files() (map[string]string, error) {
	letor, tables := r.part(false), r.part(true)
	tests, err := letor.tests()
	if err != nil {
		return nil, err
	}
	tablesTests, err := tables.tests()
	if err != nil {
		return nil, err
	}
	cost, err := letor.cost()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for name, rows := range map[string][][]string{"ndcg10.csv": letor.quality("ndcg@10"), "tests.csv": tests, "tables-tests.csv": tablesTests, "cost.csv": cost} {
		if files[name], err = csvText(rows); err != nil {
			return nil, err
		}
	}
	return files, nil
}
