package worth

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// show has a line for each ranking.
func show(r *Observations) string {
	var lines []string
	name := func(place []int) string {
		var names []string
		for _, i := range place {
			names = append(names, r.Items[i])
		}
		return strings.Join(names, "=")
	}
	for i := range r.Len() {
		ranking := r.At(i)
		var places []string
		for _, place := range ranking.Places {
			places = append(places, name(place))
		}
		lines = append(lines, fmt.Sprintf("%g:%s|%s", ranking.Weight, strings.Join(places, ">"), name(ranking.Rest)))
	}
	return strings.Join(lines, " ")
}

func TestFormatsAreReadAsDocumented(t *testing.T) {
	const header = "# FILE NAME: x\n# ALTERNATIVE NAME 1: A B\n# ALTERNATIVE NAME 2: C\n# ALTERNATIVE NAME 3: D: E\n# ALTERNATIVE NAME 4: F\n"
	known := []string{"D", "C", "B", "A"}
	for _, c := range []struct {
		name, text string
		options    ReadOptions
		want       string
	}{
		{"text", "# by hand\nA b > C\n  2.5: C=D>A b = E  \r\n", ReadOptions{}, "1:A b>C| 2.5:C=D>A b=E|"},
		{"text", "A > B | A, C,B ,D\nA|B", ReadOptions{}, "1:A>B|C=D 1:A|B"},
		{"text", `3: "2: >" = "\"|" > C:D | "x,y"`, ReadOptions{}, `3:2: >="|>C:D|x,y`},
		{"text", "\ufeffA > B\nB > A\n", ReadOptions{}, "1:A>B| 1:B>A|"}, // a byte order mark
		{"x.soi", "\ufeff" + header + "2: 3,1\n", ReadOptions{}, "2:D: E>A B|"},
		{"x.csv", "\ufeffranking,item,rank\nr,A,1\nr,B,2\n", ReadOptions{}, "1:A>B|"},
		{"text", "Alien: Covenant > Alien\n", ReadOptions{}, "1:Alien: Covenant>Alien|"},
		{"text", "12 Monkeys: A > 3x>7:B\n\"3x: C\"=9:D\n3x>7:B", ReadOptions{}, "1:12 Monkeys: A>3x>7:B| 1:3x: C=9:D| 1:3x>7:B|"},
		{"text", "A > B", ReadOptions{Items: known, Unlisted: "omit"}, "1:A>B|"},
		{"text", "A > B", ReadOptions{Items: known, Unlisted: "last"}, "1:A>B|D=C"},
		{"x.soc", header + "2: 3,1,2,4\n1: 4,3,2,1\n", ReadOptions{}, "2:D: E>A B>C>F| 1:F>D: E>C>A B|"},
		{"x.soi", header + "2: 3,1\n", ReadOptions{}, "2:D: E>A B|"},
		{"x.soi", header + "2: 3\n1: 1,2\n", ReadOptions{Unlisted: "last"}, "2:D: E|A B=C=F 1:A B>C|D: E=F"},
		{"x.soi", header + "2: 3\n1: 1,2\n", ReadOptions{Items: []string{"other", "F", "C", "D: E", "A B"}, Unlisted: "last"}, "2:D: E|A B=C=F 1:A B>C|D: E=F"}, // other did not stand
		{"x.toc", header + "2: {3,1},{4, 2}\n", ReadOptions{}, "2:D: E=A B>F=C|"},
		{"x.TOI", header + "2: 4,{1,2}\n1: {3},1\n", ReadOptions{}, "2:F>A B=C| 1:D: E>A B|"},
		{"x.csv", "item,rank,ranking\nA,2,r1\nB,1,r1\nA,1,r2\nC,2,r1\nB,,r2\n", ReadOptions{}, "1:B>A=C| 1:A|B"},
		{"x.csv", "ranking ,item ,rank , weight \nr,Ann ,1 , 2\nr , Bob,2 ,2 \nr,\"Cem\",\t,2\n", ReadOptions{Items: []string{"Ann", "Bob", "Cem"}}, "2:Ann>Bob|Cem"},
		{"x.csv", "ranking,judge,item,rank,weight\nr,j,A,2.5,3\nr,j,\"B, C\",10,3\n", ReadOptions{}, "3:A>B, C|"},
	} {
		r, err := Read(strings.NewReader(c.text), c.name, c.options)
		if err != nil {
			t.Errorf("%s: %q: %v", c.name, c.text, err)
			continue
		}
		if got := show(r); got != c.want {
			t.Errorf("%s: %q: got %s, want %s", c.name, c.text, got, c.want)
		}
		if c.options.Items != nil && !slices.Equal(r.Items, c.options.Items) {
			t.Errorf("items are %q", r.Items)
		}
	}
}

