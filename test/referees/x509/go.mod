module fairlead.dev/referees/x509

go 1.26.0
