package datasets

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/internal/textfile"
)

// exported returns what reads a file of a judgement tool, by how it begins, as words of TREC's, "qid 0 docid label"; nil for other
// files. A query is called by its text, with _ for blanks.
func exported(begin []byte) func(r io.Reader) ([][]string, error) {
	header, _, _ := strings.Cut(strings.ToLower(string(begin)), "\n")
	read := readRatingsCSV
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(begin), []byte("{")):
		read = readRatingsJSON
	case !strings.Contains(header, ","):
		return nil
	case strings.Contains(header, "better") && strings.Contains(header, "worse"):
		read = readPreferences
	case !strings.Contains(header, "rating"):
		return nil
	}
	return func(r io.Reader) ([][]string, error) {
		lines, err := read(r)
		if err == nil && len(lines) == 0 {
			err = errors.New("no judgements: want judgmentRatings of OpenSearch, query_groups of RRE, or queries with ratings of Quepid")
		}
		for i, words := range lines {
			words[0], words[2] = strings.Join(strings.Fields(words[0]), "_"), strings.TrimSpace(words[2])
			if err == nil && (words[0] == "" || words[2] == "") {
				err = fmt.Errorf("judgement %d: query %q, document %q: want a query and a document", i+1, words[0], words[2])
			}
		}
		return lines, err
	}
}

