package datasets

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// exported returns what reads a file of a judgement tool, by how it begins, as words of TREC's, "qid 0 docid label"; nil for other
// files. A query is called by its text, with _ for blanks.
func exported(begin []byte) func(r io.Reader) ([][]string, error) {
	header, _, _ := strings.Cut(strings.ToLower(string(begin)), "\n")
	read := readRatingsCSV
	if bytes.HasPrefix(bytes.TrimSpace(begin), []byte("{")) {
		read = readRatingsJSON
	} else if !strings.Contains(header, ",") || !strings.Contains(header, "rating") {
		return nil
	}
	return func(r io.Reader) ([][]string, error) {
		lines, err := read(r)
		if err == nil && len(lines) == 0 {
			err = errors.New("no judgements: want judgmentRatings of OpenSearch, query_groups of RRE, or ratings of Quepid")
		}
		for i, words := range lines {
			words[0], words[2] = strings.Join(strings.Fields(words[0]), "_"), strings.TrimSpace(words[2])
			if err == nil && (words[0] == "" || words[2] == "") {
				err = fmt.Errorf("judgement %d: query %q, document %q: want a query and a document", i+1, words[0], words[2])
			}
			if whole, zeros, found := strings.Cut(words[3], "."); found && strings.Trim(zeros, "0") == "" {
				words[3] = whole // 3.000 of OpenSearch
			}
		}
		return lines, err
	}
}

// readRatingsCSV reads a table with the columns query, docid and rating, as Quepid exports it. Documents without a rating are left out.
func readRatingsCSV(r io.Reader) (lines [][]string, err error) {
	table := csv.NewReader(r)
	header, err := table.Read()
	if err != nil {
		return nil, err
	}
	var columns [3]int
	for i, names := range [][]string{{"query", "query_text"}, {"docid", "doc_id"}, {"rating"}} {
		columns[i] = slices.IndexFunc(header, func(name string) bool {
			return slices.Contains(names, strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_"))
		})
		if columns[i] < 0 {
			return nil, fmt.Errorf("no column %s: want a header with query, docid and rating, as Quepid exports them", names[0])
		}
	}
	for {
		row, err := table.Read()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		if rating := strings.TrimSpace(row[columns[2]]); rating != "" {
			lines = append(lines, []string{row[columns[0]], "0", row[columns[1]], rating})
		}
	}
}

// readRatingsJSON reads a judgement list of OpenSearch's search relevance workbench, or the ratings of the Rated Ranking Evaluator.
func readRatingsJSON(r io.Reader) (lines [][]string, err error) {
	type group struct {
		Name      string                     `json:"name"`
		Documents map[string]json.RawMessage `json:"relevant_documents"`
	}
	var file struct {
		Lists []struct {
			Query   string `json:"query"`
			Ratings []struct {
				Document string          `json:"docId"`
				Rating   json.RawMessage `json:"rating"`
			} `json:"ratings"`
		} `json:"judgmentRatings"`
		Topics []struct {
			Groups []group `json:"query_groups"`
		} `json:"topics"`
		Groups []group `json:"query_groups"`
	}
	if err := json.NewDecoder(r).Decode(&file); err != nil {
		return nil, err
	}
	for _, list := range file.Lists {
		for _, d := range list.Ratings {
			lines = append(lines, []string{list.Query, "0", d.Document, strings.Trim(string(d.Rating), `"`)})
		}
	}
	groups := file.Groups
	for _, topic := range file.Topics {
		groups = append(groups, topic.Groups...)
	}
	for _, g := range groups {
		var own [][]string
		for key, value := range g.Documents {
			var documents []string
			var graded struct {
				Gain json.RawMessage `json:"gain"`
			}
			switch { // documents by grade, or a gain by document
			case json.Unmarshal(value, &documents) == nil:
				for _, id := range documents {
					own = append(own, []string{g.Name, "0", id, key})
				}
			case json.Unmarshal(value, &graded) == nil && graded.Gain != nil:
				own = append(own, []string{g.Name, "0", key, string(graded.Gain)})
			default:
				return nil, fmt.Errorf("query group %q: relevant_documents: %s: want documents, or a gain", g.Name, key)
			}
		}
		slices.SortFunc(own, func(a, b []string) int { return slices.Compare(a, b) }) // maps have no order
		lines = append(lines, own...)
	}
	return lines, nil
}
