package clicks

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// Write writes a bias for [ReadBias], as CSV if the name of the file ends in .csv, and otherwise as JSON.
func (b Bias) Write(w io.Writer, name string) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("clicks: %w", err)
	}
	if filepath.Ext(name) != ".csv" {
		return json.NewEncoder(w).Encode(b)
	}
	rows := [][]string{{"rank", "alpha", "beta"}}
	for k, a := range b.Alpha {
		rows = append(rows, []string{strconv.Itoa(k + 1), strconv.FormatFloat(a, 'g', -1, 64), strconv.FormatFloat(b.beta(k), 'g', -1, 64)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// ReadBias reads a bias: JSON such as {"alpha": [1, 0.6], "beta": [0, 0]}, where beta may be
// absent, or CSV with the header rank,alpha,beta or rank,alpha and a row for each rank, from 1.
func ReadBias(path string) (b Bias, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return b, fmt.Errorf("clicks: %w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err = decoder.Decode(&b); err == nil {
			if _, more := decoder.Token(); more != io.EOF {
				err = errors.New("there is more after the first JSON object: want one")
			}
		}
	} else {
		b, err = biasOfCSV(text)
	}
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return Bias{}, fmt.Errorf("clicks: bias file %s: %w", path, err)
	}
	return b, nil
}

func biasOfCSV(text []byte) (b Bias, err error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return b, err
	}
	if len(rows) == 0 || len(rows[0]) < 2 || len(rows[0]) > 3 || rows[0][0] != "rank" || rows[0][1] != "alpha" ||
		len(rows[0]) == 3 && rows[0][2] != "beta" {
		return b, errors.New(`want JSON with "alpha", or CSV with the header rank,alpha,beta`)
	}
	for i, row := range rows[1:] {
		if row[0] != strconv.Itoa(i+1) {
			return b, fmt.Errorf("row %d: rank %q, want %d", i+2, row[0], i+1)
		}
		for j, to := range []*[]float64{&b.Alpha, &b.Beta}[:len(row)-1] {
			v, err := strconv.ParseFloat(row[j+1], 64)
			if err != nil {
				return b, fmt.Errorf("row %d: %s %q: want a number", i+2, rows[0][j+1], row[j+1])
			}
			*to = append(*to, v)
		}
	}
	return b, nil
}