func TestReadErrorsNameFileAndLine(t *testing.T) {
	const header = "# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n# ALTERNATIVE NAME 3: C\n"
	known := ReadOptions{Items: []string{"Ann", "Bob"}}
	for _, c := range []struct {
		name, text string
		options    ReadOptions
		want       string
	}{
		{"x", "a > b\na > b > a", ReadOptions{}, `x:2: item "a" is in the ranking twice`},
		{"x", "a > b | c, c", ReadOptions{}, `x:1: item "c" is in the ranking twice`},
		{"x", "a > b\n\nb > a", ReadOptions{}, "x:2: the line is empty"},
		{"x", "# none\na\nb", ReadOptions{}, "x:2: all rankings have one item, which says nothing"},
		{"x", "a | a", ReadOptions{}, "x:1: all rankings have one item"},
		{"x.csv", "ranking,item,rank\nr,A,1\ns,B,1\n", ReadOptions{}, "x.csv:2: all rankings have one item"},
		{"x", "a > > b", ReadOptions{}, "x:1: an item has no name"},
		{"x", "a >", ReadOptions{}, "x:1: an item has no name"},
		{"x", "a, b", ReadOptions{}, `x:1: ',' after item "a"`},
		{"x", "a > b | c > d", ReadOptions{}, `x:1: '>' after item "c"`},
		{"x", "a > b | c | d", ReadOptions{}, `x:1: '|' after item "c"`},
		{"x", `"a > b`, ReadOptions{}, `x:1: "\"a > b" is not a quoted Go string`},
		{"x", `"a" b > c`, ReadOptions{}, `x:1: "b > c" after item "a"`},
		{"x", "0: a > b", ReadOptions{}, "x:1: the weight is 0"},
		{"x", "-1: a > b", ReadOptions{}, "x:1: the weight is -1"},
		{"x", "2: a > b\n1O: a > b", ReadOptions{}, `x:2: the weight "1O": want a number`},
		{"x", "3x:a", ReadOptions{}, `x:1: the weight "3x"`},
		{"x", "-.5.5 : a > b", ReadOptions{}, `x:1: the weight "-.5.5 "`},
		{"x", "1e999: a > b", ReadOptions{}, `x:1: the weight "1e999"`},
		{"x", "Inf: a > b", ReadOptions{}, "x:1: the weight is +Inf"},
		{"x", "NaN: a > b", ReadOptions{}, "x:1: the weight is NaN"},
		{"x", "1e300: a > b\n1e290: b > a", ReadOptions{}, "x:2: the weight is 1e+290: with it, the weights of all rankings sum to more than 1e+300"},
		{"x", "1e308: a > b", ReadOptions{}, "x:1: the weight is 1e+308"},
		{"x.soi", header + "1: 1,2\n1e301: 2,1", ReadOptions{}, "x.soi:5: the weight is 1e+301"},
		{"x.csv", "ranking,item,rank,weight\nr,A,1,1e301\nr,B,2,1e301\n", ReadOptions{}, "x.csv:2: the weight is 1e+301"},
		{"x", "Ann > Bobb", known, `x:1: item "Bobb" is unknown (did you mean "Bob"?)`},
		{"x", "Ann > Christopher", known, `x:1: item "Christopher" is unknown: there are 2 items, "Ann" and others`},
		{"x.csv", "ranking,item,rank,judge,rank\nr,a,1,j,2\n", ReadOptions{}, `x.csv:1: the header is ["ranking" "item" "rank" "judge" "rank"]: two columns are named rank`},
		{"x", "a > b", ReadOptions{Unlisted: "last"}, "x:1: ReadOptions.Unlisted"},
		{"x", "a > b", ReadOptions{Unlisted: "first"}, "invalid ReadOptions.Unlisted"},
		{"x", "a > b", ReadOptions{Items: []string{"a", "b", "a"}}, `ReadOptions.Items has "a" twice`},
		{"x", "", ReadOptions{}, "x has no rankings"},
		{"x.soc", header + "1: 1,2", ReadOptions{}, "x.soc:4: 2 of 3 alternatives in a file of complete orders: its name would end in .soi"},
		{"x.soi", header + "1: 1,{2,3}", ReadOptions{}, "x.soi:4: a tie in a file of strict orders: its name would end in .toi"},
		{"x.toi", header + "1: 1,{2,3", ReadOptions{}, "x.toi:4: a brace is not closed"},
		{"x.toi", header + "1: 1,2},3", ReadOptions{}, "x.toi:4: alternative \"2}\": braces do not match"},
		{"x.toi", header + "1: {1,{2,3}", ReadOptions{}, "x.toi:4: alternative \"{2\": braces do not match"},
		{"x.soi", header + "1: 1,4", ReadOptions{}, `x.soi:4: alternative "4": want a number from 1 to 3`},
		{"x.soi", header + "1: 1,1", ReadOptions{}, `x.soi:4: item "A" is in the ranking twice`},
		{"x.soi", header + "1: 1", ReadOptions{}, `x.soi:4: all rankings have one item, which says nothing: want two or more, counting those it was chosen from; or let unlisted items come last (ReadOptions.Unlisted "last"`},
		{"x.soi", "# NUMBER ALTERNATIVES: 4\n" + header + "1: 1,2", ReadOptions{}, "x.soi:4: the header says 4 alternatives, but has the names of 3: it looks cut"},
		{"x.soi", header + "# NUMBER ALTERNATIVES: 2\n1: 1,2", ReadOptions{}, "x.soi:4: the header says 2 alternatives, but has the names of 3"},
		{"x.soi", "# NUMBER VOTERS: many\n" + header + "1: 1,2", ReadOptions{}, `x.soi:1: NUMBER VOTERS: "many": want a number`},
		{"x.soi", header + "# NUMBER UNIQUE ORDERS: Inf\n1: 1,2", ReadOptions{}, `x.soi:4: NUMBER UNIQUE ORDERS: "Inf": want a number`},
		{"x.soi", header + "1,2,3", ReadOptions{}, "x.soi:4: \"1,2,3\": want a positive count"},
		{"x.soi", header + "\n", ReadOptions{}, "x.soi:4: the line is empty"},
		{"x.soi", header + "# ALTERNATIVE NAME 5: E\n1: 1,2", ReadOptions{}, `x.soi:4: alternative "5": want 4`},
		{"x.soi", header + "# ALTERNATIVE NAME 4: A\n1: 1,2", ReadOptions{}, "x.soi:4: alternatives 1 and 4 have the same name"},
		{"x.soi", "3\n1,A\n2,B\n3,C\n4,4,1\n4,1,2,3\n", ReadOptions{}, "x.soi:1: the header has no"},
		{"x.soi", header, ReadOptions{}, "x.soi has no rankings"},
		{"x.soi", header + "1: 1,2", known, `x.soi:1: item "A" is unknown`},
		{"x.csv", "ranking,item\nr,A\n", ReadOptions{}, `x.csv:1: the header is ["ranking" "item"]`},
		{"x.csv", "ranking,item,rank\nr,A,1\nr,B,first\n", ReadOptions{}, `x.csv:3: rank "first": want a number`},
		{"x.csv", "ranking,item,rank\nr,A,1\nr,A,2\n", ReadOptions{}, `x.csv:2: item "A" is in the ranking twice`},
		{"x.csv", "ranking,item,rank\nr,A,\nr,B,\n", ReadOptions{}, "x.csv:2: no item of the ranking has a rank"},
		{"x.csv", "ranking,item,rank\nr,A\n", ReadOptions{}, "x.csv: record on line 2: wrong number of fields"},
		{"x.csv", "ranking,item,rank,weight\nr,A,1,2\nr,B,2,3\n", ReadOptions{}, `x.csv:3: weight "3": ranking "r" has "2" on line 2`},
		{"x.csv", "ranking,item,rank,weight\nr,A,1,0\nr,B,2,0\n", ReadOptions{}, `x.csv:2: weight "0": want a positive number`},
		{"x.csv", "", ReadOptions{}, "x.csv has no header"},
	} {
		_, err := Read(strings.NewReader(c.text), c.name, c.options)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %q: got %v, want %s…", c.name, c.text, err, c.want)
		}
	}
}

