// Package cli holds what sub-commands share: help pages and topics, flags for data, click logs, settings and numbers,
// tables of metrics and of values by query, and results that appear complete or not at all.
package cli
