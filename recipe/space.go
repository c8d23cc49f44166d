package recipe

// Networks is a space of networks to draw from: a flag a line, with its values or a range. Every draw can learn: small views of the
// features suit scores, and bins, width and time suit attributes of queries and documents.
var Networks = []string{
	"transform=minmax+log-standard+quantile+rank,minmax+log-standard+quantile+missing,quantile,quantile+missing",
	"bins=0,8,16,32",
	"hidden=64;128,32;256,32;256,128",
	"activation=relu,gelu,swiglu",
	"dropout=0,.1,.2,.3,.5",
	"members=1,3",
	"loss=plrank-exact+0.01*softmax,plrank-exact+0.1*softmax,softmax",
	"lr=3e-4..6e-3",
	"schedule=constant,cosine",
	"group-lasso=3e-4..3e-2",
	"average=0,.99",
	"batch=4..64",
	"epochs=8..80",
}

// Forests is a space of forests.
var Forests = []string{
	"scorer=forest",
	"loss=softmax,query-rmse,lambdarank",
	"lr=0.02..0.3",
	"depth=4..8",
	"leaves=8..64",
	"min-weight=1..30",
	"l2=0.3..10",
	"sampling=0.5..1",
	"feature-sampling=0.3..1",
	"bins=16,32,64",
}