// readTable reads three columns of a table. A header may spell each name in several ways. A row of the query alone is left out, as
// Quepid writes it for queries without ratings.
func readTable(r io.Reader, names [3][]string, want string) (rows [][3]string, err error) {
	table := csv.NewReader(r)
	table.FieldsPerRecord = -1
	header, err := table.Read()
	if err != nil {
		return nil, err
	}
	var columns [3]int
	for i, spellings := range names {
		columns[i] = slices.IndexFunc(header, func(name string) bool {
			return slices.Contains(spellings, strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_"))
		})
		if columns[i] < 0 {
			return nil, fmt.Errorf("no column %s: want a header with %s", spellings[0], want)
		}
	}
	for {
		row, err := table.Read()
		switch {
		case err == io.EOF:
			return rows, nil
		case err != nil:
			return nil, err
		case len(row) == 1:
			continue
		case len(row) != len(header):
			line, _ := table.FieldPos(0)
			return nil, fmt.Errorf("line %d: %d fields, and %d in the header", line, len(row), len(header))
		}
		rows = append(rows, [3]string{row[columns[0]], row[columns[1]], row[columns[2]]})
	}
}

// readRatingsCSV reads a table with the columns query, docid and rating, as Quepid exports it. Documents without a rating are left out.
func readRatingsCSV(r io.Reader) (lines [][]string, err error) {
	rows, err := readTable(r, [3][]string{{"query", "query_text"}, {"docid", "doc_id"}, {"rating"}},
		"query, docid and rating, as Quepid exports them")
	for _, row := range rows {
		if rating := strings.TrimSpace(row[2]); rating != "" {
			lines = append(lines, []string{row[0], "0", row[1], rating})
		}
	}
	return lines, err
}

// readPreferences reads a table with the columns query, better and worse, of documents. The grade of a document is the number of different
// net wins, wins less defeats, that others of its query have and that are below its own.
func readPreferences(r io.Reader) (lines [][]string, err error) {
	rows, err := readTable(r, [3][]string{{"query", "query_text", "qid"}, {"better"}, {"worse"}}, "query, better and worse")
	var queries []string
	wins := map[string]map[string]int{} // net, by query and document
	for _, row := range rows {
		if wins[row[0]] == nil {
			queries, wins[row[0]] = append(queries, row[0]), map[string]int{}
		}
		wins[row[0]][row[1]]++
		wins[row[0]][row[2]]--
	}
	for _, query := range queries {
		all := slices.Compact(slices.Sorted(maps.Values(wins[query])))
		for _, document := range slices.Sorted(maps.Keys(wins[query])) {
			grade, _ := slices.BinarySearch(all, wins[query][document])
			lines = append(lines, []string{query, "0", document, strconv.Itoa(grade)})
		}
	}
	return lines, err
}

// readRatingsJSON reads a judgement list of OpenSearch's search relevance workbench, also as its API answers, the ratings of the Rated
// Ranking Evaluator, or the ratings of Quepid.
func readRatingsJSON(r io.Reader) (lines [][]string, err error) {
	type group struct {
		Name      string          `json:"name"`
		Documents json.RawMessage `json:"relevant_documents"`
	}
	type groups struct {
		Groups []group `json:"query_groups"`
	}
	type ratings struct {
		Lists json.RawMessage `json:"judgmentRatings"`
	}
	var file struct {
		ratings
		Hits struct {
			Hits []struct {
				Source ratings `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
		groups
		Topics  []groups `json:"topics"`
		Queries []struct {
			Query   string                     `json:"query"`
			Ratings map[string]json.RawMessage `json:"ratings"`
		} `json:"queries"`
	}
	if err := json.NewDecoder(r).Decode(&file); err != nil {
		return nil, err
	}
	lists := []json.RawMessage{file.Lists}
	for _, hit := range file.Hits.Hits {
		lists = append(lists, hit.Source.Lists)
	}
	for _, list := range lists {
		own, err := readRatingLists(list)
		if err != nil {
			return nil, err
		}
		lines = append(lines, own...)
	}
	for _, topic := range append([]groups{file.groups}, file.Topics...) {
		for _, g := range topic.Groups {
			own, err := readRelevant(g.Name, g.Documents)
			if err != nil {
				return nil, fmt.Errorf("query group %q: %w", g.Name, err)
			}
			lines = append(lines, own...)
		}
	}
	for _, q := range file.Queries {
		for _, document := range slices.Sorted(maps.Keys(q.Ratings)) {
			lines = append(lines, []string{q.Query, "0", document, rating(q.Ratings[document])})
		}
	}
	return lines, nil
}

// rating returns a rating as a word; some are numbers, and some texts.
func rating(value json.RawMessage) string { return strings.Trim(string(value), `"`) }

// readRatingLists reads judgmentRatings: a list with the ratings of every query, or, in early versions, an object with them.
func readRatingLists(lists json.RawMessage) (lines [][]string, err error) {
	if lists == nil {
		return nil, nil
	}
	type rated struct {
		Document string          `json:"docId"`
		Rating   json.RawMessage `json:"rating"`
	}
	var all []struct {
		Query   string  `json:"query"`
		Ratings []rated `json:"ratings"`
	}
	var byQuery map[string][]rated
	if err := json.Unmarshal(lists, &all); err != nil {
		if json.Unmarshal(lists, &byQuery) != nil {
			return nil, fmt.Errorf("judgmentRatings: %w", err)
		}
	}
	add := func(query string, ratings []rated) {
		for _, d := range ratings {
			lines = append(lines, []string{query, "0", d.Document, rating(d.Rating)})
		}
	}
	for _, list := range all {
		add(list.Query, list.Ratings)
	}
	for _, query := range slices.Sorted(maps.Keys(byQuery)) {
		add(query, byQuery[query])
	}
	return lines, nil
}

// readRelevant reads the documents of a query of the Rated Ranking Evaluator: by grade, with a gain by document, or in a list.
func readRelevant(query string, documents json.RawMessage) (lines [][]string, err error) {
	var list []struct {
		Document string          `json:"document_id"`
		Gain     json.RawMessage `json:"gain"`
	}
	if json.Unmarshal(documents, &list) == nil {
		for _, d := range list {
			lines = append(lines, []string{query, "0", d.Document, rating(d.Gain)})
		}
		return lines, nil
	}
	var byKey map[string]json.RawMessage
	if err := json.Unmarshal(documents, &byKey); err != nil {
		return nil, fmt.Errorf("relevant_documents: %w", err)
	}
	for key, value := range byKey {
		var ids []string
		var graded struct {
			Gain json.RawMessage `json:"gain"`
		}
		switch {
		case json.Unmarshal(value, &ids) == nil:
			for _, id := range ids {
				lines = append(lines, []string{query, "0", id, key})
			}
		case json.Unmarshal(value, &graded) == nil && graded.Gain != nil:
			lines = append(lines, []string{query, "0", key, rating(graded.Gain)})
		default:
			return nil, fmt.Errorf("relevant_documents: %s: want documents, or a gain", key)
		}
	}
	slices.SortFunc(lines, func(a, b []string) int { return slices.Compare(a, b) }) // maps have no order
	return lines, nil
}

// grades are what words of a file of judgements mean, by the file FILE.grades next to it.
type grades struct {
	path    string
	byWord  map[string]float32
	ofTools bool // a rating of a judgement tool, which may be a fraction
}

// readGrades reads the grades of words for a file of judgements, if it has any: lines of a text and its grade.
func readGrades(path string) (g grades, err error) {
	g.path = path + ".grades"
	if _, err := os.Stat(g.path); errors.Is(err, os.ErrNotExist) {
		return g, nil
	}
	g.byWord = map[string]float32{}
	_, err = readWords(g.path, func(_ int, _ string, words []string) error {
		last := len(words) - 1
		grade, err := parseGrade(words[last])
		if err != nil || last == 0 {
			return fmt.Errorf("%s: want a text and its grade, such as Excellent 3", strings.Join(words, " "))
		}
		g.byWord[strings.Join(words[:last], " ")] = grade
		return nil
	})
	return g, err
}

// of returns the grade of a word.
func (g grades) of(word string) (float32, error) {
	if grade, told := g.byWord[word]; told {
		return grade, nil
	}
	grade, err := parseGrade(word)
	if fraction, wrong := strconv.ParseFloat(word, 32); g.ofTools && err != nil && wrong == nil && fraction-fraction == 0 {
		return float32(max(0, fraction)), nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s is not a label: want a whole number from −2^31 to 2^31 − 1; a file %s may give words a grade, by lines such "+
			"as Excellent 3", text.Quote([]byte(word)), g.path)
	}
	return grade, nil
}

// parseGrade reads a whole number. Those below 0 are 0.
func parseGrade(word string) (float32, error) {
	grade, err := strconv.ParseInt(word, 10, 32)
	return float32(max(0, grade)), err
}

// readJudged is readWords for judgements, which may also be exports of judgement tools.
func readJudged(path string, line func(number int, words []string, g grades) error) (warnings []string, err error) {
	g, err := readGrades(path)
	if err != nil {
		return nil, err
	}
	f, err := textfile.Open(context.Background(), path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	defer f.Close()
	text := bufio.NewReader(textfile.WithoutMark(f))
	begin, _ := text.Peek(text.Size()) // what is wrong is found again
	read := exported(begin)
	if g.ofTools = read != nil; !g.ofTools {
		return scanWords(path, text, func(number int, _ string, words []string) error { return line(number, words, g) })
	}
	judgements, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	for i, words := range judgements {
		if err := line(i+1, words, g); err != nil {
			return nil, fmt.Errorf("datasets: %s: judgement %d: %w", path, i+1, err)
		}
	}
	return nil, nil
}
