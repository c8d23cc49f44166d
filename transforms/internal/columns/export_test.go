package columns

// Wide reports whether vector instructions are used.
var Wide = &wide
