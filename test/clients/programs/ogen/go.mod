module example.org/foyer-client

go 1.25.0
