package main

// peers measures score files, or makes tables of the measures.
var peers = tablesCommand[*peerResults]{
	name: "peers", about: "measure other libraries' scores, and print the tables of peers.md, README.md and docs/serving.md; with -write, write ndcg10.csv, tests.csv and cost.csv to -results, too",
	read: readPeers, parts: peersTables, files: (*peerResults).files, measure: measurePeers,
}

var peersTables = []documentPart[*peerResults]{
	{"peers-summary", func(r *peerResults) (string, error) { return r.summary("ndcg@5") }},
	{"peers-ndcg5", func(r *peerResults) (string, error) { return markdownTable(r.quality("ndcg@5")), nil }},
	{"peers-agreement", (*peerResults).agreement},
	{"peers-prediction", (*peerResults).prediction},
}

// files returns the tables that peers.md links to.
func (r *peerResults) files() (map[string]string, error) {
	tests, err := r.tests()
	if err != nil {
		return nil, err
	}
	cost, err := r.cost()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for name, rows := range map[string][][]string{"ndcg10.csv": r.quality("ndcg@10"), "tests.csv": tests, "cost.csv": cost} {
		if files[name], err = csvText(rows); err != nil {
			return nil, err
		}
	}
	return files, nil
}
