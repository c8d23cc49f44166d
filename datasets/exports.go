package datasets

import (
	"bufio"
	"cmp"
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

// A record is the words of a line of a TREC file, such as "qid 0 docid label", or what another tool has instead of one.
type record struct {
	line  int // 0: it is not known
	words []string
}

// An export reads the files of other tools. In names of queries, _ stands for blanks.
type export func(r io.Reader) ([]record, error)

// readTREC calls add with every record of a file, and gives its errors the line. Other returns what reads a file that begins so, nil
// if it has words, see scanWords.
func readTREC(path string, other func(begin string) export, add func(r record) error) (warnings []string, err error) {
	f, err := textfile.Open(context.Background(), path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", textfile.At(path, err))
	}
	defer f.Close()
	text := bufio.NewReader(f)
	begin, _ := text.Peek(text.Size()) // what is wrong is found again
	read := other(string(begin))
	if read == nil {
		return scanWords(path, text, add)
	}
	records, err := read(text)
	if at := new(csv.ParseError); errors.As(err, &at) {
		return nil, fmt.Errorf("datasets: %s:%d: %w", path, at.StartLine, at.Err)
	} else if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	for i, r := range records {
		where := fmt.Sprintf("%s:%d", path, r.line)
		if r.line == 0 {
			r.line, where = i+1, fmt.Sprintf("%s: judgement %d", path, i+1)
		}
		query, document := strings.Join(strings.Fields(r.words[0]), "_"), strings.TrimSpace(r.words[2])
		if query == "" || document == "" {
			return nil, fmt.Errorf("datasets: %s: query %q, document %q: want a query and a document", where, query, document)
		}
		r.words[0], r.words[2] = query, document
		if err := add(r); err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", where, err)
		}
	}
	return nil, nil
}

// readJudged is readTREC for judgements, which may also be exports of judgement tools.
func readJudged(path string, add func(r record, g grades) error) (warnings []string, err error) {
	g, err := readGrades(path)
	if err != nil {
		return nil, err
	}
	return readTREC(path, func(begin string) export {
		read := judgementsOf(begin)
		g.ofTools = read != nil
		return read
	}, func(r record) error { return add(r, g) })
}

// judgementsOf returns what reads a file of a judgement tool, by how it begins; nil for other files.
func judgementsOf(begin string) export {
	header, _, _ := strings.Cut(strings.ToLower(begin), "\n")
	read := readRatingsCSV
	switch {
	case strings.HasPrefix(strings.TrimSpace(begin), "{"):
		read = readRatingsJSON
	case !strings.Contains(header, ","):
		return nil
	case strings.Contains(header, "better") && strings.Contains(header, "worse"):
		read = readPreferences
	case !strings.Contains(header, "rating"):
		return nil
	}
	return func(r io.Reader) ([]record, error) {
		records, err := read(r)
		if err == nil && len(records) == 0 {
			err = errors.New("no judgements: want judgmentRatings of OpenSearch, query_groups of RRE, or queries with ratings of Quepid")
		}
		return records, err
	}
}

