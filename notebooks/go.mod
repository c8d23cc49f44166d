module github.com/plrank/plrank/notebooks

go 1.26

require github.com/cosmos72/gomacro v0.0.0-20220530072503-c719ab5c40fc

require (
	github.com/go-zeromq/goczmq/v4 v4.2.2 // indirect
	github.com/go-zeromq/zmq4 v0.14.1 // indirect
	github.com/gofrs/uuid v4.2.0+incompatible // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/gopherdata/gophernotes v0.7.5 // indirect
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/peterh/liner v1.2.1 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	golang.org/x/mod v0.26.0 // indirect
	golang.org/x/sync v0.16.0 // indirect
	golang.org/x/tools v0.35.0 // indirect
)

replace github.com/plrank/plrank => ../

tool github.com/gopherdata/gophernotes
