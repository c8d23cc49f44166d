package columns

// Wide tells whether vector instructions are used.
var Wide = &wide
