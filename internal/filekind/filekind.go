// Package filekind names files by their first bytes, so that one that is not read is called what it is.
package filekind

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"regexp"
	"unicode/utf8"
)

// Enough is how many first bytes tell all kinds.
const Enough = 1024

// A Kind is what a file is, and what to do to have a model or data that are read; "": there is no short way.
type Kind struct{ Name, Model, Data string }

// What to do about several kinds.
const (
	itself  = "want the file itself"
	lfs     = itself + ", by git lfs pull"
	page    = itself + ", in whose place a server sent this, maybe to log in"
	library = "want what the save_model of LightGBM, XGBoost or CatBoost writes"
	expand  = "want it decompressed"
)

// pandas returns how to make CSV with pandas.
func pandas(read string) string { return csvBy("pandas." + read) }

func csvBy(frame string) string {
	return "want CSV, in Python by " + frame + `.to_csv("data.csv", index=False)`
}

// kinds are known by an expression for the first bytes, where each byte is a character. The first that matches counts.
var kinds = []struct {
	is *regexp.Regexp
	Kind
}{
	{begin(`version https://git-lfs\.github\.com/`), Kind{"a pointer of Git LFS", lfs, lfs}},
	{begin(`(?i)\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body|table)\b`), Kind{"HTML", page, page}},
	{begin(`\s*(<\?xml.*?>\s*)?(<!--.*?-->\s*)*<(\w+:)?PMML\b`), Kind{"PMML", library, ""}},
	{begin(`\s*<\?xml\s`), Kind{"XML", "", pandas("read_xml(FILE)")}},
	{begin(`\x80\x02\x8a\nl\xfc\x9cF\xf9`), Kind{"a file of PyTorch", library, ""}},
	{begin(`(\x80[\x02-\x05]|c(copy_reg|__builtin__|numpy[.\w]*|sklearn[.\w]*)\n)`),
		Kind{"a pickle of Python", library, pandas("read_pickle(FILE)")}},
	{begin(`(binf.{6}\x00\x00|bs64[\t ]|.{6}\x00\x00.{0,400}\x00{7}(gbtree|gblinear|dart))`), Kind{"an old binary model of XGBoost",
		`with XGBoost 3.0 or older, in Python: xgboost.Booster(model_file=FILE).save_model("model.json")`, ""}},
	{begin(`booster\[`), Kind{"a dump of XGBoost in text",
		`want JSON, by save_model("model.json"), or by dump_model("model.json", dump_format="json")`, ""}},
	{begin(`CBM1`), Kind{"a binary model of CatBoost", `want JSON, by save_model(FILE, format="json", pool=POOL)`, ""}},
	{begin(`_{6}LightGBM_Binary_File_Token_{6}`), Kind{"a binary data set of LightGBM", "", "want the file that it was made of"}},
	{begin(`\x01\xab\xff\xff`), Kind{"a binary DMatrix of XGBoost", "", "want the file that it was made of"}},
	{begin(`(RD[AX][23]\n|X\n\x00\x00\x00[\x02\x03])`), Kind{"a file of R", library,
		"want CSV, in R by write.csv(readRDS(FILE), \"data.csv\", row.names = FALSE)"}},
	{begin(`\x08\x01\x12`), Kind{"a SavedModel of TensorFlow", library, ""}},
	{begin(`\x08[\x03-\x20][\x12\x1a\x22\x28\x32\x3a\x42\x72]`), Kind{"ONNX",
		"want the model that it was made of: plrank writes ONNX, and does not read it", ""}},
	{begin(`(.{2}\x00{6}|.{3}\x00{5}|.{4}\x00{4})\{\s*"`), Kind{"safetensors", library, ""}},
	{begin(`\x89HDF\r\n`), Kind{"HDF5", library, pandas("read_hdf(FILE)")}},
	{begin(`\x93NUMPY`), Kind{"a NumPy array", "",
		`want CSV, in Python by numpy.savetxt("data.csv", numpy.load(FILE), delimiter=","), and -headerless`}},
	{begin(`PAR1`), Kind{"Parquet", "",
		"where data are in Parquet, want the file itself, neither compressed as a whole nor from a pipe (its pages may be compressed)"}},
	{begin(`(ARROW1|FEA1)`), Kind{"Arrow IPC, or Feather", "", pandas("read_feather(FILE)")}},
	{begin(`\xff{4}.{2}\x00\x00`), Kind{"a stream of Arrow IPC", "", csvBy("pyarrow.ipc.open_stream(FILE).read_pandas()")}},
	{begin(`ORC.{0,3}[\x00-\x08\x0e-\x1f]`), Kind{"ORC", "", pandas("read_orc(FILE)")}},
	{begin(`Obj\x01`), Kind{"Avro", "", ""}},
	{begin(`SQLite format 3\x00`), Kind{"an SQLite database", "", `want CSV, by sqlite3 -csv -header FILE "select * from TABLE" > data.csv`}},
	{begin(`.{8}DUCK.\x00{7}`), Kind{"a DuckDB database", "", `want Parquet, by duckdb FILE "copy TABLE to 'data.parquet'"`}},
	{begin(`PK\x03\x04.{26}(\[Content_Types\]|_rels/|xl/|docProps/)`), Kind{"an Excel workbook", "", pandas("read_excel(FILE)")}},
	{begin(`\xd0\xcf\x11\xe0`), Kind{"an old Excel workbook", "", pandas("read_excel(FILE)")}},
	{begin(`PK\x03\x04.{26}[^/\x00]+/(data\.pkl|version|byteorder|constants\.pkl|\.format_version)`),
		Kind{"a file of PyTorch", library, ""}},
	{begin(`PK\x03\x04.{26}[^\x00]{1,200}\.npy`), Kind{NPZ, "", ""}},
	{begin(`PK(\x03\x04|\x05\x06)`), Kind{"a zip archive", "", ""}},
	{begin(`%PDF-`), Kind{"PDF", "", ""}},
	{begin(`\x1f\x8b`), Kind{"compressed by gzip", expand, ""}},
	{begin(`\x28\xb5\x2f\xfd`), Kind{"compressed by zstd", expand, ""}},
	{begin(`.{4}1AY&SY`), Kind{"compressed by bzip2", expand, ""}},
	{begin(`\xfd7zXZ\x00`), Kind{"compressed by xz", expand, ""}},
	{begin(`\x04\x22\x4d\x18`), Kind{"compressed by lz4", expand, ""}},
	{begin(`7z\xbc\xaf\x27\x1c`), Kind{"a 7z archive", "", ""}},
	{begin(`Rar!\x1a\x07`), Kind{"a RAR archive", "", ""}},
	{begin(`.{257}ustar`), Kind{"a tar archive", "", ""}},
	{begin(`(\xff\xfe|\xfe\xff)`), Kind{"text in UTF-16", "want UTF-8", ""}},
}

