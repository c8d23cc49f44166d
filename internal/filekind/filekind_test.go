package filekind

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"
)

// The first bytes are of files that the programs themselves wrote.
var written = map[string]string{
	"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n": "a pointer of Git LFS",
	"\n<!DOCTYPE html>\n<html lang=\"en\">":                                  "HTML",
	"<!-- saved --><HTML>":                                                   "HTML",
	"<table border=\"1\" class=\"dataframe\">":                               "HTML",
	"<?xml version=\"1.0\"?>\n<PMML xmlns=\"http://www.dmg.org/PMML-4_4\">":  "PMML",
	"<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<data>":                     "XML",
	"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.":             "a file of PyTorch",
	"\x80\x04\x95\xcf\x1e\x00\x00\x00\x00\x00\x00\x8c\x0cxgboost":            "a pickle of Python",
	"ccopy_reg\n_reconstructor\np0\n(cxgboost.sklearn":                       "a pickle of Python",
	"______LightGBM_Binary_File_Token______\n\x00":                           "a binary data set of LightGBM",
	"\x01\xab\xff\xff\x02\x00\x00\x00":                                       "a binary DMatrix of XGBoost",
	"X\n\x00\x00\x00\x03\x00\x04\x03\x00":                                    "a file of R",
	"RDX3\nX\n":                                                              "a file of R",
	"\x80\x02csklearn.ensemble":                                              "a pickle of Python",
	"binf\xaa\xf2\x94\xbd\x04\x00\x00\x00\x00\x00\x00\x00":                   "an old binary model of XGBoost",
	"\x00\x00\x00?\x04\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("\x00", 124) +
		"\x0d\x00\x00\x00\x00\x00\x00\x00rank:pairwise\x06\x00\x00\x00\x00\x00\x00\x00gbtree": "an old binary model of XGBoost",
	"booster[0]:\n0:[a<0.0397221074] yes=1,no=2,missing=2\n": "a dump of XGBoost in text",
	"CBM1\x60\x05\x00\x00":                                                 "a binary model of CatBoost",
	"\x08\x01\x12\xd2\x0a\x0a\xb5\x02":                                     "a SavedModel of TensorFlow",
	"\x08\x08\x12\x07pytorch\x1a":                                          "ONNX",
	"\x08\x0a:\x80\x01\n":                                                  "ONNX",
	"\x58\x00\x00\x00\x00\x00\x00\x00{\"w\":{\"dtype\":\"F32\"":            "safetensors",
	"\x89HDF\r\n\x1a\n\x00":                                                "HDF5",
	"\x93NUMPY\x01\x00v\x00{'descr': '<f8'":                                "a NumPy array",
	"PAR1\x15\x04\x150\x15":                                                "Parquet",
	"ARROW1\x00\x00\xff\xff\xff\xff\x98\x03\x00\x00":                       "Arrow IPC, or Feather",
	"FEA1\x00\x00\x00\x00":                                                 "Arrow IPC, or Feather",
	"\xff\xff\xff\xff\x98\x03\x00\x00\x10\x00":                             "a stream of Arrow IPC",
	"ORC\n\x06\x12\x04\x08\x03P\x00":                                       "ORC",
	"ORC\x1e\x00\x00\x0a":                                                  "ORC",
	"Obj\x01\x04\x14avro.codec":                                            "Avro",
	"SQLite format 3\x00\x10\x00\x01\x01":                                  "an SQLite database",
	"\xa1\x90\x8f\xcb\x87\x10\xb3\x0cDUCK\x40\x00\x00\x00\x00\x00\x00\x00": "a DuckDB database",
	"PK\x03\x04\x14\x00\x00\x00\x08\x00$;|]F\xc7MH\x95\x00\x00\x00\xcd\x00\x00\x00\x10\x00\x00\x00docProps/app.xmlM\xcf":           "an Excel workbook",
	"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00A7\x82\xcf\x00\x00\x00\x00\x00\x00\x00\x00\x13\x00\x00\x00[Content_Types].xml": "an Excel workbook",
	"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00": "an old Excel workbook",
	"PK\x03\x04\x00\x00\x08\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x12\x00archive/data.pklFB": "a file of PyTorch",
	"PK\x03\x04-\x00\x00\x00\x00\x00\x00\x00!\x00\xafF\x94g\xff\xff\xff\xff\xff\xff\xff\xff\x05\x00\x14\x00x.npy\x01\x00":                  NPZ,
	"PK\x03\x04 an archive of other files":                  "a zip archive",
	"PK\x05\x06\x00\x00":                                    "a zip archive",
	"%PDF-1.7\n":                                            "PDF",
	"\x28\xb5\x2f\xfd\x04":                                  "compressed by zstd",
	"BZh91AY&SY\xde\xb1=\xad":                               "compressed by bzip2",
	"\xfd7zXZ\x00\x00\x04":                                  "compressed by xz",
	"\x04\x22\x4d\x18\x60":                                  "compressed by lz4",
	"7z\xbc\xaf\x27\x1c\x00":                                "a 7z archive",
	"Rar!\x1a\x07\x01\x00":                                  "a RAR archive",
	"train.txt" + strings.Repeat("\x00", 248) + "ustar\x00": "a tar archive",
	"\ufeff<!doctype html>":                                 "HTML",
	"\xff\xfe2\x00 \x00":                                    "text in UTF-16",
	"\xfe\xff\x002\x00 ":                                    "text in UTF-16",
	// An empty example of TensorFlow: the length 0, and its checksum.
	"\x00\x00\x00\x00\x00\x00\x00\x00\x29\x03\x98\x07\xd8\xea\x82\xa2": "TFRecord",
}

