// Package docs holds the guide, which "plrank help" prints.
package docs

import _ "embed"

// Guide is the text of guide.md.
//
//go:embed guide.md
var Guide string
