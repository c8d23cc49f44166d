// Package cli is what sub-commands share: flags of data, logs and settings, help pages and topics, tables of metrics,
// values by query, and results that appear complete or not at all.
package cli
