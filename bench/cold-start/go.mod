module fairlead.dev/bench/cold-start

go 1.24