// What a PrefLib file has is compared with what its header says.
func TestFileThatIsShorterThanItsHeaderIsAWarning(t *testing.T) {
	const names = "# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n# ALTERNATIVE NAME 3: C\n"
	const header = "# FILE NAME: x\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 9\n# NUMBER UNIQUE ORDERS: 3\n" + names
	const voters, orders = "the header says 9 voters, but the file has %s: ", "the header says 3 unique orders, but the file has %s: the file looks cut"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"x.soi", header + "5: 1,2,3\n3: 2,1\n1: 3,1\n", nil},
		{"x.soc", header + "5: 1,2,3\n3: 2,1,3\n1: 3,1,2\n", nil},
		{"x.toi", header + "5: {1,2},3\n3: 2,1\n.5: 3,1\n.5: 3,1", nil}, // an order on two lines
		{"x.soi", header + "5: 1,2,3\n3: 2,1\n", []string{fmt.Sprintf(voters, "8") + "the file looks cut", fmt.Sprintf(orders, "2")}},
		{"x.toc", header + "9: 1,{2,3}\n", []string{fmt.Sprintf(orders, "1")}},
		{"x.soi", header + "5: 1,2,3\n3: 2,1\n11: 3,1\n", []string{fmt.Sprintf(voters, "19") + "the header belongs to another file"}},
		{"x.soi", names + "5: 1,2,3\n", nil},
	} {
		r, err := Read(strings.NewReader(c.text), c.name, ReadOptions{})
		if err != nil {
			t.Errorf("%s: %q: %v", c.name, c.text, err)
			continue
		}
		if len(r.Warnings) != len(c.want) {
			t.Errorf("%s: %q: %q, want %q", c.name, c.text, r.Warnings, c.want)
			continue
		}
		for i, want := range c.want {
			if r.Warnings[i] != c.name+": "+want {
				t.Errorf("%s: %q: %q, want %q", c.name, c.text, r.Warnings[i], want)
			}
		}
	}
}