// NPZ is the name of a NumPy archive, which a model file of plrank is.
const NPZ = "an .npz file, as of NumPy and of models"

func begin(with string) *regexp.Regexp { return regexp.MustCompile(`^(?s:` + with + `)`) }

// packed are the beginnings of files before what DEFLATE makes of others.
var packed = map[string]*regexp.Regexp{
	"gzip": begin(`\x1f\x8b\x08(\x00.{6}|\x08.{6}[^\x00]*\x00)`),
	"zlib": begin(`\x78[\x01\x5e\x9c\xda]`),
}

// Of returns the kind of a file that begins with these bytes, [Enough] or all of them, and whether it is known. If gzip or zlib
// has one of these kinds within, that is the kind.
func Of(first []byte) (kind Kind, known bool) {
	first = first[:min(len(first), Enough)]
	text := characters(first)
	for how, is := range packed {
		if head := is.FindString(text); head != "" {
			inner := make([]byte, Enough)
			n, _ := io.ReadFull(flate.NewReader(bytes.NewReader(first[utf8.RuneCountInString(head):])), inner) // as far as they go
			if kind, known := match(inner[:n]); known {
				kind.Name += " within " + how
				return kind, true
			}
		}
	}
	if kind, known = match(first); !known && bytes.IndexByte(first, 0) >= 0 {
		return Kind{Name: "binary data"}, true
	}
	return kind, known
}

// characters returns bytes as characters.
func characters(b []byte) string {
	text := make([]rune, len(b))
	for i, c := range b {
		text[i] = rune(c)
	}
	return string(text)
}

func match(first []byte) (kind Kind, known bool) {
	text := characters(bytes.TrimPrefix(first, []byte("\ufeff")))
	for _, k := range kinds {
		if k.is.MatchString(text) {
			return k.Kind, true
		}
	}
	return Kind{Name: "TFRecord"}, isTFRecord(first)
}

// isTFRecord reports whether a length of 8 bytes and its checksum, as TFRecord masks it, come first.
func isTFRecord(first []byte) bool {
	if len(first) < 12 {
		return false
	}
	sum := crc32.Checksum(first[:8], crc32.MakeTable(crc32.Castagnoli))
	return binary.LittleEndian.Uint32(first[8:]) == (sum>>15|sum<<17)+0xa282ead8
}

// lines are the kinds of data in text that a first line tells.
var lines = []struct {
	is *regexp.Regexp
	Kind
}{
	{begin(`\s*\{\s*(["}]|$)`), Kind{"JSON", "", pandas("read_json(FILE, lines=True)")}},
	{begin(`\s*\[\s*([\[{]|$)`), Kind{"JSON", "", pandas("read_json(FILE)")}},
	{begin(`%%MatrixMarket\b`), Kind{"a matrix in Matrix Market format", "",
		`want LETOR text, in Python by sklearn.datasets.dump_svmlight_file(scipy.io.mmread(FILE).tocsr(), LABELS, "data.txt", query_id=QIDS)`}},
	{begin(`[^\r]*[^\r\n]\r[^\r\n]`), Kind{"text whose lines end in CR alone", "", `want LF, by tr '\r' '\n' < FILE > data.csv`}},
	{begin(`(?i)\s*(@relation\b|%[^,;\t|]*$)`), Kind{"ARFF", "",
		"want CSV, or in Go base.ParseDenseARFFToInstances of golearn, and datasets/golearn"}},
	{begin(`tree$`), Kind{"a model of LightGBM", "", "want data"}},
	{begin(`\s*<[a-z]`), Kind{"XML", "", pandas("read_xml(FILE)")}},
	{begin(`[^,;\t#:]*\|[^,;\t#:]*$`), Kind{"separated by |", "", pandas(`read_csv(FILE, sep="|")`)}},
}

// OfLine returns the kind of data whose first line of text this is, and whether it is known: such data are not read.
func OfLine(line []byte) (kind Kind, known bool) {
	for _, k := range lines {
		if k.is.Match(line) {
			return k.Kind, true
		}
	}
	return Kind{}, false
}