// readTable reads three columns of a table. A header may spell each name in several ways; if it does not have them, the columns are the
// first three, unless they are wanted, and # begins a comment. A row of the query alone is left out, as Quepid writes it for queries
// without ratings.
func readTable(r io.Reader, names [3][]string, want string) (rows []record, err error) {
	table := csv.NewReader(r)
	if want == "" {
		table.Comment = '#'
	}
	header, err := table.Read()
	if err != nil {
		return nil, err
	}
	var columns [3]int
	for i, spellings := range names {
		columns[i] = slices.IndexFunc(header, func(name string) bool {
			return slices.Contains(spellings, strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_"))
		})
		if columns[i] < 0 && want != "" {
			return nil, fmt.Errorf("no column %s: want a header with %s", spellings[0], want)
		}
	}
	words := header
	if slices.Contains(columns[:], -1) {
		columns = [3]int{0, 1, 2}
	} else {
		words, err = table.Read()
	}
	for ; err != io.EOF; words, err = table.Read() {
		if err != nil && len(words) == 1 && want != "" {
			continue
		} else if err != nil {
			return nil, err
		}
		line, _ := table.FieldPos(0)
		if len(words) <= slices.Max(columns[:]) {
			return nil, &csv.ParseError{StartLine: line, Err: fmt.Errorf("%d columns: want query, document and score", len(words))}
		}
		rows = append(rows, record{line, []string{words[columns[0]], words[columns[1]], words[columns[2]]}})
	}
	return rows, nil
}

// readRatingsCSV reads a table with the columns query, docid and rating, as Quepid exports it. Documents without a rating are left out.
func readRatingsCSV(r io.Reader) (records []record, err error) {
	rows, err := readTable(r, [3][]string{{"query", "query_text"}, {"docid", "doc_id"}, {"rating"}},
		"query, docid and rating, as Quepid exports them")
	for _, row := range rows {
		if rating := strings.TrimSpace(row.words[2]); rating != "" {
			records = append(records, record{row.line, []string{row.words[0], "0", row.words[1], rating}})
		}
	}
	return records, err
}

// readPreferences reads a table with the columns query, better and worse, of documents. The grade of a document is the number of different
// net wins, wins less defeats, that others of its query have and that are below its own.
func readPreferences(r io.Reader) (records []record, err error) {
	rows, err := readTable(r, [3][]string{{"query", "query_text", "qid"}, {"better"}, {"worse"}}, "query, better and worse")
	var queries []string
	wins := map[string]map[string]int{} // net, by query and document
	for _, row := range rows {
		query := row.words[0]
		if row.words[1] == row.words[2] {
			return nil, &csv.ParseError{StartLine: row.line, Err: fmt.Errorf("query %s: %q is better than itself", query, row.words[1])}
		}
		if wins[query] == nil {
			queries, wins[query] = append(queries, query), map[string]int{}
		}
		wins[query][row.words[1]]++
		wins[query][row.words[2]]--
	}
	for _, query := range queries {
		all := slices.Compact(slices.Sorted(maps.Values(wins[query])))
		for _, document := range slices.Sorted(maps.Keys(wins[query])) {
			grade, _ := slices.BinarySearch(all, wins[query][document])
			records = append(records, record{0, []string{query, "0", document, strconv.Itoa(grade)}})
		}
	}
	return records, err
}

// readRatingsJSON reads a judgement list of OpenSearch's search relevance workbench, also as its API answers, the ratings of the Rated
// Ranking Evaluator, or the ratings of Quepid.
func readRatingsJSON(r io.Reader) ([]record, error) {
	var file any
	d := json.NewDecoder(r)
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	var found ratings
	err := found.read(file)
	return found, err
}

// ratings are records that are found in JSON.
type ratings []record

// read reads what has ratings, or has objects that have.
func (to *ratings) read(value any) error {
	list, _ := value.([]any)
	for _, element := range list {
		if err := to.read(element); err != nil {
			return err
		}
	}
	object, _ := value.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		var err error
		switch inner := object[key]; key {
		case "hits", "_source", "topics", "query_groups", "queries":
			err = to.read(inner)
		case "judgmentRatings": // of early versions, an object
			byQuery, _ := inner.(map[string]any)
			for _, query := range slices.Sorted(maps.Keys(byQuery)) {
				err = cmp.Or(err, to.add(query, byQuery[query]))
			}
			err = cmp.Or(err, to.read(inner))
		case "ratings":
			err = to.add(word(object["query"]), inner)
		case "relevant_documents":
			err = to.add(word(object["name"]), inner)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds the documents of a query: a list of them with their ratings, or an object by document, or by rating.
func (to *ratings) add(query string, documents any) error {
	add := func(document, rating string) { *to = append(*to, record{0, []string{query, "0", document, rating}}) }
	list, _ := documents.([]any)
	for _, element := range list {
		d, _ := element.(map[string]any)
		add(word(cmp.Or(d["docId"], d["document_id"])), word(cmp.Or(d["rating"], d["gain"])))
	}
	byKey, is := documents.(map[string]any)
	if list == nil && !is {
		return fmt.Errorf("query %q: want documents with their ratings, not %v", query, documents)
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		switch value := byKey[key].(type) {
		case []any:
			for _, document := range value {
				add(word(document), key)
			}
		case map[string]any:
			add(key, word(value["gain"]))
		default:
			add(key, word(value))
		}
	}
	return nil
}

// word returns a text or a number of JSON.
func word(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
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
	_, err = readTREC(g.path, func(string) export { return nil }, func(r record) error {
		words, last := r.words, len(r.words)-1
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