// Rankings of one item are left out and counted in every format. Where no header and no option has the items, those that
// are in no other ranking are not there.
func TestRankingsOfOneItemAreLeftOut(t *testing.T) {
	const header = "# NUMBER VOTERS: 7\n# NUMBER UNIQUE ORDERS: 3\n# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n# ALTERNATIVE NAME 3: C\n"
	for _, c := range []struct {
		name, text  string
		options     ReadOptions
		want, items string
		count       string // of rankings, and how often they were observed
		line        int
	}{
		{"x.soi", header + "4: 3\n1: 2,1\n2: 2", ReadOptions{}, "1:B>A|", "A B C", "2 rankings of one item, observed 6 times,", 6},
		{"x.toi", header + "4: {3}\n1: {2,1}\n2: 2,1", ReadOptions{}, "1:B=A| 2:B>A|", "A B C", "1 rankings of one item, observed 4 times,", 6},
		{"x", "Z\nC > A\n1234567: B\nC = B > Y\nA = Z > Y\nX", ReadOptions{}, "1:C>A| 1:C=B>Y| 1:A=Z>Y|", "Z C A B Y", "3 rankings of one item, observed 1234569 times,", 1},
		{"x", "Q\nC > A | C, A, P", ReadOptions{}, "1:C>A|P", "C A P", "1 rankings of one item, observed 1 times,", 1},
		{"x", "A\nC > B", ReadOptions{Items: []string{"A", "B", "C"}}, "1:C>B|", "A B C", "1 rankings of one item, observed 1 times,", 1},
		{"x.csv", "ranking,item,rank,weight\nr,Q,1,2\ns,B,2,3\ns,A,1,3\n", ReadOptions{}, "3:A>B|", "B A", "1 rankings of one item, observed 2 times,", 2},
	} {
		r, err := Read(strings.NewReader(c.text), c.name, c.options)
		if err != nil {
			t.Errorf("%s: %q: %v", c.name, c.text, err)
			continue
		}
		want := fmt.Sprintf("%s: %s are left out, since they say nothing: the first is in line %d", c.name, c.count, c.line)
		if got := show(r); got != c.want || strings.Join(r.Items, " ") != c.items || len(r.Warnings) != 1 || r.Warnings[0] != want {
			t.Errorf("%s: %q: got %s of %q, %q; want %s of %s, %s", c.name, c.text, got, r.Items, r.Warnings, c.want, c.items, want)
		}
		last := len(r.Items) - 1
		if err := r.Add(Ranking{Places: [][]int{{last}, {0}}}); err != nil || r.Item(r.Items[last]) != last {
			t.Errorf("%s: %q: the rankings are broken: %v", c.name, c.text, err)
		}
	}
	if r, err := Read(strings.NewReader(header+"4: 3\n1: 2,1\n2: 2"), "x.soi", ReadOptions{Unlisted: "last"}); err != nil || r.Warnings != nil || r.Len() != 3 {
		t.Errorf("with Unlisted last: %+v, %v", r, err)
	}
}

