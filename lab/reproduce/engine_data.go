package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/memory"
)

// A collection is what a session measures on.
type collection struct {
	splits *datasets.Splits
	ID     identity
}

// An identity tells collections apart. It is stored with all results.
type identity struct {
	Name     string  `json:"name"`
	Train    size    `json:"train"`
	Vali     size    `json:"vali"`
	Test     size    `json:"test"`
	Features int     `json:"features"`
	Scale    float64 `json:"scale"` // the fraction that it is of the whole collection; 1 for files
	Hash     string  `json:"hash"`  // of all lists, labels and features
}

type size struct {
	Queries   int `json:"queries"`
	Documents int `json:"documents"`
}

func (id identity) String() string {
	if id.Hash == "" {
		return id.Name // nothing that was read
	}
	return fmt.Sprintf("%s (%d, %d and %d queries, %d training documents, %d features, hash %s)",
		id.Name, id.Train.Queries, id.Vali.Queries, id.Test.Queries, id.Train.Documents, id.Features, id.Hash)
}

// openCollection reads or makes the data that the options name.
func openCollection(ctx context.Context, o *options, stderr io.Writer) (*collection, error) {
	splits, err := o.Open(ctx, o.Seed, stderr)
	if err != nil {
		return nil, err
	}
	c := collection{splits: splits, ID: identity{Name: nameOf(o), Scale: o.Fraction()}}
	if c.splits.Test == nil {
		return nil, fmt.Errorf("reproduce: %s has no test split: name a file with -test", o.Data)
	}
	c.identify()
	return &c, nil
}

// nameOf names a collection: a file or a folder by its last part, a fold also by its
// collection, and a synthetic one by its shape and scale.
func nameOf(o *options) string {
	if o.Synthetic() {
		_, shape, _ := strings.Cut(o.Data, ":")
		return fmt.Sprintf("%s-%s", shape, strconv.FormatFloat(o.Fraction(), 'g', -1, 64))
	}
	path := o.Data
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	name := filepath.Base(path)
	if strings.HasPrefix(strings.ToLower(name), "fold") {
		name = filepath.Base(filepath.Dir(path)) + "-" + name
	}
	if o.Fold > 0 {
		name = fmt.Sprintf("%s-Fold%d", name, o.Fold)
	}
	return name
}

func (c *collection) identify() {
	h := sha256.New()
	s := c.splits
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		fmt.Fprintln(h, checksum(d.Features), checksum(d.Labels), d.Fingerprint().Queries[:16]) // and nothing else: fingerprints get new fields
	}
	c.ID.Train, c.ID.Vali, c.ID.Test = sizeOf(s.Train), sizeOf(s.Vali), sizeOf(s.Test)
	c.ID.Features = s.Train.Width()
	c.ID.Hash = hex.EncodeToString(h.Sum(nil)[:8])
}

// checksum returns digits of a list, by which stored results know their data: a hash of CRC-32s of blocks.
func checksum(values []float32) string {
	sums := binary.AppendVarint(nil, int64(len(values)))
	for block := range slices.Chunk(memory.Bytes(values), 1<<20) {
		sums = binary.LittleEndian.AppendUint32(sums, crc32.ChecksumIEEE(block))
		sums = binary.LittleEndian.AppendUint32(sums, crc32.Checksum(block, crc32.MakeTable(crc32.Castagnoli)))
	}
	sum := sha256.Sum256(sums)
	return hex.EncodeToString(sum[:8])
}

func sizeOf(d *datasets.Dataset) size { return size{d.Queries(), d.Rows()} }

// relevantQueries are those with a document of label above 0: those that training
// uses.
func relevantQueries(d *datasets.Dataset) []int {
	var list []int
	for q := range d.Queries() {
		if slices.ContainsFunc(d.Labels[d.Offsets[q]:d.Offsets[q+1]], func(label float32) bool { return label > 0 }) {
			list = append(list, q)
		}
	}
	return list
}
