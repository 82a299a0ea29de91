module fairlead.dev/referees/go-values

go 1.26.0