// A few bytes a ranking must not take the memory of all items.
func TestUnlistedItemsAreBounded(t *testing.T) {
	const n = 1 << 12
	in := &reader{options: ReadOptions{Unlisted: "last"}, rankings: &Observations{Items: numbered(n), spans: make([]span, mostEntries/n-1)}}
	if err := in.add(Ranking{Places: [][]int{{0}}}, []int{0, 1, n - 1: n - 1}); err != nil {
		t.Errorf("the last ranking that has room: %v", err)
	}
	const want = "16385 rankings of 4096 items have more than 67108864 entries"
	if err := in.add(Ranking{Places: [][]int{{0}}}, []int{0, 1, n - 1: n - 1}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReadFileDecompresses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "races.txt")
	const soi = "# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n1: 1,2\n"
	for name, text := range map[string]string{"": "a > b\n", ".gz": "a > b\n", ".SOI.GZ": soi, ".soi.zst": soi} {
		var b bytes.Buffer
		var w io.WriteCloser
		switch {
		case strings.HasSuffix(name, ".zst"):
			w, _ = zstd.NewWriter(&b)
		case name != "":
			w = gzip.NewWriter(&b)
		}
		if w == nil {
			b.WriteString(text)
		} else {
			io.WriteString(w, text)
			w.Close()
		}
		if err := os.WriteFile(path+name, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if r, err := ReadFile(path+name, ReadOptions{}); err != nil || show(r) != "1:a>b|" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := ReadFile(path+".none", ReadOptions{}); !os.IsNotExist(err) {
		t.Errorf("got %v for a file that does not exist", err)
	}
}

func TestAddChangesNothingAfterAnError(t *testing.T) {
	r := &Observations{Items: numbered(3)}
	mustAdd(t, r, Ranking{Places: [][]int{{0}, {1, 2}}})
	for _, bad := range []Ranking{
		{},
		{Places: [][]int{{0}, {}}},
		{Places: [][]int{{0}, {3}}},
		{Places: [][]int{{0}, {-1}}},
		{Places: [][]int{{0, 0}}},
		{Places: [][]int{{0}}, Rest: []int{0}},
		{Places: [][]int{{2}}},
		{Places: [][]int{{0}, {1}}, Weight: -1},
	} {
		if err := r.Add(bad); err == nil {
			t.Errorf("%+v is not an error", bad)
		}
	}
	mustAdd(t, r, Ranking{Places: [][]int{{2}}, Rest: []int{0, 1}, Weight: 2})
	if got := show(r); got != "1:1>2=3| 2:3|1=2" {
		t.Errorf("got %s", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("3: a > b = c | d, e\n", "x")
	f.Add(netflix, "x.toi")
	f.Add("ranking,item,rank,weight\nr,a,1,2\nr,b,2,2\n", "x.csv")
	f.Fuzz(func(t *testing.T, text, name string) {
		r, err := Read(strings.NewReader(text), name, ReadOptions{})
		if err != nil {
			return
		}
		for i := range r.Len() {
			ranking := r.At(i)
			if items := slices.Concat(append(ranking.Places, ranking.Rest)...); len(items) < 2 || !(ranking.Weight > 0) {
				t.Errorf("ranking %+v", ranking)
			}
		}
	})
}

// JSON has nothing but UTF-8: there, all names in another encoding would be one.
func TestNamesOfItemsAreUTF8(t *testing.T) {
	for name, text := range map[string]string{
		"x":     "a > b\nM\xfcller > a\n",
		"q":     "a > b\n\"M\\xfcller\" > a\n",
		"x.csv": "ranking,item,rank\nr,M\xfcller,1\n",
		"x.soi": "# FILE NAME: x\n# ALTERNATIVE NAME 1: M\xfcller\n1: 1\n",
		"x.txt": "a > b\na > M\xc3\n",
	} {
		if _, err := Read(strings.NewReader(text), name, ReadOptions{}); err == nil || !strings.HasPrefix(err.Error(), name+`:2: item "`) || !strings.HasSuffix(err.Error(), "want text in UTF-8, which iconv makes from Latin-1") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if r, err := Read(strings.NewReader("Müller > \ufffd\n"), "x", ReadOptions{}); err != nil || show(r) != "1:Müller>\ufffd|" {
		t.Errorf("got %v", err)
	}
}
