package main

// peers measures score files, or makes tables of the measures.
var peers = tablesCommand[*peerResults]{
	name: "peers", about: "measure other libraries' scores, and print the tables of peers.md, README.md and docs/serving.md",
	read: readPeers, parts: peersTables, measure: measurePeers,
}

var peersTables = []documentPart[*peerResults]{
	{"peers-summary", func(r *peerResults) (string, error) { return r.summary("ndcg@5") }},
	{"peers-ndcg5", func(r *peerResults) (string, error) { return r.quality("ndcg@5") }},
	{"peers-ndcg10", func(r *peerResults) (string, error) { return r.quality("ndcg@10") }},
	{"peers-tests", (*peerResults).tests},
	{"peers-cost", (*peerResults).cost},
	{"peers-machines", (*peerResults).machines},
	{"peers-agreement", (*peerResults).agreement},
	{"peers-queries", (*peerResults).testQueries},
	{"peers-prediction", (*peerResults).prediction},
}
