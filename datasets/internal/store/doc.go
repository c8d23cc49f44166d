// Package store keeps what was read in binary files, which are mapped into memory, and has digests that tell whether
// data are the same.
package store