func TestFilesAreNamedByTheirFirstBytes(t *testing.T) {
	for first, want := range written {
		if kind, known := Of([]byte(first)); kind.Name != want || !known {
			t.Errorf("%q is %q, want %q", first, kind.Name, want)
		}
		var gz, z bytes.Buffer
		for _, w := range []io.WriteCloser{gzip.NewWriter(&gz), zlib.NewWriter(&z)} {
			io.WriteString(w, first)
			w.Close()
		}
		for how, packed := range map[string][]byte{"gzip": gz.Bytes(), "zlib": z.Bytes()} {
			if kind, _ := Of(packed); kind.Name != want+" within "+how {
				t.Errorf("%q within %s is %q, want %q", first, how, kind.Name, want)
			}
		}
	}
	if kind, known := Of([]byte("\x7fELF\x02\x01\x01\x00")); kind.Name != "binary data" || !known {
		t.Error(kind)
	}
	if kind, known := Of([]byte("\x1f\x8b\x08\x00\x00")); kind.Name != "compressed by gzip" || !known {
		t.Error(kind)
	}
}

// Text that is read begins with none of these, whatever its first column is called.
func TestTextThatIsReadHasNoOtherName(t *testing.T) {
	for _, text := range []string{
		"", "2 qid:1 1:0.5 2:0.1 # a|b {c}\n", "0 1:0.5 # |x\n", "label,qid,f\n", "ORC,label\n1,2\n", "ORC\tlabel\n", "ORCID;qid\n",
		"x^2,label\n", "x\x019,label",
		"PK,label\n", "PAR,label", "binfo,label\n", "boosters,label", "bs64,label", "click DUCK,label\n", "version,label\n",
		"%clicks,label\n", "label,qid,f\r\n", "2 qid:1 1:0.5\r\n", "label,qid,f\r\r\n", "Objective,label\n",
		"tree,label\n", "treelabel", "X\n1\n", "RDX\n", "copy_reg\n", "a|b,label\n", "label\tx|y\n", "{price},label\n", "[price],label\n", "html,label\n", "7z,label", "#{\"a\"}", "1 |a b:0.5",
	} {
		if kind, known := Of([]byte(text)); known {
			t.Errorf("%q is %q", text, kind.Name)
		}
		line, _, _ := strings.Cut(text, "\n")
		if kind, known := OfLine([]byte(line)); known {
			t.Errorf("the line %q is %q", line, kind.Name)
		}
	}
	for line, want := range map[string]string{
		`{"label":1,"qid":"a"}`: "JSON", "{": "JSON", "{}": "JSON", `[{"label":1}`: "JSON", "[": "JSON", "[[1,2]]": "JSON",
		"tree": "a model of LightGBM", "<ensemble>": "XML", "% iris": "ARFF", "@RELATION iris": "ARFF",
		"%%MatrixMarket matrix coordinate real general": "a matrix in Matrix Market format", "label,qid,x\r1,1,2\r": "text whose lines end in CR alone",
		"label|qid|f": "separated by |", "1|a|0.5": "separated by |",
	} {
		if kind, _ := OfLine([]byte(line)); kind.Name != want || kind.Data == "" {
			t.Errorf("the line %q is %q, want %q, and what to do", line, kind.Name, want)
		}
	}
}
